"""Mistakes that the wrapper for NeMo Gym could hold."""

from rlx.generator.targets.base import Mutant

MUTANTS: tuple[Mutant, ...] = ()
