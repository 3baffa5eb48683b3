"""What others are told of a rollout."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.rollout import Event, Failure, ModelUse, StepScore
from rlx.store.rollouts.public import Scrub, public, public_event
from tests.store.rollouts.scene import Clock, record

HOST = "llm.ann-home.example:8443"


def test_an_owner_and_the_host_of_their_endpoint_are_nowhere_in_what_others_see() -> None:
    rollout = record(
        Clock(),
        owner="ann-doe",
        model=ModelUse(id="ann-doe/tiny", provider="endpoint", host=HOST),
        fields={"note": f"see http://{HOST}/v1", "ann-doe": 1},
        failure=Failure(
            cause="model", kind="x", message=f"POST https://{HOST}/v1 failed: llm.ann-home.example is down"
        ),
        steps=(StepScore(name="one", error="ann-doe broke it"),),
        notes=("by ann-doe",),
        judge=ModelUse(id="ann-doe/judge", provider="endpoint", host="judge.ann-home.example"),
    )
    told = public(rollout).model_dump_json()
    for private in ("ann-doe", "Ann-Doe", "llm.ann-home.example", "judge.ann-home.example", "8443"):
        assert private not in told
    assert public(rollout).model_copy(update={"owner": None}) == public(rollout)
    event = Event(n=1, at=rollout.created_at, kind="log", data={"text": HOST, "items": [{"path": "/root/ann-doe/x"}]})
    assert public_event(event, rollout).data == {"text": "‹withheld›", "items": [{"path": "‹path›"}]}


def test_a_provider_that_everybody_knows_keeps_its_host() -> None:
    model = ModelUse(id="org/model", provider="together", host="api.together.example")
    assert public(record(Clock(), owner="ann", model=model)).model == model


@pytest.mark.parametrize(
    "secret",
    [
        "hf_abcdefghijklmnop",
        "sk-proj-abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrst",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc-def",
        "user:p4ssword",
    ],
)
def test_a_secret_in_any_text_is_taken_out(secret: str) -> None:
    text = f"curl -H 'Authorization: Bearer {secret}' https://{secret}@host/x"
    assert secret not in Scrub().text(text)


@pytest.mark.parametrize("text", ["/home/ann/.ssh/id", "at /root/x.py:3", "'/Users/ann/a b'", "/home/ann"])
def test_a_path_of_somebodys_home_is_taken_out(text: str) -> None:
    told = Scrub().text(text)
    assert "ann" not in told.replace(" b'", "")
    assert "/root" not in told


@pytest.mark.parametrize("text", ["/app/root/x", "/tests/test.sh", "task-1", "sk-1", "an annual plan", "home/run"])
def test_what_tells_nothing_of_anybody_stays(text: str) -> None:
    assert Scrub("ann", "al").text(text) == text


@given(name=st.text("abcdé-_.", min_size=3, max_size=12), text=st.text("0123456789 ,:/\n", max_size=60))
def test_any_name_is_taken_out_of_any_text(name: str, text: str) -> None:
    assert name not in Scrub(name).text(f"{text} {name} {text}")
    assert name.upper() not in Scrub(name).text(f"({name.upper()})")
