"""The machine's own Hub token. The one place that asks `huggingface_hub` for it."""


def machine_token() -> str | None:
    """The token of `HF_TOKEN` or of `hf auth login`, or None. Never sent unless a caller passes it on explicitly."""
    from huggingface_hub import get_token  # imported late: the CLI starts without it

    return get_token()
