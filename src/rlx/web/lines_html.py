"""Lines of code as the rows of `pre.lines`: numbered, each with an address, what is withheld drawn as such."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from rlx.answers.shown import MARK
from rlx.answers.spans import CONTINUED
from rlx.texts import Say, say, words
from rlx.web import highlight

_NO_ICON = Markup()


def numbered(
    lines: Sequence[str], first: int, prefix: str, masked: frozenset[int], language: str, icon: Markup = _NO_ICON
) -> Markup:
    """Lines of HTML as rows, in windows a browser may leave unpainted until they are near.

    `first` is the number of the first line, `masked` holds numbers of lines on which something is withheld, ids are
    `prefix` and the number. Further lines of a stretch that is withheld make one row.
    """
    rows = list(_rows(lines, first, escape(prefix), masked, language, icon))
    size = highlight.WINDOW
    if len(rows) > size:
        rows = [f'<span class="win">{"".join(rows[at : at + size])}</span>' for at in range(0, len(rows), size)]
    return Markup("".join(rows))  # noqa: S704 - lines were escaped by highlight, the rest is numbers and our words


def _rows(
    lines: Sequence[str], first: int, prefix: Markup, masked: frozenset[int], language: str, icon: Markup
) -> Iterator[str]:
    label = escape(words(say("web.line"), language))
    held = f"<i>{icon}{escape(words(say('web.is_withheld'), language))}</i>"
    end = first + len(lines)
    number = first
    while number < end:
        line, last = lines[number - first], number
        if number in masked:
            while last < end and last in masked and _continues(lines[last - first]):
                last += 1
            if last > number:
                last -= 1
                line = f"<i>{escape(words(_told(number, last), language))}</i>"
            else:
                line = line.replace(MARK, held)
        yield (
            f'<span class="l{" mask" if number in masked else ""}" id="{prefix}{number}"><a href="#{prefix}{number}" '
            f'data-n="{number}" aria-label="{label} {number}" tabindex="-1"></a><span>{line}</span></span>'
        )
        number = last + 1


def _told(first: int, last: int) -> Say:
    if first == last:
        return say("web.line_withheld", number=str(first))
    return say("web.lines_withheld", first=str(first), last=str(last))


def _continues(line: str) -> bool:
    return CONTINUED in line and Markup(line).striptags().strip() == CONTINUED  # noqa: S704 - only to read its text
