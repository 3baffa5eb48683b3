"""The parts of the policy that are one line long."""

from rlx.answers.shown import Shown, show

_SPACE = dict.fromkeys(map(ord, "\n\r\t\v\f\x85\u2028\u2029"), " ")
_CONTROL = dict.fromkeys([*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def prose(text: str) -> Shown:
    """Text the agent itself is given, or that is public prose (instruction, README): shown whole."""
    return show(text)


def name(text: str) -> Shown:
    """A path, an id, a tag, a title: one line, without control characters and bidirectional overrides."""
    return show(text.translate(_SPACE).translate(_CONTROL))
