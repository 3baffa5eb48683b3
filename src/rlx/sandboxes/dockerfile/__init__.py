"""Dockerfiles as plans, for sandboxes that take none. Everything but `host` is pure."""

from rlx.sandboxes.dockerfile.bases import Base, Host, ImageFacts, base_of
from rlx.sandboxes.dockerfile.context import Entry, Tree
from rlx.sandboxes.dockerfile.needs import Need, Needs, needs, script_needs, told
from rlx.sandboxes.dockerfile.planner import plan
from rlx.sandboxes.dockerfile.refusals import Refusal
from rlx.sandboxes.dockerfile.sources import Picked, pick
from rlx.sandboxes.dockerfile.steps import (
    AnyStep,
    Copy,
    Image,
    Item,
    Mount,
    Plan,
    Run,
    SetEnv,
    SetShell,
    SetUser,
    SetWorkdir,
    Stage,
    Write,
)
from rlx.sandboxes.dockerfile.syntax import Dockerfile, Instruction, parse

__all__ = [
    "AnyStep",
    "Base",
    "Copy",
    "Dockerfile",
    "Entry",
    "Host",
    "Image",
    "ImageFacts",
    "Instruction",
    "Item",
    "Mount",
    "Need",
    "Needs",
    "Picked",
    "Plan",
    "Refusal",
    "Run",
    "SetEnv",
    "SetShell",
    "SetUser",
    "SetWorkdir",
    "Stage",
    "Tree",
    "Write",
    "base_of",
    "needs",
    "parse",
    "pick",
    "plan",
    "script_needs",
    "told",
]
