"""A script of the site and the modules it imports, as one file.

A dozen small ones would be asked for and compiled while the page is being drawn, on the same processor.
"""

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import (?:(?P<names>\{[^}\n]+\}) from )?"\./(?P<module>[a-z_]+)\.js";', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function (\w+))", re.MULTILINE)
_IMPORT_LEFT = re.compile(r"^\s*import\b.*", re.MULTILINE)
_EXPORT_LEFT = re.compile(r"^\s*export\b.*", re.MULTILINE)


def packed_script(modules: Mapping[str, str], name: str) -> str:
    """The module `name` of `modules`, texts by name, after those it imports, each of which runs once before its users.

    They may import functions of one another by name; those that are imported may export functions. `ValueError` for any
    other form, and for modules that import each other in a circle.
    """
    order: dict[str, None] = {}
    _collect(modules, name, order, ())
    del order[name]
    return "\n".join([*(_enclosed(part, modules[part]) for part in order), _bound(name, modules[name])])


def _collect(modules: Mapping[str, str], name: str, order: dict[str, None], above: tuple[str, ...]) -> None:
    """Add a module to `order`, after all that it imports."""
    if name in above:
        raise ValueError(f"{name}.js imports itself, by way of others.")
    for found in _IMPORT.finditer(modules[name]):
        _collect(modules, found["module"], order, (*above, name))
    order.setdefault(name)


def _enclosed(name: str, text: str) -> str:
    """A module as the value of what it exports; its other names stay its own."""
    body = _EXPORT.sub("", _bound(name, text))
    _check(name, _EXPORT_LEFT.search(body))
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(_EXPORT.findall(text))} }};\n}})();"


def _bound(name: str, text: str) -> str:
    """A module whose imports are taken from what was packed before it."""
    body = _IMPORT.sub(lambda found: f"const {found['names']} = ${found['module']};" if found["names"] else "", text)
    _check(name, _IMPORT_LEFT.search(body))
    return body


def _check(name: str, left: re.Match[str] | None) -> None:
    if left is not None:
        raise ValueError(f"{name}.js cannot be packed: {left[0].strip()}")
