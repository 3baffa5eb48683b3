"""Rows that one model call answers: what would grade the answer exactly, and the run option that says so."""

from rlx.formats.predict.checks import Check, Hints, Kind, Unchecked, check_of
from rlx.formats.predict.options import RUNNER, compared, predict_option

__all__ = ["RUNNER", "Check", "Hints", "Kind", "Unchecked", "check_of", "compared", "predict_option"]
