"""The agents, and what each of them promises."""

from importlib import import_module

import pytest

from rlx.agents.registry import AGENTS, AgentEntry, agent, agents
from rlx.errors import NotFound


def test_every_agent_has_a_name_of_its_own() -> None:
    names = [entry.name for entry in agents()]
    assert sorted(set(names)) == sorted(names)
    assert {"oracle", "nop", "simple", "terminus-2"} <= set(names)


def test_an_unknown_agent_is_not_found() -> None:
    with pytest.raises(NotFound, match="nobody"):
        agent("nobody")


@pytest.mark.run_extra
@pytest.mark.parametrize("entry", AGENTS, ids=lambda entry: entry.name)
def test_an_agent_keeps_the_contract(entry: AgentEntry) -> None:
    from harbor.agents.base import BaseAgent
    from harbor.models.agent.name import AgentName

    if entry.target is None:
        assert entry.name in {name.value for name in AgentName}
    else:
        module, _, attribute = entry.target.partition(":")
        found = getattr(import_module(module), attribute)
        assert issubclass(found, BaseAgent)
        assert found.name() == entry.name
    assert not (entry.needs_model and entry.needs_solution)
    told = " ".join(value for value in entry.options.values() if isinstance(value, str))
    told_by_openenv = entry.target is None or entry.installed is not None
    assert told_by_openenv or not entry.needs_model or ("{base_url}" in told and "{key}" in told)
