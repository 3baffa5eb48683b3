"""Mistakes that the wrapper for ORS could hold."""

from rlx.generator.targets.base import Mutant

MUTANTS: tuple[Mutant, ...] = ()
