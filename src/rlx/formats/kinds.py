"""What kind of environment a repository is, from its tags and file names: a hint until a format has read it."""

from collections.abc import Container, Iterable

from rlx.hub.info import RepoInfo

HUB_TAGS = ("harbor", "rl-environment", "verifiers", "nemo-gym", "openenv", "verl", "skyrl", "ors")
"""Dataset tags that make a repository an environment on the Hub."""
SPACE_TAGS = ("openenv", "rl-environment", "ors")

_MANIFESTS = ("openenv.yaml", "openenv.yml")
_DATASET_KINDS = (
    ("harbor", "harbor"),
    ("nemo-gym", "nemo-gym"),
    ("verifiers", "verifiers"),
    ("openenv", "openenv-data"),
    ("mimo", "mimo"),
    ("verl", "verl"),
    ("skyrl", "skyrl"),
)


def kind_of(info: RepoInfo, paths: Container[str] = ()) -> str:
    """One of `rlx.model.KINDS`. `paths` are the repository's files, where they are known: many a server has no tag."""
    tags = bare_tags(info.tags)
    if info.key.kind == "space":
        tagged = any(tag == "openenv" or tag.startswith("openenv-") for tag in tags)
        return "openenv" if tagged or any(name in paths for name in _MANIFESTS) else "servers"
    return next((kind for tag, kind in _DATASET_KINDS if tag in tags), "rows")


def bare_tags(tags: Iterable[str]) -> frozenset[str]:
    """Tags in lower case; a library's is its name."""
    return frozenset(tag.lower().removeprefix("library:") for tag in tags)


def is_environment(info: RepoInfo) -> bool:
    """Whether a listed repository belongs in the catalog: a Space must be a Docker app and no article."""
    if info.key.kind == "dataset":
        return True
    return info.sdk in (None, "docker") and "research-article-template" not in info.tags


def framework_of(kind: str) -> str:
    """The framework of a kind: datasets and servers of OpenEnv are two kinds of one framework."""
    return "openenv" if kind == "openenv-data" else kind
