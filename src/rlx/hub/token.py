"""What may be a token, and the machine's own: the one place that asks `huggingface_hub` for it."""

_MAX = 400


def is_token(text: str) -> bool:
    """Whether `text` has a form that can be sent as a token."""
    return 0 < len(text) <= _MAX and text.isascii() and text.isprintable()


def machine_token() -> str | None:
    """The token of `HF_TOKEN` or of `hf auth login`, or None. Never sent unless a caller passes it on explicitly."""
    from huggingface_hub import get_token  # imported late: the CLI starts without it

    return get_token()
