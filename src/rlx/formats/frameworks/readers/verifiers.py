"""Verifiers: the tasksets and harnesses that come with it. Most environments are packages of their own."""

import ast
from collections.abc import Mapping

from rlx.formats.frameworks.packages import Package, sentence

PACKAGE = "verifiers"


def read(package: Package) -> Mapping[str, object]:
    tasksets = {
        path.split("/")[3].replace("_", "-"): {"about": sentence(ast.get_docstring(package.module(path)))}
        for path in package.match("verifiers/v1/tasksets/*/taskset.py")
    }
    harnesses = sorted(
        path.split("/")[3].replace("_", "-")
        for path in package.match("verifiers/v1/harnesses/*/__init__.py")
        if path.split("/")[3] != "utils"
    )
    return {"harnesses": harnesses, "tasksets": dict(sorted(tasksets.items()))}
