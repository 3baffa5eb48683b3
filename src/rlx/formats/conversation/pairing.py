"""What a call was answered with is put after it, by the id of the call, else by its place."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from rlx.formats.conversation.pieces import Piece

_LOOKED: Final = 200
"""Calls among which that of an output is looked for."""


def paired(pieces: Sequence[Piece]) -> list[Piece]:
    """`pieces` with each output after the call that it answers, in that call's turn; others stay where they are."""
    answers: dict[int, list[Piece]] = {}
    by_id: dict[str, list[int]] = {}
    waiting: dict[int, Piece] = {}
    moved: set[int] = set()
    for at, piece in enumerate(pieces):
        if piece.kind == "call":
            waiting[at] = piece
            if piece.call_id is not None:
                by_id.setdefault(piece.call_id, []).append(at)
        elif piece.kind == "output":
            call = _call_of(piece, by_id, waiting)
            if call is not None:
                waiting.pop(call, None)
                answers.setdefault(call, []).append(piece)
                moved.add(at)
                piece.turn, piece.call_id = pieces[call].turn, pieces[call].call_id
                piece.name = pieces[call].name or piece.name
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        if at not in moved:
            found += [piece, *answers.get(at, ())]
    return found


def _call_of(output: Piece, by_id: dict[str, list[int]], waiting: dict[int, Piece]) -> int | None:
    """By id the first call that still waits, else the latest of that id; without an id the next that waits."""
    if output.call_id is not None:
        named = by_id.get(output.call_id)
        if not named:
            return None
        return next((at for at in named[-_LOOKED:] if at in waiting), named[-1])
    near = islice(waiting.items(), _LOOKED)
    return next((at for at, call in near if output.name in {None, call.name}), next(iter(waiting), None))
