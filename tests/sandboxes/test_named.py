"""Harbor's other environments, by name."""

import os
from importlib import import_module

import pytest

from rlx.errors import BadInput, NotFound
from rlx.jobs.worker_process import scrub_environment
from rlx.sandboxes.base import Impossible, Possible, SandboxSpec
from rlx.sandboxes.named import Named, Needs, environments, variables_of
from rlx.sandboxes.registry import sandbox_kind
from rlx.settings import Settings
from rlx.texts import words


@pytest.mark.run_extra
def test_the_table_has_all_of_harbors_environments() -> None:
    known = {each.value for each in import_module("harbor.models.environment_type").EnvironmentType}
    assert set(environments()) == known - {"docker", "hf-sandbox"}


def test_one_that_is_not_switched_on_says_what_it_needs() -> None:
    found = sandbox_kind("e2b", Settings()).can_run()
    assert isinstance(found, Impossible)
    assert "not switched on" in words(found.why)
    assert found.hint is not None


@pytest.mark.parametrize(
    ("needs", "why"),
    [
        (Needs(module="no_such_module", extra="it"), "harbor[it]"),
        (Needs(program="no-such-program"), "no-such-program"),
        (Needs((("RLX_TEST_NO_KEY",), ("RLX_TEST_A", "RLX_TEST_B"))), "RLX_TEST_NO_KEY / RLX_TEST_A + RLX_TEST_B"),
    ],
)
def test_what_is_not_here_is_named(needs: Needs, why: str) -> None:
    found = Named("it", needs, is_allowed=True).can_run()
    assert isinstance(found, Impossible)
    assert why in words(found.why)


def test_one_whose_needs_are_met_may_run() -> None:
    here = next(name for name in os.environ if name.isupper())
    kind = Named("it", Needs((("RLX_TEST_NO_KEY",), (here,)), program="sh", module="json"), is_allowed=True)
    assert isinstance(kind.can_run(), Possible)
    with pytest.raises(BadInput, match="made by Harbor"):
        kind.make(SandboxSpec())


def test_an_unknown_name_is_not_found() -> None:
    with pytest.raises(NotFound, match="nowhere"):
        sandbox_kind("nowhere", Settings())


def test_a_worker_keeps_the_variables_of_those_that_are_switched_on_alone() -> None:
    environment = {"E2B_API_KEY": "a", "DAYTONA_API_KEY": "b", "HF_TOKEN": "c", "PATH": "/bin"}
    scrub_environment(environment, variables_of(("e2b", "unknown")))
    assert environment["E2B_API_KEY"] == "a"
    assert not {"DAYTONA_API_KEY", "HF_TOKEN"} & set(environment)
