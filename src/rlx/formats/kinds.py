"""What kind of environment a repository says it is, from its tags alone: a hint until a format has read it."""

from rlx.hub.info import RepoInfo

HUB_TAGS = ("harbor", "rl-environment", "verifiers", "nemo-gym", "openenv", "verl", "skyrl", "ors")
"""Dataset tags that make a repository an environment on the Hub."""
SPACE_TAGS = ("openenv", "rl-environment", "ors")

_DATASET_KINDS = (
    ("harbor", "harbor"),
    ("nemo-gym", "nemo-gym"),
    ("verifiers", "verifiers"),
    ("openenv", "openenv-data"),
    ("mimo", "mimo"),
    ("verl", "verl"),
    ("skyrl", "skyrl"),
)


def kind_of(info: RepoInfo) -> str:
    """One of `rlx.model.KINDS`."""
    tags = {tag.lower().removeprefix("library:") for tag in info.tags}
    if info.key.kind == "space":
        return "openenv" if any(tag == "openenv" or tag.startswith("openenv-") for tag in tags) else "servers"
    return next((kind for tag, kind in _DATASET_KINDS if tag in tags), "rows")


def is_environment(info: RepoInfo) -> bool:
    """Whether a listed repository belongs in the catalog: a Space must be a Docker app and no article."""
    if info.key.kind == "dataset":
        return True
    return info.sdk in (None, "docker") and "research-article-template" not in info.tags
