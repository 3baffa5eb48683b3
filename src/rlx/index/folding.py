"""What texts and the words they are searched by lose before they are compared."""

import unicodedata


def fold(text: str) -> str:
    """`text` without what is not searched by: capitals, widths, and the ways to compose a character."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
