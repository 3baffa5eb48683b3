"""Adds tags to the front matter of a card, and changes no other byte of it.

The place for them is found by composing the YAML, and the edit is checked by composing the result: what cannot be
edited surely is refused, not guessed at. Cards: https://huggingface.co/docs/hub/datasets-cards.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from rlx.errors import BadInput

MAX_CARD: Final = 2 * 1024 * 1024
MAX_FRONT_MATTER: Final = 256 * 1024
_OPENING: Final = re.compile(r"---[ \t]*(\r\n|\n|\r)")
_CLOSING: Final = re.compile(r"^---[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_UNSAFE_IN_FLOW: Final = re.compile(r"[,\[\]{}]")
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class _Edit:
    """Texts to be put at places of the front matter, or instead of what stands from one to another."""

    start: int
    stop: int
    text: str


def add_tags(card: bytes, tags: Sequence[str]) -> bytes:
    """`card` with those of `tags` that it lacks, at the end of its own. A card without front matter gets one.

    Raises `BadInput` for a card that is no UTF-8, begins with a byte order mark (which keeps the Hub from reading its
    front matter), or whose front matter cannot be read or edited surely.
    """
    if any(not _TAG.fullmatch(tag) for tag in tags):
        raise ValueError("Tags are words of lower-case letters, digits and hyphens.")
    text = _text(card)
    opening = _OPENING.match(text)
    if opening is None:
        if text.lstrip().startswith("---"):
            raise BadInput("The card's front matter does not begin on its first line.", hint="Move it there by hand.")
        newline = "\r\n" if "\r\n" in text[:4096] else "\n"
        front = newline.join(["---", "tags:", *(f"- {tag}" for tag in tags), "---", ""])
        return (front + text).encode()
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise BadInput("The card's front matter does not end.", hint="Close it with a line of three dashes.")
    front = text[opening.end() : closing.start()]
    edited = _edited(front, tags, opening[1])
    return (text[: opening.end()] + edited + text[closing.start() :]).encode()


def tags_of(card: bytes) -> tuple[str, ...]:
    """The tags that a card has. Raises what `add_tags` raises."""
    text = _text(card)
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening is not None else None
    if opening is None or closing is None:
        return ()
    root = _compose(text[opening.end() : closing.start()])
    node = _tags_node(root)[1] if root is not None else None
    return tuple(_values(node))


def _text(card: bytes) -> str:
    if len(card) > MAX_CARD:
        raise BadInput(f"The card is longer than {MAX_CARD:,} bytes.", hint="Edit it by hand.")
    if card.startswith(b"\xef\xbb\xbf"):
        raise BadInput(
            "The card begins with a byte order mark, so that the Hub reads no front matter from it.",
            hint="Save it without one.",
        )
    try:
        return card.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"The card is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from error


def _edited(front: str, tags: Sequence[str], newline: str) -> str:
    root = _compose(front)
    key, node = _tags_node(root) if root is not None else (None, None)
    before = _values(node)
    known = {tag.lower().removeprefix("library:") for tag in before}
    lacking = [tag for tag in dict.fromkeys(tags) if tag not in known]
    if not lacking:
        return front
    edit = _edit(front, root, key, node, lacking, newline)
    edited = front[: edit.start] + edit.text + front[edit.stop :]
    _check(root, _compose(edited), [*before, *lacking])
    return edited


def _edit(
    front: str,
    root: yaml.MappingNode | None,
    key: yaml.Node | None,
    node: yaml.Node | None,
    tags: Sequence[str],
    newline: str,
) -> _Edit:
    if key is None or node is None:
        indent = " " * (root.value[0][0].start_mark.column if root is not None and root.value else 0)
        lines = "".join(f"{indent}{line}{newline}" for line in ("tags:", *(f"- {tag}" for tag in tags)))
        start = len(front)
        gap = "" if not front or front.endswith(("\n", "\r")) else newline
        return _Edit(start, start, gap + lines)
    start, stop = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.SequenceNode) and node.flow_style:
        at = node.value[-1].end_mark.index if node.value else start + 1
        return _Edit(at, at, (", " if node.value else "") + ", ".join(tags))
    if isinstance(node, yaml.SequenceNode):
        last = node.value[-1]
        at = _line_end(front, last.end_mark.index)
        indent = front[_line_start(front, start) : start]
        if indent.strip(" "):
            raise _unsure("its tags do not begin on a line of their own")
        lines = newline.join(f"{indent}- {tag}" for tag in tags)
        return _Edit(at, at, newline + lines)
    if _is_empty(node):
        return _Edit(start, stop, f"{'' if start != key.end_mark.index + 1 else ' '}[{', '.join(tags)}]")
    return _Edit(start, stop, f"[{front[start:stop]}, {', '.join(tags)}]")


def _tags_node(root: yaml.MappingNode) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The key `tags` and its value. Raises `BadInput` for one that cannot be added to surely."""
    found = [(key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode) and key.value == "tags"]
    if not found:
        return None, None
    if len(found) > 1:
        raise _unsure("it has the key tags more than once")
    key, node = found[0]
    if node.start_mark.index < key.end_mark.index:
        raise _unsure("its tags are those of another key")
    if isinstance(node, yaml.ScalarNode):
        if node.style in {"|", ">"} or (node.style is None and _UNSAFE_IN_FLOW.search(node.value)):
            raise _unsure("its tags are a text, and no list")
        return key, node
    if not isinstance(node, yaml.SequenceNode) or not all(isinstance(item, yaml.ScalarNode) for item in node.value):
        raise _unsure("its tags are no list of words")
    if any(item.style in {"|", ">"} for item in node.value):
        raise _unsure("a tag is a block of text")
    return key, node


def _compose(front: str) -> yaml.MappingNode | None:
    """The front matter's mapping; None for an empty one."""
    if len(front) > MAX_FRONT_MATTER:
        raise _unsure(f"it is longer than {MAX_FRONT_MATTER:,} characters")
    try:
        node = yaml.compose(front, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" (line {error.problem_mark.line + 2})"
        raise _unsure(f"it is no YAML{line}: {error.problem}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _unsure("it is no YAML that can be read") from error
    if node is None or _is_empty(node):
        return None
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _unsure("it is no list of keys and values")
    return node


def _values(node: yaml.Node | None) -> list[str]:
    if isinstance(node, yaml.SequenceNode):
        return [str(item.value) for item in node.value]
    return [] if node is None or _is_empty(node) else [str(node.value)]


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _check(before: yaml.MappingNode | None, after: yaml.MappingNode | None, tags: Sequence[str]) -> None:
    """Raises `BadInput` unless only the tags changed."""
    old = _told(before)
    new = _told(after)
    if [item for item in old if item[0] != "tags"] != [item for item in new if item[0] != "tags"]:
        raise _unsure("adding to it would change another key")
    if after is None or _values(_tags_node(after)[1]) != list(tags):
        raise _unsure("what was added would not be read back")


def _told(root: yaml.MappingNode | None) -> list[tuple[object, str]]:
    """Keys and their values as events, by which two readings are compared."""
    if root is None:
        return []
    return [(getattr(key, "value", None), yaml.serialize(value, Dumper=yaml.SafeDumper)) for key, value in root.value]


def _line_end(text: str, at: int) -> int:
    found = re.compile(r"\r\n|\n|\r").search(text, at)
    return len(text) if found is None else found.start()


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _unsure(why: str) -> BadInput:
    return BadInput(f"The card's front matter cannot be edited surely: {why}.", hint="Add the tags by hand.")
