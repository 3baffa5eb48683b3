"""NeMo Gym: its resources servers and what of a row each reads, and the agents that its configurations name."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rlx.errors import BadInput
from rlx.formats.frameworks.packages import Package, classes, sentence

PACKAGE = "nemo-gym"
_CONFIGS: Final = (
    "resources_servers/*/configs/*.yaml",
    "environments/*/config.yaml",
    "benchmarks/*/*.yaml",
    "benchmarks/*/configs/*.yaml",
    "responses_api_agents/**/configs/*.yaml",
)
"""In the order in which they are believed."""
_RESERVED: Final = {"verify", "seed_session", "close_session", "aggregate_metrics", "mcp", "step", "close", "compare"}
_VERBS: Final = "verifies|scores|grades|evaluates|compares|checks|judges|executes|measures|rewards"
_CHECKS: Final = (
    (r"(?:Verif(?:y|ies)|Scores?|Grades?|Evaluates?|Judges?|Compares?|Checks?|Parses) ", 12),
    (r".*\brewards? (?:is|are|comes|of)\b|.*\breward(?:s|ed)? .{0,40}\b[01](?:\.0)?\b", 40),
    (rf".*\b(?:server|verifier|judge|grader|environment|benchmark|checkers?|it|that) (?:\w+ly )?(?:{_VERBS})\b", 40),
    (r".*\b(?:is|are) (?:\w+ )?(?:scored|graded|verified|judged|compared|evaluated)\b", 40),
    (rf".*\band (?:{_VERBS})\b|.*\bverifier (?:for|using)\b|.*\bfor (?:verifying|grading|scoring)\b", 6),
    (r"(?:\S+ ){0,4}verification (?:is|uses)\b", 6),
)
"""What a sentence says that tells how a reply is judged, and among how many it may stand; the surest first."""
_FIRST: Final = (
    *(
        "Note",
        "Only",
        "If",
        "With",
        "Keep",
        "Setting",
        "For",
        "We",
        "Every",
        "The command",
        "The row",
        "A row",
        "A spec",
    ),
    *(
        "Under",
        "This is not",
        "This is deliberate",
        "Otherwise",
        "No tool",
        "Precisely",
        "Key requirements",
        "Upstream",
    ),
    *("Publicly", "Already", "Failed", "Standard", "Runs"),
)
_WITHIN: Final = (
    *("sidecar", "resum(?:e|ed|es)", r"skip\w*", r"clean\w* ?up", "logs?", "HTTP", "transport", "session", "upstream"),
    *(
        "leaderboard",
        "metrics?",
        "per-rollout",
        r"install\w*",
        "setup",
        "dict",
        "awaits?",
        "keyed",
        "echoes",
        "exposes",
    ),
    *("never", "delimited", "provenance", "endpoints?", r"prepar\w+", "released", "converts", "attempts", "bytes?"),
    *(
        "failures?",
        "published",
        "measures the dataset",
        "oversight",
        "slots?",
        "confirm",
        r"P\d",
        "guardrail",
        r"test_\w+",
        r"mcp\w*",
        "exactly that",
    ),
)
_CODE: Final = r"https?:|pass@|\.py\b|\s\d\.(?:\s|$)|\w_\w+ .*\w_\w+|\w=\w|/verify"
_BESIDE: Final = re.compile(rf"(?:{'|'.join(_FIRST)})\b|.*\b(?:{'|'.join(_WITHIN)})\b|.*(?:{_CODE})", re.IGNORECASE)
"""Sentences that are about something else: how servers are set up and fail, what is counted and kept, code."""
_MARKUP: Final = re.compile(r"[`*]{1,3}|!?\[([^\]]*)\]\([^)]*\)|<[^>]{1,200}>")
_ASIDE: Final = re.compile(r"Licen[cs]|Apache 2\.0|Example data", re.IGNORECASE)


@dataclass(slots=True)
class _Configured:
    """What the configurations name, by instance."""

    servers: dict[str, tuple[str, Mapping[str, object], str]] = field(default_factory=dict)
    agents: dict[str, tuple[str, str, Mapping[str, object], str | None]] = field(default_factory=dict)
    """Its loop, its file, what is configured, and the agent it inherits from."""


def read(package: Package) -> Mapping[str, object]:
    configured = _configurations(package)
    names = sorted({path.split("/")[1] for path in package.match("resources_servers/*/app.py")})
    if not names:
        raise BadInput(f"{package.name} {package.version} has no resources servers where they were before.")
    servers = {name: _server(package, name, configured) for name in names}
    agents = {name: _agent(name, configured, servers) for name in sorted(configured.agents)}
    loops = {
        path.split("/")[1]: about
        for path in package.match("responses_api_agents/*/app.py")
        if (about := _about(package, path, None))
    }
    return {
        "datasets": _datasets(configured),
        "loops": dict(sorted(loops.items())),
        "servers": servers,
        "agents": agents,
    }


def _configurations(package: Package) -> _Configured:
    found = _Configured()
    for pattern in _CONFIGS:
        for path in package.match(pattern):
            told = package.yaml(path)
            for instance, block in told.items() if isinstance(told, Mapping) else ():
                if isinstance(instance, str) and isinstance(block, Mapping):
                    _note(found, path, instance, block)
    return found


def _note(found: _Configured, path: str, instance: str, block: Mapping[object, object]) -> None:
    for kind, told in _inner(block.get("resources_servers")):
        found.servers.setdefault(instance, (kind, told, path))
    for kind, told in _inner(block.get("responses_api_agents")):
        parent = block.get("_inherit_from")
        found.agents.setdefault(instance, (kind, path, told, parent if isinstance(parent, str) else None))


def _inner(told: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    if isinstance(told, Mapping):
        yield from ((str(kind), item) for kind, item in told.items() if isinstance(item, Mapping))


def _server(package: Package, name: str, configured: _Configured) -> Mapping[str, object]:
    told = [item for kind, item, _ in configured.servers.values() if kind == name]
    described = _described(name, configured)
    domain = next((item["domain"] for item in told if isinstance(item.get("domain"), str)), "")
    judge = any("judge" in key and item[key] for item in told for key in item)
    app = package.module(f"resources_servers/{name}/app.py")
    entry: dict[str, object] = {
        "domain": str(domain),
        "about": _plain(sentence(str(described)))
        if described
        else _about(package, f"resources_servers/{name}/app.py", app),
        "checks": _checks(package, name, app),
        "judge": judge,
        "tools": _tools(app),
        **_fields(package, name),
        "config": _config(package, name),
    }
    return {key: value for key, value in entry.items() if value not in ("", [], False)}


def _described(name: str, configured: _Configured) -> str | None:
    """What configurations say of a server: where they say different things, the one that is called like it alone."""
    found = {
        path: " ".join(text.split())
        for kind, item, path in configured.servers.values()
        if kind == name and isinstance(text := item.get("description"), str)
    }
    own = found.get(f"resources_servers/{name}/configs/{name}.yaml")
    within = {text for path, text in found.items() if path.startswith(f"resources_servers/{name}/")}
    several = len({text.split()[0].lower() for text in within if text}) > 1
    return own or (None if several else next(iter(found.values()), None))


def _config(package: Package, name: str) -> str:
    paths = [
        path.split("/")[-1].removesuffix(".yaml") for path in package.match(f"resources_servers/{name}/configs/*.yaml")
    ]
    if name in paths or not paths:
        return name if paths else ""
    return f"{name}/{paths[0]}"


def _tools(app: ast.Module) -> list[str]:
    """Routes of its own that the server adds: its tools."""
    found: dict[str, None] = {}
    for node in ast.walk(app):
        match node:
            case ast.Call(ast.Attribute(attr="post"), [ast.Constant(str(route)), *_]) if "{" not in route:
                if route.strip("/") not in _RESERVED:
                    found[route.strip("/")] = None
    return sorted(found)


def _fields(package: Package, name: str) -> Mapping[str, list[str]]:
    """Columns of a row by who reads them, as the server's own schema of a row tells."""
    path = f"resources_servers/{name}/task_data.py"
    data = classes(package.module(path)).get("TaskData") if path in package.paths else None
    found: dict[str, list[str]] = {"verify": [], "prompt": [], "beside": []}
    for node in data.body if data else ():
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        readers = {
            text.value
            for inner in ast.walk(node)
            if isinstance(inner, ast.Dict)
            for key, value in zip(inner.keys, inner.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == "consumed_by"
            for text in ast.walk(value)
            if isinstance(text, ast.Constant) and isinstance(text.value, str)
        }
        place = next((item for item in ("verify", "prompt") if item in readers), "beside")
        found[place].append(node.target.id)
    return found


def _checks(package: Package, name: str, app: ast.Module) -> str:
    """How a reply is judged: what the method says of itself, else what the README says; nothing where neither does."""
    docs = [
        ast.get_docstring(node) or ""
        for node in ast.walk(app)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "verify"
    ]
    path = f"resources_servers/{name}/README.md"
    readme = package.text(path) if path in package.paths else ""
    return next((found for text in (*docs, readme) if (found := _telling(text))), "")


def _telling(text: str) -> str:
    """The first sentence that tells it surest; nothing where none does."""
    parts = [part for words in _prose(text) for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", words)]
    said = [part for raw in parts if 40 < len(part := _plain(raw)) < 400 and part.endswith((".", ")"))]
    usable = [part for part in said if not _BESIDE.match(part)]
    found = (part for wanted, most in _CHECKS for part in usable[:most] if re.match(wanted, part, re.IGNORECASE))
    return next((_plain(sentence(part)) for part in found), "")


def _prose(readme: str) -> Iterator[str]:
    """Its paragraphs, each on one line; code, tables, lists and licences left out."""
    for block in re.sub(r"```.*?(?:```|\Z)", "", readme, flags=re.DOTALL).split("\n\n"):
        words = " ".join(" ".join(line for line in block.splitlines() if not line.startswith("#")).split())
        if words and not words.startswith(("|", "- ", "* ", ">", "!", "<")) and not _ASIDE.search(words):
            yield words


def _about(package: Package, path: str, app: ast.Module | None) -> str:
    told = ast.get_docstring(app or package.module(path))
    if told and len(sentence(told)) > 30:
        return _plain(sentence(told))
    readme = path.replace("app.py", "README.md")
    found = _prose(package.text(readme) if readme in package.paths else "")
    return next((_plain(sentence(words)) for words in found if len(words) > 30), "")


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text).split())


def _agent(name: str, configured: _Configured, servers: Collection[str]) -> Mapping[str, object]:
    kind, path, told, parent = configured.agents[name]
    entry: dict[str, object] = {"kind": kind, "config": path}
    seen = {name}
    while parent in configured.agents and parent not in seen:
        seen.add(parent)
        _, _, above, further = configured.agents[parent]
        told, parent = {**above, **told}, further
    server = told.get("resources_server")
    instance = server.get("name") if isinstance(server, Mapping) else None
    if isinstance(instance, str) and instance in configured.servers and configured.servers[instance][0] in servers:
        entry["server"] = configured.servers[instance][0]
    if isinstance(told.get("max_steps"), int):
        entry["max_steps"] = told["max_steps"]
    return entry


def _datasets(configured: _Configured) -> Mapping[str, list[str]]:
    """Repositories on the Hub that configurations name, with the agents they name them for."""
    found: dict[str, set[str]] = {}
    for name, (_, _, told, _) in configured.agents.items():
        listed = told.get("datasets")
        for item in listed if isinstance(listed, list) else []:
            for place in ("source", "huggingface_identifier"):
                source = item.get(place) if isinstance(item, Mapping) else None
                repo = source.get("repo_id") if isinstance(source, Mapping) else None
                if isinstance(repo, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
                    found.setdefault(repo, set()).add(name)
    return {repo: sorted(agents) for repo, agents in sorted(found.items())}
