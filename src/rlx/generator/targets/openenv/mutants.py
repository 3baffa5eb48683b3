"""Mistakes that the wrapper for OpenEnv could hold."""

from rlx.generator.targets.base import Mutant

_FILE = "server/{package}_environment.py"

MUTANTS: tuple[Mutant, ...] = ()
