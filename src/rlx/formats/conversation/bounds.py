"""What of a long conversation is shown: turns, and characters of each text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import ShownJson, name, prose, whole
from rlx.formats.conversation.pieces import Piece
from rlx.model import Message

TURNS: Final = 600
"""Turns that are shown: of more, the first `HEAD` and the last of the rest."""
HEAD: Final = 400
PARTS: Final = 4000
"""Parts of turns that are shown."""
TEXT: Final = 200_000
"""Characters of one text."""
ALL: Final = 4_000_000
"""Characters of all; past these, of each text the first `LITTLE`."""
LITTLE: Final = 2000
_NAME: Final = 200


def bounded(pieces: Sequence[Piece]) -> tuple[Message, ...]:
    """The messages that are shown of `pieces`; what is left out is told in their place."""
    numbers = list(dict.fromkeys(piece.turn for piece in pieces))
    left: set[int] = set(numbers[HEAD : len(numbers) - (TURNS - HEAD)]) if len(numbers) > TURNS else set()
    kept = [piece for piece in pieces if piece.turn not in left]
    if len(kept) > PARTS:
        left |= {piece.turn for piece in kept[PARTS:]}
        kept = [piece for piece in kept if piece.turn not in left]
    writer = _Writer()
    found: list[Message] = []
    start = min(left, default=0)
    for piece in kept:
        if left and piece.turn > start:
            found.append(_gap(left))
            left = set()
        found.append(writer.message(piece))
    return (*found, _gap(left)) if left else tuple(found)


def _gap(left: set[int]) -> Message:
    return Message(name(""), prose(""), "gap", cut=len(left), turn=min(left))


@dataclass(slots=True)
class _Writer:
    left: int = ALL

    def message(self, piece: Piece) -> Message:
        data, text = self._data(piece), piece.text
        if piece.data is not None and data is None:
            text = json.dumps(whole(piece.data).value, ensure_ascii=False)
        limit = TEXT if self.left > 0 else LITTLE
        shown = text[:limit]
        self.left -= len(shown)
        return Message(
            role=name(piece.role),
            text=prose(shown),
            kind=piece.kind,
            name=None if piece.name is None else name(piece.name[:_NAME]),
            call_id=None if piece.call_id is None else name(piece.call_id[:_NAME]),
            data=data,
            error=piece.error,
            media=tuple(piece.media),
            tokens=piece.tokens,
            cut=len(text) - len(shown),
            turn=piece.turn,
            note=None if piece.note is None else name(piece.note[:_NAME]),
        )

    def _data(self, piece: Piece) -> ShownJson | None:
        if piece.data is None:
            return None
        value = whole(piece.data)
        size = len(json.dumps(value.value, ensure_ascii=False))
        if size > (TEXT if self.left > 0 else LITTLE):
            return None
        self.left -= size
        return value
