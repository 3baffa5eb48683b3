"""What the agent wakes up in: image or Dockerfile, folder, user, network, resources, services, tools."""

from collections.abc import Iterator, Mapping

from rlx.answers import Masked, name
from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE, Facts
from rlx.formats.harbor.missing import grader_image
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.running import Subject
from rlx.formats.harbor.schema import ALLOWLIST, NO_NETWORK, PUBLIC, Healthcheck, Network, Surroundings
from rlx.model import Block, Code, Disclose, KeyValues, Note, Row, Text
from rlx.texts import Say, say


def environment_blocks(subject: Subject, texts: Mapping[str, Masked]) -> tuple[Block, ...]:
    environment = subject.settings.environment
    if not environment.image and not any(path.startswith("environment/") for path in subject.paths):
        return (Note(say("harbor.env.nothing")),)
    rows = [*_origin(subject), *_place(subject)]
    if not subject.facts.problem:
        rows += [*_network(subject), *_resources(environment), *_tools(subject)]
    blocks: list[Block] = [KeyValues(tuple(rows))]
    blocks += [Note(text, "warn") for text in _conflicts(subject)]
    blocks += [
        Code(texts[path].text, name(path), masked=texts[path].masked) for path in (DOCKERFILE, COMPOSE) if path in texts
    ]
    return (*blocks, *_grader(subject, texts))


def network_said(network: Network) -> Say:
    """A network in words."""
    if network.mode == ALLOWLIST:
        return say("harbor.network.allowlist", hosts=", ".join(network.hosts) or "-")
    known = {PUBLIC: "open", NO_NETWORK: "none"}
    return (
        say(f"harbor.network.{known[network.mode]}")
        if network.mode in known
        else say("harbor.network.word", mode=network.mode)
    )


def _origin(subject: Subject) -> Iterator[Row]:
    image, file = subject.settings.environment.image, subject.facts.dockerfile
    if image:
        yield Row(say("harbor.env.image"), name(image), code=True)
    if COMPOSE in subject.paths:
        services = tuple(name(service) for service in subject.facts.services)
        yield Row(say("harbor.env.services"), services or say("harbor.env.unread"), note=name(COMPOSE))
    if file and file.base:
        where = say("harbor.env.line", path=DOCKERFILE, line=file.line or 1)
        yield Row(say("harbor.env.base"), name(file.base), note=where, code=True)
    elif DOCKERFILE in subject.paths:
        yield Row(say("harbor.env.base"), say("harbor.env.unread"), note=name(DOCKERFILE))
    elif not image and COMPOSE not in subject.paths:
        yield Row(say("harbor.env.image"), say("harbor.env.nothing"))
    loose = [path for path in subject.paths if path.startswith("environment/")]
    if image and loose and not {DOCKERFILE, COMPOSE}.intersection(subject.paths):
        yield Row(say("harbor.env.uploads"), say("harbor.env.uploaded", n=len(loose)))
    if "trajectory.json" in subject.paths:
        yield Row(say("harbor.env.prior"), say("harbor.env.prior_told"), note=name("trajectory.json"))


def _place(subject: Subject) -> Iterator[Row]:
    settings, file = subject.settings, subject.facts.dockerfile
    if settings.environment.workdir:
        yield Row(say("harbor.env.folder"), name(settings.environment.workdir), note=name("task.toml"), code=True)
    elif file and file.workdir:
        yield Row(say("harbor.env.folder"), name(file.workdir), note=name(DOCKERFILE), code=True)
    user, source = settings.agent.user, "task.toml"
    if user is None and file and file.user:
        user, source = file.user, DOCKERFILE
    if user:
        yield Row(say("harbor.env.user"), name(user), note=name(source), code=True)
    elif not subject.facts.problem:
        yield Row(say("harbor.env.user"), say("harbor.env.image_user"))


def _network(subject: Subject) -> Iterator[Row]:
    networks = subject.settings.networks
    if len({(network.mode, network.hosts) for _, network in networks}) == 1:
        said = subject.settings.environment.network_said
        note = None if said else say("harbor.config.absent")
        yield Row(say("harbor.env.network"), say("harbor.network.every", how=network_said(networks[0][1])), note=note)
        return
    lines = tuple(say("harbor.network.phase", where=where, how=network_said(network)) for where, network in networks)
    yield Row(say("harbor.env.network"), lines)


def _resources(environment: Surroundings) -> Iterator[Row]:
    if environment.os != "linux":
        yield Row(say("harbor.env.os"), name(environment.os))
    if environment.cpus is not None:
        yield Row(say("harbor.env.cpus"), name(f"{environment.cpus:g}"))
    sizes = (("memory", environment.memory_mb), ("storage", environment.storage_mb))
    for label, size in sizes:
        if size is not None:
            yield Row(say(f"harbor.env.{label}"), say("harbor.size", n=int(size)))
    if environment.gpus:
        kinds: Text | None = name(", ".join(environment.gpu_types)) if environment.gpu_types else None
        yield Row(say("harbor.env.gpus"), name(f"{environment.gpus:g}"), note=kinds)
    if environment.tpu:
        yield Row(say("harbor.env.tpu"), name(environment.tpu))
    yield Row(say("harbor.env.build"), duration(environment.build_timeout))


def _tools(subject: Subject) -> Iterator[Row]:
    environment = subject.settings.environment
    for server in environment.mcp_servers:
        yield Row(say("harbor.env.mcp", name=server.name), name(server.target), note=name(server.transport), code=True)
    if environment.skills_dir:
        parts = [path.split("/") for path in subject.paths if path.endswith("/SKILL.md")]
        found = tuple(name(part[-2]) for part in parts if len(part) > 1)
        yield Row(say("harbor.env.skills"), found or name(environment.skills_dir), note=name(environment.skills_dir))
    if environment.healthcheck:
        yield healthcheck_row(environment.healthcheck)
    if environment.env:
        values = tuple(name(f"{key}={value}"[:300]) for key, value in environment.env.items())
        yield Row(say("harbor.env.variables"), values, code=True)


def healthcheck_row(check: Healthcheck) -> Row:
    how = say("harbor.env.health_how", every=duration(check.interval), n=int(check.retries))
    return Row(say("harbor.env.health"), name(check.command), note=how, code=True)


def _conflicts(subject: Subject) -> Iterator[Say]:
    image = subject.settings.environment.image
    if image and COMPOSE in subject.paths:
        yield say("harbor.env.image_and_compose")
    elif image and DOCKERFILE in subject.paths:
        yield say("harbor.env.image_and_file")


def _grader(subject: Subject, texts: Mapping[str, Masked]) -> Iterator[Block]:
    """The environment of a grader that has its own."""
    settings = subject.settings
    if not settings.separate():
        return
    own, image = settings.verifier.environment, grader_image(settings, subject.paths)
    rows = [Row(say("harbor.env.made_from"), _made_from(image, subject.facts), code=bool(image))]
    if own:
        rows += [Row(say("harbor.env.network"), network_said(own.network)), *_resources(own)]
    blocks: list[Block] = [KeyValues(tuple(rows))]
    if image and image in texts:
        blocks.append(Code(texts[image].text, name(image), masked=texts[image].masked))
    yield Disclose(say("harbor.env.grader"), tuple(blocks))


def _made_from(image: str | None, facts: Facts) -> Text:
    if image is None:
        return say("harbor.env.copy")
    if image == "tests/Dockerfile" and facts.grader_base:
        return name(f"{image}: {facts.grader_base}")
    return name(image)
