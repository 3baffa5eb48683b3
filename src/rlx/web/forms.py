"""Small forms that are sent to the site: their fields, and where they return to."""

from urllib.parse import parse_qs

from starlette.requests import Request

from rlx.errors import BadInput


def is_form(request: Request) -> bool:
    """Whether the body is the fields of a form, as a browser sends them without scripts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/x-www-form-urlencoded"


async def read_form(request: Request, *, most: int = 10) -> dict[str, str]:
    """The fields of a small form; of a field sent twice the first. Raises `BadInput` for any other kind of body."""
    if not is_form(request):
        raise BadInput("Send the form's fields as application/x-www-form-urlencoded.")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return {name: values[0] for name, values in parse_qs(body, max_num_fields=most).items()}
    except ValueError as error:
        raise BadInput("The form holds too many fields.") from error


def inside(target: str) -> str:
    """A path of this site to return to, or the first page."""
    odd = "\\" in target or any(ord(char) < 33 for char in target) or len(target) > 4096
    return target if target.startswith("/") and not target.startswith("//") and not odd else "/"
