"""`rlx models`."""

import json

import pytest

from rlx.cli.app import run
from rlx.demo import demo_hub
from rlx.localhub import serve


def test_models_are_listed_with_what_each_provider_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "ls", "thrifty", "--tools", "--sort", "price", "--demo", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [model["id"] for model in told] == ["scripted/solve", "scripted/wrong"]
    assert (told[0]["cheapest"], told[0]["dollars_in"], told[0]["dollars_out"]) == ("thrifty", 0.2, 0.6)
    assert run(["models", "ls", "--demo", "--format", "quiet"]) == 0
    assert "scripted/solve-unpriced" in capsys.readouterr().out.split()


def test_an_endpoint_is_tried_in_words_and_by_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_MODEL_KEY", "sk-RLXCANARYkey")
    with serve(demo_hub()) as hub:
        assert run(["models", "test", f"{hub.url}/v1", "--format", "quiet"]) == 0
        assert "scripted/solve" in capsys.readouterr().out.split()
        assert run(["models", "test", f"{hub.url}/v1", "--model", "scripted/solve"]) == 0
        told = capsys.readouterr()
        assert told.out.splitlines()[1].split("\t")[0] == "tools"
        assert "calls tools as it should" in told.err
        assert run(["models", "test", f"{hub.url}/v1", "--model", "none", "--format", "json"]) == 1
        assert json.loads(capsys.readouterr().out)[0]["verdict"] == "unknown-model"
    assert run(["models", "test", "ftp://host", "--model", "m"]) == 2
    assert "CANARY" not in capsys.readouterr().err
