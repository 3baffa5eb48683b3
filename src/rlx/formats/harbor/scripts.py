"""Grader scripts read as text: which others they call, what they install, which test runner they start."""

import re
from collections.abc import Iterable, Iterator, Mapping

CODE = frozenset([".sh", ".bash", ".bat", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".r", ".go", ".rs"])
SHELL = frozenset([".sh", ".bash", ".bat"])
MAX_FOLLOWED = 12
MAX_INSTALLS = 8
_MAX_SCAN = 128 * 1024
"""Characters of one script that are looked at."""
_MAX_LINE = 1000
"""Characters of one line; some patterns take time quadratic in it."""

_TOKEN = re.compile(r"[\w.-]+")
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:#|//|REM ).*$", re.MULTILINE)
_JOIN = re.compile(r"\\\r?\n[ \t]*")
_INSTALL = re.compile(
    r"(?:^|[;&|(]|\b(?:then|do|if)\b)[ \t]*(?:sudo[ \t]+)?"
    r"(?:apt(?:-get)?(?:\s+-\S+)*\s+install|apk\s+add|(?:uv\s+)?pip3?\s+install|uv\s+add|npm\s+(?:i|install)"
    r"|pnpm\s+add|yarn\s+add|cargo\s+install|go\s+install|gem\s+install)[ \t]+([^\n;&|>]*)",
    re.MULTILINE,
)
_WITH = re.compile(r"--with[= ]\s*['\"]?([A-Za-z0-9][\w.\[\],=<>~!+-]*)")
_PIPED = re.compile(r"\b(?:curl|wget)\b[^\n|]*?(https?://[^\s'\"|]+)[^\n|]*\|\s*(?:\S+/)?(?:ba|z)?sh\b")
_FETCH = re.compile(
    r"\b(?:curl|wget|git\s+clone)\b[^\n]*?https?://(?!localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)([\w.-]+\.[a-z]{2,})"
)
_PEP723 = re.compile(
    r"^#\s*dependencies\s*=\s*\[(.*?)^#\s*\]|^#\s*dependencies\s*=\s*\[([^\]\n]*)\]", re.MULTILINE | re.DOTALL
)
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.+-]*)(?:\[[^\]]*\])?(?:==([\w.]+))?")
_KNOWN_PIPES = {
    "astral.sh": "uv",
    "sh.rustup.rs": "rustup",
    "nvm": "nvm",
    "nodesource": "node",
    "bun.sh": "bun",
    "deno": "deno",
}
_RUNNERS = (
    (r"\bpytest\b", "pytest"),
    (r"\bcargo\s+(?:nextest|test)\b", "cargo test"),
    (r"\bgo\s+test\b", "go test"),
    (r"\bvitest\b", "vitest"),
    (r"\bjest\b", "jest"),
    (r"\bmocha\b", "mocha"),
    (r"\b(?:npx|pnpm|yarn)\s+(?:exec\s+)?ava\b", "ava"),
    (r"\b(?:npx\s+)?tap\s+(?:--|test|\S+\.js)", "tap"),
    (r"\bbun\s+test\b", "bun test"),
    (r"\bnode\s+--test\b", "node --test"),
    (r"\bpython3?\s+-m\s+unittest\b", "unittest"),
    (r"\b(?:mvn|gradlew?)\b[^\n]*\btest\b", "a Java test run"),
    (r"\bctest\b", "ctest"),
    (r"\bdbt\s+test\b", "dbt test"),
    (r"\b(?:npm|pnpm|yarn)\s+(?:run\s+)?test\b", "npm test"),
)


def suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""


def bare(text: str) -> str:
    """Without comment lines, continued lines joined, long lines cut: what a pattern may be looked for in."""
    joined = _JOIN.sub(" ", _COMMENT.sub("", text[:_MAX_SCAN]))
    return "\n".join(line[:_MAX_LINE] for line in joined.split("\n"))


def followed(entry: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The entry and the scripts of its folder that it calls, imports or hands to a test runner, in order."""
    order = [entry]
    for path in order:
        if len(order) >= MAX_FOLLOWED:
            break
        text = bare(texts.get(path, ""))
        words = set(_TOKEN.findall(text))
        modules = set(_IMPORT.findall(text))
        for other in texts:
            if other not in order and suffix(other) in CODE and _is_meant(other, text, words, modules):
                order.append(other)
        if path == entry and "pytest" in words and not any(other.endswith(".py") for other in order):
            order += [other for other in texts if _is_test_module(other)]
    return tuple(order[:MAX_FOLLOWED])


def runners(text: str) -> tuple[str, ...]:
    """Test runners that `text` (bare) starts."""
    found = [name for pattern, name in _RUNNERS if re.search(pattern, text)]
    return tuple(found if len(found) == 1 else [name for name in found if name != "npm test"])


def installs(text: str) -> Iterator[str]:
    """Packages that `text` (bare) installs, each with its version where one is pinned."""
    for found in _INSTALL.finditer(text):
        yield from _packages(found[1].split())
    for url in _PIPED.findall(text):
        yield next((name for mark, name in _KNOWN_PIPES.items() if mark in url), url.split("/")[2])
    yield from _packages(_WITH.findall(text))


def script_dependencies(text: str) -> Iterator[str]:
    """Packages of a script's own PEP 723 block, which `uv run` installs."""
    found = _PEP723.search(text[:8192])
    if found and "/// script" in text[:8192]:
        yield from _packages(re.findall(r"[\"']([^\"'\n]+)[\"']", found[1] or found[2] or ""))


def fetches(text: str) -> str | None:
    """A host that `text` (bare) downloads from."""
    found = _FETCH.search(text)
    return found[1] if found else None


def _packages(words: Iterable[str]) -> Iterator[str]:
    skip = False
    for word in words:
        word = word.strip("'\"")
        if skip or word.startswith("-"):
            skip = word in ("-r", "-c", "-t", "-i", "--index-url", "--target", "--prefix")
            continue
        found = _REQUIREMENT.match(word)
        if found and not found[1].isdigit():
            yield f"{found[1]} {found[2]}" if found[2] else found[1]


def _is_meant(path: str, text: str, words: set[str], modules: set[str]) -> bool:
    inner = path.partition("tests/")[2]
    name = inner.rpartition("/")[2]
    if name in words and (inner == name or inner in text):
        return True
    return name.endswith(".py") and name[:-3] in modules


def _is_test_module(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
