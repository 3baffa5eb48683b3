"""Mistakes that the wrapper for Verifiers could hold."""

from rlx.generator.targets.base import Mutant

MUTANTS: tuple[Mutant, ...] = ()
