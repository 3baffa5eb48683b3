"""The card of an environment that is published: its own, with what it lacks, or a new one."""

from pathlib import Path

from rlx.cli.hub_examine import Examined
from rlx.errors import BadInput
from rlx.ids import EnvKey
from rlx.localhub.cards import FRONT_MATTER, parse_card
from rlx.publish.carding import About, card, with_front_matter
from rlx.publish.frameworks import MEMBER
from rlx.publish.tags import add_tags

_GRADED = {
    "folders": (
        "After the agent, the task's own tests run in its sandbox and write the reward.",
        "The reference solution earns the full reward, an agent that does nothing earns less: `rlx check` proves both.",
    ),
    "rows": ("Each row says what a right answer is, or names the program that grades one.",),
    "generated": ("The rules in the domain module pay the reward; every variant carries copies of them.",),
    "space": ("The server pays the reward as the episode goes on.",),
}


def card_of(folder: Path, key: EnvKey, found: Examined, *, packed: bool) -> tuple[bytes, str]:
    """The card's bytes, and what was done to it: `kept`, `tags added`, `front matter added` or `written`.

    Of a card that is there every byte stays; one that tags cannot be added to surely is kept as it is.
    """
    readme = folder / "README.md"
    about = _about(folder, key, found, packed=packed)
    if not readme.is_file():
        return card(about).encode(), "written"
    data = readme.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data, "kept"
    if not text.startswith("\ufeff") and not FRONT_MATTER.match(text):
        return with_front_matter(about, text).encode(), "front matter added"
    try:
        tagged = add_tags(data, about.tags)
    except BadInput:
        return data, "kept"
    return (data, "kept") if tagged == data else (tagged, "tags added")


def lacks_tag(data: bytes) -> bool:
    """Whether a card does not say that it is an environment's."""
    return MEMBER not in parse_card(data.decode("utf-8", "replace")).values("tags")


def _about(folder: Path, key: EnvKey, found: Examined, *, packed: bool) -> About:
    return About(
        title=found.title,
        repo=key.repo_id,
        kind=key.kind,
        what=found.brief or _what(found),
        tags=[MEMBER, *found.frameworks],
        tasks=len(found.tasks) or None,
        graded=_GRADED[found.shape],
        run=_run(folder, key, found, packed=packed),
        sdk="docker" if key.kind == "space" else None,
        port=8000 if (folder / "openenv.yaml").is_file() else None,
    )


def _what(found: Examined) -> str:
    return {
        "folders": "A reinforcement-learning environment of tasks in Harbor's layout.",
        "rows": "A reinforcement-learning environment whose tasks are rows of a table.",
        "generated": "A reinforcement-learning environment, written for several frameworks from one specification.",
        "space": "A reinforcement-learning environment as a live server.",
    }[found.shape]


def _run(folder: Path, key: EnvKey, found: Examined, *, packed: bool) -> list[str]:
    if key.kind == "space":
        return [f"rlx env show {key}"]
    get = f"rlx hub pull {key} {key.name}"
    if found.shape == "generated":
        return [get, f"rlx new --check {key.name}"]
    if found.shape == "rows":
        return [f"rlx task ls {key}"]
    first = f'rlx run start {key} "$(rlx task random {key} --format quiet)" --agent oracle --wait'
    if packed:
        return [first]
    top = found.tasks[0].rpartition("/")[0] if found.tasks else ""
    return [first, get, f"harbor run --path {key.name}/{top}".rstrip("/") + " --agent oracle"]
