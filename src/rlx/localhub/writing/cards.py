"""What is wrong with the front matter of a README, as the Hub tells it before it takes one."""

import yaml

from rlx.localhub.cards import FRONT_MATTER, MAX_FRONT_MATTER, Card, parse_card

_LISTS = ("tags", "language", "task_categories", "size_categories", "configs")


def validate(content: str) -> dict[str, list[dict[str, str]]]:
    """`errors` that refuse it, and `warnings`."""
    found = FRONT_MATTER.match(content.removeprefix("\ufeff"))
    if not found:
        return _told(warnings=["empty or missing yaml metadata in repo card"])
    front = found[1]
    if len(front) > MAX_FRONT_MATTER:
        return _told([f"The metadata is longer than {MAX_FRONT_MATTER:,} characters."])
    try:
        loaded = yaml.load(front, Loader=yaml.CBaseLoader)  # noqa: S506  builds texts, lists and mappings alone
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" in line {line + 1} of the metadata"
        return _told([f"{getattr(error, 'problem', None) or 'bad YAML'}{where}"])
    except (ValueError, RecursionError):
        return _told(["The metadata cannot be read."])
    if loaded in (None, ""):
        return _told(warnings=["empty or missing yaml metadata in repo card"])
    if not isinstance(loaded, dict):
        return _told(["The metadata is not a mapping."])
    return _told(_wrong(parse_card(content)))


def _wrong(card: Card) -> list[str]:
    if not card.data:
        return ["The metadata cannot be read."]
    wrong = [f'"{key}" must be a list' for key in _LISTS if isinstance(card.data.get(key), dict)]
    tags = card.data.get("tags")
    if isinstance(tags, list) and not all(isinstance(tag, str) for tag in tags):
        wrong.append('"tags" must be a list of strings')
    return wrong


def _told(errors: list[str] | None = None, *, warnings: list[str] | None = None) -> dict[str, list[dict[str, str]]]:
    return {
        "errors": [{"message": each} for each in errors or []],
        "warnings": [{"message": each} for each in warnings or []],
    }
