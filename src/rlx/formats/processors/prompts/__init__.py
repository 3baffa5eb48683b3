"""Any table of prompts: what its columns are for is inferred, told, and may be corrected."""

from rlx.formats.processors.prompts.processor import Prompts

__all__ = ["Prompts"]
