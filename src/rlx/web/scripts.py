"""Several modules of the site as one: what a page's scripts import of each other comes first in the same file."""

import re
from collections.abc import Iterable, Mapping

_IMPORT = re.compile(r'^import (?:(?P<names>\{[^}\n]+\}) from )?"\./(?P<module>[a-z_]+)\.js";', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function (\w+))", re.MULTILINE)
_LEFT = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


def packed_script(modules: Mapping[str, str], roots: Iterable[str]) -> str:
    """One module that does what `roots` do in turn. Each module that they import runs once, before those that use it.

    `modules` are texts by name. They may import functions of one another by name and export functions; `ValueError` for
    any other form, and for modules that import each other in a circle.
    """
    order: dict[str, None] = {}
    for root in roots:
        _collect(modules, root, order, ())
    return "\n".join(_alone(name, modules[name]) for name in order)


def _collect(modules: Mapping[str, str], name: str, order: dict[str, None], above: tuple[str, ...]) -> None:
    """Add a module to `order`, after all that it imports."""
    if name in above:
        raise ValueError(f"{name}.js imports itself, by way of others.")
    for found in _IMPORT.finditer(modules[name]):
        _collect(modules, found["module"], order, (*above, name))
    order.setdefault(name)


def _alone(name: str, text: str) -> str:
    """A module as the value of what it exports; its other names stay its own."""
    body = _EXPORT.sub("", _IMPORT.sub(_bound, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{name}.js cannot be packed: {left[0].strip()}")
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(_EXPORT.findall(text))} }};\n}})();"


def _bound(found: re.Match[str]) -> str:
    return f"const {found['names']} = ${found['module']};" if found["names"] else ""
