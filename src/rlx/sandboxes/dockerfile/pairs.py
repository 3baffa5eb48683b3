"""The words of ENV, LABEL and ARG: names with values, quotes and escapes left for the expansion."""

from rlx.sandboxes.dockerfile.refusals import Refused


def quoted_words(rest: str, escape: str) -> list[str]:
    """Parted at blanks that are neither quoted nor escaped."""
    words: list[str] = []
    word: list[str] = []
    quote = ""
    at = 0
    while at < len(rest):
        char = rest[at]
        at += 1
        if char == escape and quote != "'":
            if at < len(rest):
                word += (char, rest[at])
                at += 1
            continue
        if not quote and char.isspace():
            if word:
                words.append("".join(word))
            word = []
            continue
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        word.append(char)
    if word:
        words.append("".join(word))
    return words


def name_values(rest: str, escape: str, name: str) -> list[tuple[str, str]]:
    """Of ENV and LABEL, in the form `a=b c=d` or the old `a b`. Raises `Refused`."""
    words = quoted_words(rest, escape)
    if not words or "=" not in words[0]:
        parts = rest.split(None, 1)
        if len(parts) < 2:
            raise Refused("syntax", "pairs.value", name=name)
        return [(parts[0], parts[1])]
    found: list[tuple[str, str]] = []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise Refused("syntax", "pairs.form", name=name, text=word)
        found.append((key, value))
    return found


def optional_values(rest: str, escape: str) -> list[tuple[str, str | None]]:
    """Of ARG: names, some with a default. Raises `Refused`."""
    found: list[tuple[str, str | None]] = []
    for word in quoted_words(rest, escape):
        key, equals, value = word.partition("=")
        if not key:
            raise Refused("syntax", "pairs.form", name="ARG", text=word)
        found.append((key, value if equals else None))
    return found
