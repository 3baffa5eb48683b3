"""Where the words of a search stand in a title or a brief, as HTML."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from rlx.web.inert import spell

_EARLY = 120
"""Characters that the two lines of a brief surely show."""
_LEAD = 60
"""Characters before the first word found that a later beginning keeps at most."""

type Spans = Sequence[tuple[int, int]]
"""Start and end of each, in order and apart."""


def lit(text: str, spans: Spans) -> Markup:
    """`text` with what stands at `spans` marked; characters that hide or reorder are spelled out."""
    parts: list[Markup] = []
    at = 0
    for start, end in spans:
        parts += [escape(spell(text[at:start])), Markup("<mark>{}</mark>").format(spell(text[start:end]))]
        at = end
    return Markup("").join([*parts, escape(spell(text[at:]))])


def excerpt(text: str, spans: Spans) -> Markup:
    """A brief from its beginning, or from shortly before the first word found where that comes late."""
    first = spans[0][0] if spans else 0
    if first <= _EARLY:
        return lit(text, spans)
    cut = first - _LEAD
    cut = min(text.find(" ", cut, first) + 1 or cut, first)
    return Markup("… {}").format(lit(text[cut:], [(start - cut, end - cut) for start, end in spans]))
