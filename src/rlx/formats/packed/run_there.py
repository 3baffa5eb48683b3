"""Commands that unpack the tasks of a set and run them with Harbor, which reads folders alone."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rlx.answers import prose
from rlx.formats.packed.archive import suffix
from rlx.formats.processors.support import run_there
from rlx.ids import EnvKey
from rlx.model import Section
from rlx.texts import say

HARBOR: Final = "0.25.0"
"""The release whose options these are."""
LISTED: Final = 5
"""Archives that are unpacked by a command each."""
_PARENTS: Final = 3


def of_archives(told: Mapping[str, Any]) -> Section | None:
    """For archives: `told` holds `key`, `sha`, `unpack` (pairs of an archive and the folder it goes to) and `parents`.

    None where no few commands would do.
    """
    archives = [(str(path), str(prefix)) for path, prefix in told.get("unpack", ())]
    parents = [str(parent) for parent in told.get("parents", ())]
    suffixes = {suffix(path) for path, _ in archives}
    if not archives or not parents or len(parents) > _PARENTS:
        return None
    folder = _folder(told["key"])
    target = f"{folder}/unpacked"
    if len(archives) <= LISTED:
        names = [path for path, _ in archives]
        lines = [_unpack(f"{folder}/{path}", f"{target}/{prefix}".rstrip("/")) for path, prefix in archives]
    elif len(suffixes) == 1 and not any(prefix for _, prefix in archives):
        ending = suffixes.pop()
        names = []
        command = f"unzip -q {{}} -d {target}" if ending == ".zip" else f"tar -xf {{}} -C {target}"
        lines = [f"mkdir -p {target}", rf"find {folder} -name '*{ending}' -exec {command} \;"]
    else:
        return None
    runs = [f"harbor run --path {_quoted(f'{target}/{parent}'.rstrip('/'))} -a oracle" for parent in parents]
    return _section([_download(told["key"], told["sha"], names), *lines, *runs])


def of_rows(key: EnvKey, sha: str, paths: Sequence[str], column: str, *, wrapped: bool, zipped: bool) -> Section:
    """For bytes in a column of parquet files; `wrapped` tells that each archive has the task's folder in it."""
    folder = _folder(key.repo_id)
    place = f'pathlib.Path({f"{folder}/tasks"!r}, f"{{row:05}}")' if not wrapped else f"{f'{folder}/tasks'!r}"
    opened = "zipfile.ZipFile(packed).extractall(folder)"
    if not zipped:
        opened = 'tarfile.open(fileobj=packed).extractall(folder, filter="data")'
    lines = [
        _download(key.repo_id, sha, paths if len(paths) <= LISTED else ()),
        "python - <<'EOF'",
        f"import io, pathlib, {'zipfile' if zipped else 'tarfile'}",
        "import pyarrow.parquet as pq",
        "",
        f"row, column = -1, {column!r}",
        f"for file in sorted(pathlib.Path({folder!r}).rglob('*.parquet')):",
        "    for cell in pq.read_table(file, columns=[column])[column].to_pylist():",
        "        row += 1",
        "        if cell:",
        f"            folder, packed = {place}, io.BytesIO(cell)",
        f"            {opened}",
        "EOF",
        f"harbor run --path {_quoted(f'{folder}/tasks')} -a oracle",
    ]
    return _section(lines)


def _section(lines: Sequence[str]) -> Section:
    return run_there(
        "Harbor", prose("\n".join(lines)), say("packed.run.needs", version=HARBOR), say("packed.run.agent")
    )


def _download(repo_id: str, sha: str, names: Sequence[str]) -> str:
    chosen = "".join(f" {_quoted(name)}" for name in names)
    return f"hf download {repo_id}{chosen} --repo-type dataset --revision {sha} --local-dir {_folder(repo_id)}"


def _unpack(path: str, target: str) -> str:
    opening = f"unzip -q {_quoted(path)} -d" if suffix(path) == ".zip" else f"tar -xf {_quoted(path)} -C"
    return f"mkdir -p {_quoted(target)} && {opening} {_quoted(target)}"


def _folder(repo_id: str) -> str:
    """The name of a repository, which needs no quotes."""
    return repo_id.rpartition("/")[2]


def _quoted(path: str) -> str:
    return shlex.quote(path)
