"""Which tasks say nearly the same, from short sketches of what each says."""


def sketch(text: str) -> bytes:
    """A sketch of `text`: near texts have near sketches. Empty for a text of too few words to tell."""
    return b""
