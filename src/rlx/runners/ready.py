"""What agents want before they can work in a sandbox, told before anything runs."""

from typing import Final

from rlx.agents.registry import AgentEntry
from rlx.model import AgentNeed
from rlx.sandboxes.local.installed.layer import COMMAND, prepared
from rlx.sandboxes.local.installed.recipes import recipes
from rlx.sandboxes.local.layers import LayerStore
from rlx.texts import Say, say

PROTOCOLS: Final = {
    "chat": "OpenAI Chat Completions",
    "responses": "OpenAI Responses",
    "anthropic": "Anthropic Messages",
    "google": "Google generateContent",
}


def need(entry: AgentEntry, sandbox: str, layers: LayerStore, *, network: bool, reachable: bool) -> AgentNeed | None:
    """Of an agent that works inside of its sandbox; None for others, which want nothing of it.

    `network`: the task has one. `reachable`: sandboxes elsewhere find this instance by a public address. Blocks for
    moments.
    """
    if entry.installed is None:
        return None
    speaks = say("installed.speaks", protocol=PROTOCOLS[entry.protocol])
    if sandbox != "local":
        reason = _elsewhere(network=network, reachable=reachable)
        return AgentNeed(entry.name, reason, (say("installed.anew", source=entry.installed), speaks))
    recipe = recipes().get(entry.name)
    if recipe is None:
        return AgentNeed(entry.name, say("installed.unpinned"), (speaks,))
    wants = (
        say("installed.layer", version=recipe.version, disk=recipe.megabytes, memory=recipe.memory_mb),
        say("installed.forwarded"),
        speaks,
    )
    if recipe.lacking:
        return AgentNeed(entry.name, say("installed.no_files", projects=", ".join(recipe.lacking[:3])), wants)
    if prepared(layers, entry.name) is None:
        told = say("installed.unprepared", n=recipe.fetched, command=f"{COMMAND} {entry.name}")
        return AgentNeed(entry.name, told, wants)
    return AgentNeed(entry.name, None, wants)


def _elsewhere(*, network: bool, reachable: bool) -> Say | None:
    if not network:
        return say("installed.no_network")
    return None if reachable else say("installed.unreachable")
