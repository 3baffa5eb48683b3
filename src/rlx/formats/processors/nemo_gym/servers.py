"""Which agent and which resources server a row is for, by the table of the framework, and how that is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rlx.answers import MARK, Json
from rlx.formats.frameworks import NeMoAgent, NeMoServer, table
from rlx.formats.processors.prompts.cells import opened
from rlx.texts import Say, say

_FEW: Final = 3
_COVERED: Final = 0.6
"""Part of a row's columns that a server must read to be taken for the one that does."""
_SIMPLE: Final = "simple_agent"
"""The loop that leaves verifying to a resources server."""


@dataclass(frozen=True, slots=True)
class Known:
    """Who plays and who verifies, as far as that is known."""

    named: str | None
    """What the row itself names: an agent, or the configuration it comes from."""
    agent: NeMoAgent | None
    server: NeMoServer | None
    how: Say


def named_in(row: Mapping[str, Json]) -> str | None:
    """What a row says of where it goes: its `agent_ref`, else its `task_source`."""
    ref: Any = opened(row.get("agent_ref"))
    for value in (ref.get("name") if isinstance(ref, dict) else ref, row.get("task_source")):
        if isinstance(value, str) and value.strip() and value != MARK and len(value) < 200 and "{" not in value:
            return value.strip()
    return None


@lru_cache(512)
def known(named: str | None, repo: str, columns: frozenset[str]) -> Known:
    """`repo` is `org/name`. What the row names is surest; then what configurations name, names alike, columns."""
    told = table("nemo_gym")
    if named is not None and named in told.agents:
        agent = told.agents[named]
        if agent.server or agent.kind != _SIMPLE:
            return Known(named, agent, told.servers.get(agent.server), say("nemo.how.agent", name=named))
        other = known(None, repo, columns)
        return Known(named, agent if other.agent is None else other.agent, other.server, other.how)
    if named is not None and named in told.servers:
        return Known(named, _agent_of(named), told.servers[named], say("nemo.how.source", name=named))
    listed = told.datasets.get(repo, ())
    servers = {told.agents[name].server for name in listed}
    if len(servers) == 1 and (server := next(iter(servers))):
        return Known(named, _agent_of(server), told.servers[server], say("nemo.how.dataset", name=server))
    like = _like(named) if named else None
    if like:
        return Known(named, None, told.servers[like], say("nemo.how.like", name=named or "", server=like))
    return _by_names(named, repo.rpartition("/")[2].lower()) or _by_columns(named, columns)


def _agent_of(server: str) -> NeMoAgent | None:
    """The agent that the server's own configuration declares."""
    told = table("nemo_gym")
    config = told.servers[server].config
    kind, _, flavour = config.partition("/")
    path = f"resources_servers/{kind}/configs/{flavour or kind}.yaml"
    found = [agent for agent in told.agents.values() if agent.server == server]
    found.sort(key=lambda agent: (agent.config != path, agent.kind != _SIMPLE, agent.name))
    return found[0] if found else None


def _like(named: str) -> str | None:
    """The server after which an agent is called, which a later release may have: the longest name it begins with."""
    fitting = [name for name in table("nemo_gym").servers if named == name or named.startswith(f"{name}_")]
    return max(fitting, key=len, default=None)


def _by_names(named: str | None, repo: str) -> Known | None:
    """A repository that is called after a server or a kind of agent."""
    told = table("nemo_gym")
    ends = [name for name in told.servers if repo == name or repo.endswith((f"-{name}", f"_{name}"))]
    loops = [name for name in told.loops if repo == name or repo.endswith(f"-{name}")]
    server, loop = max(ends, key=len, default=None), max(loops, key=len, default=None)
    if server is not None and len(server) >= len(loop or ""):
        return Known(named, _agent_of(server), told.servers[server], say("nemo.how.name", name=server))
    if loop is not None:
        found = [agent for agent in told.agents.values() if agent.kind == loop]
        usual = [agent for agent in found if agent.config.startswith(f"responses_api_agents/{loop}/")]
        servers = {agent.server for agent in found}
        verifier = told.servers.get(next(iter(servers))) if len(servers) == 1 else None
        return Known(named, usual[0] if len(usual) == 1 else None, verifier, say("nemo.how.loop", name=loop))
    return None


def _by_columns(named: str | None, columns: frozenset[str]) -> Known:
    best: tuple[float, str] | None = None
    for name, server in table("nemo_gym").servers.items():
        read = columns & {*server.verify, *server.prompt, *server.beside}
        if len(read) >= _FEW and len(read) / len(columns) >= _COVERED and not columns.isdisjoint(server.verify):
            best = max(best or (0.0, ""), (len(read) / len(columns), name))
    if best is None:
        return Known(named, None, None, say("nemo.how.named" if named else "nemo.how.none", name=named or ""))
    found = table("nemo_gym").servers[best[1]]
    return Known(named, _agent_of(best[1]), found, say("nemo.how.columns", name=best[1]))
