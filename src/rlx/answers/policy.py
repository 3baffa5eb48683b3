"""The parts of the policy that are one line long."""

from rlx.answers.records import plain
from rlx.answers.shown import Shown, ShownJson, show, show_json

_SPACE = dict.fromkeys(map(ord, "\n\r\t\v\f\x85\u2028\u2029"), " ")
_CONTROL = dict.fromkeys([*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def prose(text: str) -> Shown:
    """Text the agent itself is given, or that is public prose (instruction, README): shown whole."""
    return show(text)


def name(text: str) -> Shown:
    """A path, an id, a tag, a title: one line, without control characters and bidirectional overrides."""
    return show(text.translate(_SPACE).translate(_CONTROL))


def whole(value: object) -> ShownJson:
    """A value that passed `record`, a part of one, or what the agent itself is given: nothing in it is replaced."""
    return show_json(plain(value))
