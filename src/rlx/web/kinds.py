"""Kinds of environment as people read them: a label and an icon each."""

from dataclasses import dataclass

from rlx.texts import Say, say


@dataclass(frozen=True, slots=True)
class KindShown:
    label: Say
    icon: str


KINDS_SHOWN = {
    "openenv": KindShown(say("web.kind_openenv"), "server"),
    "servers": KindShown(say("web.kind_servers"), "server"),
    "harbor": KindShown(say("web.kind_harbor"), "tasks"),
    "verifiers": KindShown(say("web.kind_verifiers"), "rows"),
    "nemo-gym": KindShown(say("web.kind_nemo_gym"), "rows"),
    "openenv-data": KindShown(say("web.kind_openenv_data"), "rows"),
    "verl": KindShown(say("web.kind_verl"), "rows"),
    "skyrl": KindShown(say("web.kind_skyrl"), "rows"),
    "mimo": KindShown(say("web.kind_mimo"), "tape"),
    "rows": KindShown(say("web.kind_rows"), "rows"),
}
