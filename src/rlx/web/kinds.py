"""Kinds of environment as people read them, a label and an icon each; levels of difficulty as steps of a colour."""

from dataclasses import dataclass

from rlx.texts import Say, say


@dataclass(frozen=True, slots=True)
class KindShown:
    label: Say
    icon: str


KINDS_SHOWN = {
    "openenv": KindShown(say("web.kind_openenv"), "fw-openenv"),
    "servers": KindShown(say("web.kind_servers"), "fw-server"),
    "harbor": KindShown(say("web.kind_harbor"), "fw-harbor"),
    "verifiers": KindShown(say("web.kind_verifiers"), "fw-verifiers"),
    "nemo-gym": KindShown(say("web.kind_nemo_gym"), "fw-nemo-gym"),
    "openenv-data": KindShown(say("web.kind_openenv_data"), "fw-openenv"),
    "verl": KindShown(say("web.kind_verl"), "fw-verl"),
    "skyrl": KindShown(say("web.kind_skyrl"), "fw-skyrl"),
    "mimo": KindShown(say("web.kind_mimo"), "fw-mimo"),
    "rows": KindShown(say("web.kind_rows"), "fw-rows"),
}

LEVEL_STEPS = {
    **dict.fromkeys(("trivial", "easy", "simple", "short", "beginner"), "d1"),
    **dict.fromkeys(("medium", "moderate", "intermediate"), "d2"),
    **dict.fromkeys(("hard", "difficult", "complex", "intricate", "expert", "very hard"), "d3"),
}
"""The class that fills a bar, by a difficulty's own word; other words are only context."""
