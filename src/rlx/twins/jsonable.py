"""The contract's data as plain JSON values, with words of ours said in one language."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from rlx.answers.shown import Json, ShownJson
from rlx.ids import EnvKey
from rlx.model import Viewer
from rlx.texts import DEFAULT, Say, words

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def to_json(value: object, language: str = DEFAULT) -> Json:
    """Dataclasses and named tuples become objects, `Say` its words, a key its spelling, a time ISO 8601.

    Bytes and what is not a finite number become null. Raises `TypeError` for anything the contract does not know, and
    for a `Viewer`, which holds a token.
    """
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return str(value)
        case bytes():
            return None
        case Say():
            return words(value, language)
        case ShownJson():
            return value.value
        case EnvKey():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            return {str(key): to_json(item, language) for key, item in value.items()}
        case _ if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return to_json(value._asdict(), language)
        case tuple() | list():
            return [to_json(item, language) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type | Viewer):
            return object_json(value, language)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON twin.")


def object_json(value: "DataclassInstance", language: str = DEFAULT) -> dict[str, Json]:
    """A dataclass as an object of its fields, but for those whose metadata says that they are not told."""
    told = (field for field in fields(value) if field.metadata.get("told", True))
    return {field.name: to_json(getattr(value, field.name), language) for field in told}
