"""The list of the router, whatever it holds, and what is picked from it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.runners.models.pool import PoolModel, Price, in_order, parse_models, pick, search


def provider(name: str, into: float | None = None, out: float | None = None, **more: Any) -> dict[str, Any]:
    priced = {} if into is None else {"pricing": {"input": into, "output": out}}
    return {"provider": name, "status": "live", **priced, **more}


TOLD = {
    "object": "list",
    "data": [
        {
            "id": "Qwen/Qwen3-8B",
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "providers": [
                provider("swift", 0.5, 2.0, supports_tools=True, context_length=40_000),
                provider("thrifty", 0.1, 0.3, supports_tools=False, context_length=32_000),
                provider("away", 0.01, 0.01) | {"status": "error"},
            ],
        },
        {"id": "org/untold", "providers": [provider("swift"), provider("thrifty", 1.0, 1.0)]},
        {"id": "org/one", "providers": [provider("swift", 3.0, 4.0, supports_tools=True)]},
        {"id": "org/nobody", "providers": [provider("away") | {"status": "error"}]},
        {"id": "../etc/passwd", "providers": [provider("swift")]},
        {"id": "org/odd", "providers": [provider("fastest"), provider("a b"), 5]},
        "text",
    ],
}
MODELS = parse_models(TOLD)


def test_only_models_that_somebody_serves_now_are_listed_and_what_is_not_told_is_unknown() -> None:
    assert [model.id for model in MODELS] == ["Qwen/Qwen3-8B", "org/untold", "org/one"]
    first, untold, _ = MODELS
    assert [each.name for each in first.live] == ["swift", "thrifty"]
    assert (first.tools, first.context, first.inputs) == (True, 40_000, ("text", "image"))
    assert (untold.tools, untold.context, untold.live[0].price) == (None, None, None)


@pytest.mark.parametrize(
    ("asked", "name", "price"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B:fastest", Price(0.5, 2.0, at_most=True)),
        ("qwen/qwen3-8b:fastest", "Qwen/Qwen3-8B:fastest", Price(0.5, 2.0, at_most=True)),
        ("Qwen/Qwen3-8B:preferred", "Qwen/Qwen3-8B:preferred", Price(0.5, 2.0, at_most=True)),
        ("Qwen/Qwen3-8B:cheapest", "Qwen/Qwen3-8B:cheapest", Price(0.1, 0.3)),
        ("Qwen/Qwen3-8B:swift", "Qwen/Qwen3-8B:swift", Price(0.5, 2.0)),
        ("org/one", "org/one:fastest", Price(3.0, 4.0)),
        ("org/untold", "org/untold:fastest", None),
        ("org/untold:swift", "org/untold:swift", None),
        ("org/untold:cheapest", "org/untold:cheapest", Price(1.0, 1.0)),
    ],
)
def test_who_is_to_answer_gives_the_price_and_one_of_several_the_highest(
    asked: str, name: str, price: Price | None
) -> None:
    picked = pick(MODELS, asked)
    assert (picked.name, picked.price) == (name, price)


@pytest.mark.parametrize(
    ("asked", "told"),
    [("Qwen/Qwen", "Did you mean"), ("x/none-such", "models ls"), ("Qwen/Qwen3-8B:away", "swift, thrifty")],
)
def test_what_there_is_not_is_refused_with_what_there_is(asked: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        pick(MODELS, asked)
    assert told in f"{refused.value.message} {refused.value.hint}"


def test_models_are_found_by_words_of_their_names_and_providers_and_put_in_order() -> None:
    assert [model.id for model in search(MODELS, "QWEN swift")] == ["Qwen/Qwen3-8B"]
    assert [model.id for model in search(MODELS, "org", tools=True)] == ["org/one"]
    assert [model.id for model in in_order(MODELS, "price")] == ["Qwen/Qwen3-8B", "org/untold", "org/one"]
    assert next(model.id for model in in_order(MODELS, "context")) == "Qwen/Qwen3-8B"
    assert [model.id for model in in_order(MODELS, "name")] == ["org/one", "org/untold", "Qwen/Qwen3-8B"]
    assert in_order([*MODELS, PoolModel("z/z", ())], "price")[-1].id == "z/z"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("id", "data", "providers", "provider", "pricing", "input", "status")), inner)
    ),
)


@given(_JSON)
def test_no_list_makes_it_stumble(told: object) -> None:
    for model in (*parse_models(told), *parse_models({"data": told}), *parse_models({"data": [told]})):
        assert model.live
