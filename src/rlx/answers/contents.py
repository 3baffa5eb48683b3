"""The contents of a file as a reader may see them: the one function behind viewer, raw, diffs, exports and MCP."""

import json
import re
from collections.abc import Iterable
from typing import Final

from rlx.answers.files import CODE, CONFIGURATION, Place, file_verdict, is_log, place
from rlx.answers.logs import verifier_log
from rlx.answers.records import TALKS, Policy, parse_json, record
from rlx.answers.rows import document, json_lines, table, values
from rlx.answers.scripts import script
from rlx.answers.shown import MARK, Masked, Withheld, show
from rlx.answers.tomls import toml_text
from rlx.answers.yamls import yaml_text
from rlx.texts import say

LIMIT: Final = 4 * 1024 * 1024
"""Bytes of one file that are looked at; what follows is withheld."""
_HEAD: Final = 8000

_OPEN_IN_TOOLS = Policy("tools", allow=frozenset({"scripts"}), look=frozenset({"compilerOptions.target"}))


def file_text(path: str, data: bytes, *, task_root: str | None, besides: Policy | None = None) -> Masked | Withheld:
    """The text of a file with its answers masked, or why none of it is shown.

    `besides` is the policy of the file's rows, where it is known what reads them.
    `path` is relative to the task, or to the repository when `task_root` is None. Bytes that are not UTF-8
    become U+FFFD.
    """
    verdict = file_verdict(path, task_root=task_root)
    if verdict.kind == "withhold" and verdict.reason is not None:
        return Withheld(path, verdict.reason)
    where = place(path, task_root)
    if b"\0" in data[:_HEAD]:
        return Withheld(path, say("answers.not_text"))
    if where.zone == "tests" and where.suffix == "" and not data.startswith(b"#!") and not _is_script_name(where.file):
        return Withheld(path, say("answers.beside_grader"))
    cut = data[:LIMIT]
    if len(data) > LIMIT:
        cut = cut[: cut.rfind(b"\n") + 1] or cut
    text = cut.decode("utf-8", "replace")
    shown = Masked(show(text)) if verdict.kind == "show" else _look(path, text, where, besides)
    if isinstance(shown, Withheld) or len(data) == len(cut):
        return shown
    more = Withheld(path, say("answers.too_large", megabytes=LIMIT // 2**20))
    return Masked(show(f"{shown.text}{MARK}\n"), shown.masked, (*shown.withheld, more))


def file_rows(
    path: str, rows: Iterable[object], *, task_root: str | None, besides: Policy | None = None
) -> Masked | Withheld:
    """Rows read from a container, such as a parquet file, as JSON Lines with their answers masked."""
    verdict = file_verdict(path, task_root=task_root)
    if verdict.kind == "withhold" and verdict.reason is not None:
        return Withheld(path, verdict.reason)
    return values(rows, path=path, besides=besides)


_FIELDS = frozenset(
    {"json", "jsonl", "ndjson", "csv", "tsv", "yaml", "yml", "toml", "geojson", "jsonc", "traj", "ipynb"}
)
"""Of files whose values have names, by which answers are known, also where they lie among logs."""


def _look(path: str, text: str, where: Place, besides: Policy | None) -> Masked | Withheld:
    suffix = where.suffix
    if is_log(path) and where.zone in {"repository", "root"} and suffix not in _FIELDS:
        return verifier_log(text, path=path)
    if suffix == "toml" and where.file not in CONFIGURATION:
        return toml_text(text, path=path)
    if suffix in {"json", "traj", "ipynb", "jsonc", "geojson"}:
        return _notebook(path, text) if suffix == "ipynb" else _json(path, text, where, besides)
    if suffix in {"jsonl", "ndjson"}:
        return json_lines(text, path=path, besides=besides)
    if suffix in {"csv", "tsv"}:
        return table(text, path=path, besides=besides)
    if suffix in {"yaml", "yml"}:
        return yaml_text(text, path=path, tool=where.file in CONFIGURATION)
    if suffix in CODE or where.file.startswith(("dockerfile", "makefile", "containerfile")) or text.startswith("#!"):
        return script(text, path=path)
    return _prose(path, text)


def _prose(path: str, text: str) -> Masked:
    """Text of no known make; where it is JSON under another name it is looked into as such."""
    if re.match(r"[\s\ufeff]*[{\[]", text[:200]):
        try:
            parse_json(text[:LIMIT])
        except (ValueError, RecursionError):
            broken = re.match(r"[\s\ufeff]*[{\[]\s*[{\[\"']", text[:400]) is not None
            return json_lines(text, path=path) if broken else Masked(show(text))
        return _json(path, text, Place("repository", (), path))
    return Masked(show(text))


def _json(path: str, text: str, where: Place, besides: Policy | None = None) -> Masked:
    try:
        value, repeats = parse_json(text)
    except RecursionError:
        return _all(path, text, "answers.too_deep")
    except ValueError:
        return json_lines(text, path=path, besides=besides)
    shown = record(
        value, policy=_OPEN_IN_TOOLS if where.file in CONFIGURATION else Policy("file", echoes=TALKS), at=path
    )
    withheld = shown.withheld
    if besides is not None:
        shown = document(shown.value.value, at=path, policy=besides)
        withheld = tuple(dict.fromkeys((*withheld, *shown.withheld)))
    if not withheld and not repeats:
        return Masked(show(text))
    written = json.dumps(shown.value.value, ensure_ascii=False, indent=2) + "\n"
    return Masked(show(written), _marked(written), withheld)


def _notebook(path: str, text: str) -> Masked:
    """A notebook: its code masked as programs are, its outputs withheld."""
    try:
        book, _ = parse_json(text)
    except (ValueError, RecursionError):
        return _all(path, text, "answers.unparsed")
    found: list[Withheld] = []
    cells = book.get("cells") if isinstance(book, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        joined = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
        shown = script(joined, path="cell.py")
        found.extend(Withheld(path, one.reason) for one in shown.withheld)
        cell["source"] = shown.text.splitlines(keepends=True)
    rest = record(book, at=path)
    written = json.dumps(rest.value.value, ensure_ascii=False, indent=1) + "\n"
    named = tuple(dict.fromkeys((*found, *rest.withheld)))
    return Masked(show(written), _marked(written), named) if named else Masked(show(text))


def _all(path: str, text: str, reason: str) -> Masked:
    lines = text.count("\n") + 1
    return Masked(show(MARK), tuple(range(1, min(lines, 2))), (Withheld(path, say(reason)),))


def _marked(text: str) -> tuple[int, ...]:
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if MARK in line)


def _is_script_name(file: str) -> bool:
    return file.startswith(("dockerfile", "makefile", "containerfile"))
