"""What a `task.toml` says, as Harbor reads it, from a table of any shape.

Unknown keys are kept as the dataset's own; legacy keys are converted as Harbor converts them; what is odd is noted.
"""

import re
from collections.abc import Mapping

from rlx.formats.harbor.schema import (
    ALLOWLIST,
    NO_NETWORK,
    PUBLIC,
    Agent,
    Artifact,
    Collect,
    Healthcheck,
    McpServer,
    Network,
    Package,
    Step,
    Surroundings,
    TaskSettings,
    Verifier,
)
from rlx.formats.harbor.table import Table, as_number
from rlx.texts import say

_SIZE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([GMK])\s*", re.IGNORECASE)
_TO_MB = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}


def read_settings(values: Mapping[str, object]) -> TaskSettings:
    top = Table(values)
    own: dict[str, object] = {}
    schema = top.text("schema_version") or top.text("version")
    package = _package(top.table("task"), own)
    metadata = top.table("metadata")
    environment = _surroundings(top.table("environment"), own)
    agent = _agent(top.table("agent"), own)
    verifier = _verifier(top.table("verifier"), own)
    solution = top.table("solution")
    steps = tuple(_step(table, own) for table in top.tables("steps"))
    strategy = top.text("multi_step_reward_strategy") or "mean"
    if strategy not in ("mean", "final"):
        top.note("multi_step_reward_strategy", say("harbor.odd.word"))
    return TaskSettings(
        schema=schema,
        source=top.text("source"),
        package=package,
        metadata=metadata.values if metadata else {},
        environment=environment,
        agent=agent,
        verifier=verifier,
        solution_env=solution.pairs("env") if solution else {},
        steps=steps,
        reward_strategy=strategy,
        artifacts=_artifacts(top),
        own={**top.rest(), **own},
        odd=tuple(top.odd),
    )


def _package(table: Table | None, own: dict[str, object]) -> Package | None:
    if table is None:
        return None
    authors = table.get("authors")
    names = []
    for author in authors if isinstance(authors, list) else ():
        name = author.get("name") if isinstance(author, Mapping) else author
        if isinstance(name, str):
            names.append(name)
        if not isinstance(author, Mapping):
            table.note("authors", say("harbor.odd.author"))
    package = Package(
        name=table.text("name"),
        version=table.text("version"),
        description=table.text("description"),
        authors=tuple(names),
        keywords=table.texts("keywords"),
    )
    _keep(table, own)
    return package


def _surroundings(table: Table | None, own: dict[str, object]) -> Surroundings:
    if table is None:
        return Surroundings()
    network, said = _baseline(table)
    tpu = table.table("tpu")
    words = [tpu.text("type"), tpu.text("topology")] if tpu else []
    found = Surroundings(
        image=table.text("docker_image"),
        os=(table.text("os") or "linux").lower(),
        cpus=table.number("cpus"),
        memory_mb=_megabytes(table, "memory_mb", "memory"),
        storage_mb=_megabytes(table, "storage_mb", "storage"),
        gpus=table.number("gpus"),
        gpu_types=table.texts("gpu_types"),
        tpu=" ".join(word for word in words if word) or None,
        network=network,
        network_said=said,
        env=table.pairs("env"),
        workdir=table.text("workdir"),
        skills_dir=table.text("skills_dir"),
        healthcheck=_healthcheck(table.table("healthcheck")),
        mcp_servers=tuple(_mcp_server(server) for server in table.tables("mcp_servers")),
        build_timeout=_or(table.number("build_timeout_sec"), 600.0),
    )
    _keep(table, own)
    return found


def _baseline(table: Table) -> tuple[Network, bool]:
    """The network of an environment, and whether the file says it. The legacy switch yields to the newer keys."""
    mode, legacy, hosts = table.text("network_mode"), table.flag("allow_internet"), table.texts("allowed_hosts")
    if mode is not None:
        _check_mode(table, mode, hosts)
        if legacy is not None and legacy != (mode != NO_NETWORK):
            table.note("allow_internet", say("harbor.odd.internet", mode=mode))
        return Network(mode, hosts), True
    if hosts:
        table.note("allowed_hosts", say("harbor.odd.hosts"))
        return Network(PUBLIC, hosts), True
    if legacy is not None:
        return Network(PUBLIC if legacy else NO_NETWORK), True
    return Network(PUBLIC), False


def _phase(table: Table) -> Network | None:
    mode, hosts = table.text("network_mode"), table.texts("allowed_hosts")
    if mode is None:
        if hosts:
            table.note("allowed_hosts", say("harbor.odd.hosts"))
        return None
    _check_mode(table, mode, hosts)
    return Network(mode, hosts)


def _check_mode(table: Table, mode: str, hosts: tuple[str, ...]) -> None:
    if mode not in (PUBLIC, NO_NETWORK, ALLOWLIST):
        table.note("network_mode", say("harbor.odd.word"))
    elif hosts and mode != ALLOWLIST:
        table.note("allowed_hosts", say("harbor.odd.hosts"))


def _megabytes(table: Table, key: str, legacy: str) -> float | None:
    """Megabytes from the newer key, else from a legacy size such as `4G`."""
    value, old = table.number(key), table.get(legacy)
    if old is None:
        return value
    found = _SIZE.fullmatch(old) if isinstance(old, str) else None
    if found is None:
        table.note(legacy, say("harbor.odd.size"))
        return value
    size = float(int(float(found[1]) * _TO_MB[found[2].upper()]))
    if value is not None and value != size:
        table.note(legacy, say("harbor.odd.sizes", key=key))
    return size if value is None else value


def _healthcheck(table: Table | None) -> Healthcheck | None:
    if table is None:
        return None
    command = table.text("command")
    if command is None:
        table.note("command", say("harbor.odd.missing"))
    return Healthcheck(
        command=command or "",
        interval=_or(table.number("interval_sec"), 5.0),
        timeout=_or(table.number("timeout_sec"), 30.0),
        start_period=_or(table.number("start_period_sec"), 0.0),
        retries=_or(table.number("retries"), 3),
    )


def _mcp_server(table: Table) -> McpServer:
    transport = table.text("transport") or "sse"
    command = [table.text("command") or "", *table.texts("args")]
    url = table.text("url")
    return McpServer(
        name=table.text("name") or "",
        transport="streamable-http" if transport == "http" else transport,
        target=url or " ".join(part for part in command if part),
    )


def _agent(table: Table | None, own: dict[str, object]) -> Agent:
    if table is None:
        return Agent()
    found = Agent(timeout=table.number("timeout_sec"), user=_user(table), network=_phase(table))
    _keep(table, own)
    return found


def _verifier(table: Table | None, own: dict[str, object]) -> Verifier:
    if table is None:
        return Verifier()
    inner = table.table("environment")
    mode = table.text("environment_mode")
    if mode == "shared" and inner:
        table.note("environment_mode", say("harbor.odd.shared"))
    elif mode not in (None, "shared", "separate"):
        table.note("environment_mode", say("harbor.odd.word"))
    collect = tuple(
        Collect(hook.text("command") or "", hook.text("service") or "main") for hook in table.tables("collect")
    )
    found = Verifier(
        timeout=_or(table.number("timeout_sec"), 600.0),
        user=_user(table),
        network=_phase(table),
        env=table.pairs("env"),
        mode=mode or ("separate" if inner else None),
        environment=_surroundings(inner, own) if inner else None,
        collect=collect,
    )
    _keep(table, own)
    return found


def _step(table: Table, own: dict[str, object]) -> Step:
    least = table.get("min_reward")
    gates = least if isinstance(least, Mapping) else {} if least is None else {"reward": least}
    numbers = {str(key): as_number(value) for key, value in gates.items()}
    if None in numbers.values():
        table.note("min_reward", say("harbor.odd.number"))
    step = Step(
        name=table.text("name") or "",
        agent=_agent(table.table("agent"), own),
        verifier=_verifier(table.table("verifier"), own),
        min_reward={key: value for key, value in numbers.items() if value is not None},
        healthcheck=_healthcheck(table.table("healthcheck")),
        artifacts=_artifacts(table),
    )
    if "instruction" in table.values:
        table.note("instruction", say("harbor.odd.inline"))
        table.asked.add("instruction")
    _keep(table, own)
    return step


def _artifacts(table: Table) -> tuple[Artifact, ...]:
    found = []
    value = table.get("artifacts")
    for item in value if isinstance(value, list) else ():
        if isinstance(item, str):
            found.append(Artifact(item))
        elif isinstance(item, Mapping):
            inner = Table(item, table.at("artifacts"), table.odd)
            found.append(Artifact(inner.text("source") or "", inner.text("destination"), inner.text("service")))
    if value is not None and (not isinstance(value, list) or len(found) < len(value)):
        table.note("artifacts", say("harbor.odd.texts"))
    return tuple(found)


def _user(table: Table) -> str | None:
    value = table.get("user")
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    table.note("user", say("harbor.odd.text"))
    return None


def _keep(table: Table, own: dict[str, object]) -> None:
    own.update({table.at(key): value for key, value in table.rest().items()})


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
