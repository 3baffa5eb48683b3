"""The answers policy: everything of a repository that a reader sees passes through here.

Answers never leave: what a solver is to find, what it is graded against, and the files that hold either. What is
withheld is named with its reason. Pure: no I/O and no clock, so that it can be tested to exhaustion.
"""

from rlx.answers.contents import file_rows, file_text
from rlx.answers.files import file_bytes_ok, file_verdict
from rlx.answers.keys import is_answer_key
from rlx.answers.policy import name, prose, whole
from rlx.answers.records import DENY, Policy, record
from rlx.answers.scripts import script
from rlx.answers.shown import MARK, FileVerdict, Json, Masked, MaskedJson, Shown, ShownJson, Withheld
from rlx.answers.tomls import toml_text, toml_values

__all__ = [
    "DENY",
    "MARK",
    "FileVerdict",
    "Json",
    "Masked",
    "MaskedJson",
    "Policy",
    "Shown",
    "ShownJson",
    "Withheld",
    "file_bytes_ok",
    "file_rows",
    "file_text",
    "file_verdict",
    "is_answer_key",
    "name",
    "prose",
    "record",
    "script",
    "toml_text",
    "toml_values",
    "whole",
]
