"""Commands that unpack the tasks of a set and run them with Harbor, which reads folders alone."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rlx.answers import prose
from rlx.formats.packed.archive import suffix
from rlx.formats.processors.support import run_there
from rlx.ids import EnvKey
from rlx.model import Section, Text
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


@dataclass(frozen=True, slots=True)
class Cells:
    """Archives that are bytes in a column of parquet files."""

    key: EnvKey
    sha: str
    paths: tuple[str, ...]
    column: str
    wrapped: bool
    """Each archive has the task's folder in it."""
    zipped: bool

    @property
    def extract(self) -> str:
        """The call that unpacks `packed` into `folder`."""
        if self.zipped:
            return "zipfile.ZipFile(packed).extractall(folder)"
        return 'tarfile.open(fileobj=packed).extractall(folder, filter="data")'

    @property
    def imports(self) -> tuple[str, str]:
        return f"import io, pathlib, {'zipfile' if self.zipped else 'tarfile'}", "import pyarrow.parquet as pq"


@dataclass(frozen=True, slots=True)
class Named:
    """The cell of a row that is called by its name."""

    column: str
    value: str
    folder: str
    """Of the task: a name."""


def of_row(cells: Cells, path: str, named: Named) -> Section:
    """For one row of the file at `path`: it is looked up by what it is called, and lies in a folder called so."""
    folder = _folder(cells.key.repo_id)
    target = f"{folder}/tasks/{named.folder}"
    modules, tables = cells.imports
    lines = [
        _download(cells.key.repo_id, cells.sha, (path,)),
        "python - <<'EOF'",
        modules,
        tables,
        "",
        f"file, columns = {f'{folder}/{path}'!r}, [{cells.column!r}]",
        f"rows = pq.read_table(file, columns=columns, filters=[({named.column!r}, '=', {named.value!r})])",
        f"folder, packed = {target!r}, io.BytesIO(rows[columns[0]][0].as_py())",
        "pathlib.Path(folder).mkdir(parents=True, exist_ok=True)",
        cells.extract,
        "EOF",
        f"harbor run --path {_quoted(target)} -a oracle",
    ]
    return _section(lines, say("packed.run.one", version=HARBOR))


def of_rows(cells: Cells) -> Section:
    """For all rows, each in a folder of its number where its archive has none."""
    folder = _folder(cells.key.repo_id)
    place = f'pathlib.Path({f"{folder}/tasks"!r}, f"{{row:05}}")' if not cells.wrapped else f"{f'{folder}/tasks'!r}"
    lines = [
        _download(cells.key.repo_id, cells.sha, cells.paths if len(cells.paths) <= LISTED else ()),
        "python - <<'EOF'",
        *cells.imports,
        "",
        f"row, column = -1, {cells.column!r}",
        f"for file in sorted(pathlib.Path({folder!r}).rglob('*.parquet')):",
        "    for cell in pq.read_table(file, columns=[column])[column].to_pylist():",
        "        row += 1",
        "        if cell:",
        f"            folder, packed = {place}, io.BytesIO(cell)",
        f"            {cells.extract}",
        "EOF",
        f"harbor run --path {_quoted(f'{folder}/tasks')} -a oracle",
    ]
    return _section(lines)


def _section(lines: Sequence[str], needs: Text | None = None) -> Section:
    told = needs or say("packed.run.needs", version=HARBOR)
    return run_there("Harbor", prose("\n".join(lines)), told, say("packed.run.agent"))


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
