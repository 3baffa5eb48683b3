"""Any value as turns."""

from collections.abc import Iterator, Mapping

from rlx.formats.conversation.bounds import bounded
from rlx.formats.conversation.chat import message_pieces
from rlx.formats.conversation.items import is_item, item_pieces
from rlx.formats.conversation.pairing import paired
from rlx.formats.conversation.pieces import Piece, dumped, parsed, role_of, spoken
from rlx.formats.conversation.shapes import found_in, is_message, is_talk
from rlx.model import Message


def turns(value: object) -> tuple[Message, ...]:
    """What was said, in order, outputs after their calls: chat messages, Responses items, ShareGPT, Anthropic's
    content blocks, several of these under names, JSON text of any, or a text, which is one message of a user.

    `value` passed `rlx.answers`. Of more than 600 turns the middle is left out, of each text what is past 200,000
    characters; both are told. Never raises.
    """
    found: list[Piece] = []
    for label, items in found_in(value):
        first = found[-1].turn + 1 if found else 0
        pieces = paired(list(_numbered(items, first)))
        if label is not None and pieces:
            pieces[0].note = label
        found += pieces
    return bounded(found)


def is_conversation(value: object) -> bool:
    """Whether `value` is messages in a shape that is known here; a plain text is none."""
    return is_talk(value)


def _numbered(items: list[object], first: int) -> Iterator[Piece]:
    """The parts of all items. Items that a model wrote one after another, as Responses has them, are one turn."""
    turn, joins = first - 1, False
    for item in items:
        told = item if isinstance(item, Mapping) else parsed(item)
        follows = joins
        if isinstance(told, Mapping) and is_item(told):
            pieces, joins = item_pieces(told), not str(told.get("type")).endswith("_output")
            follows = follows and joins
        elif isinstance(told, Mapping) and is_message(told):
            pieces = message_pieces(told)
            joins = told.get("type") == "message" and role_of(spoken(told) or "") == "assistant"
            follows = follows and joins
        else:
            pieces, joins, follows = [_odd(item)], False, False
        turn += 0 if follows else 1
        for piece in pieces:
            piece.turn = turn
            yield piece


def _odd(item: object) -> Piece:
    if isinstance(item, str):
        return Piece("user", text=item)
    return Piece("", "other", dumped(item))
