"""Plans made in one line, on a host that is the same everywhere."""

from collections.abc import Mapping

from rlx.sandboxes.dockerfile import AnyStep, Copy, Entry, Host, Plan, Refusal, Run, plan
from rlx.texts import words

HOST = Host(
    "Debian GNU/Linux 12 (bookworm)",
    tools={
        "python3": "3.11.2",
        "node": "20.20.2",
        "npm": "",
        "gcc": "12.2.0",
        "g++": "",
        "make": "",
        "uv": "0.9.1",
        "uvx": "",
    },
)


def files(*paths: str, **links: str) -> dict[str, Entry]:
    """Entries by path: `a/` a folder, `a` a file whose digest is its path; links by keyword."""
    found = {
        path.rstrip("/"): Entry("folder", 0o755) if path.endswith("/") else Entry("file", 0o644, 3, digest=f"of {path}")
        for path in paths
    }
    return found | {name: Entry("link", 0o777, target=target) for name, target in links.items()}


def planned(
    text: str,
    context: Mapping[str, Entry] | None = None,
    *,
    ignore: str | None = None,
    args: Mapping[str, str] | None = None,
    host: Host = HOST,
) -> Plan:
    """Of a Dockerfile that is planned; a FROM is put in front where there is none."""
    if "FROM" not in text:
        text = f"FROM debian:12\n{text}"
    found = plan(text, context or {}, host=host, dockerignore=ignore, build_args=args)
    assert isinstance(found, Plan), f"{found.kind} at {found.line}: {words(found.why)}"
    return found


def refused(
    text: str, context: Mapping[str, Entry] | None = None, *, ignore: str | None = None, host: Host = HOST
) -> Refusal:
    if "FROM" not in text:
        text = f"FROM debian:12\n{text}"
    found = plan(text, context or {}, host=host, dockerignore=ignore)
    assert isinstance(found, Refusal)
    assert words(found.why)
    assert words(found.why, "ko")
    return found


def last(found: Plan) -> AnyStep:
    return found.steps[-1]


def the_run(found: Plan) -> Run:
    step = found.steps[-1]
    assert isinstance(step, Run)
    return step


def the_copy(found: Plan) -> Copy:
    step = found.steps[-1]
    assert isinstance(step, Copy)
    return step


def names(copy: Copy) -> dict[str, str]:
    """Source by name below the destination, of files and links."""
    return {item.name: item.source for item in copy.items if item.entry.kind != "folder"}
