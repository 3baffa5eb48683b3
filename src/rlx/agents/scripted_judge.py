"""The scripted model as a judge: it knows nothing, and counts which words of the rubric the text has.

A rubric comes below a heading that holds the word, the text below the next one; words count that stand in backticks.
"""

import json
import re
from typing import Final

NAME: Final = "judge"
_PARTS: Final = re.compile(r"(?im)^#+ .*\brubric\b.*\n(?P<rubric>[\s\S]*?)^#+ .*\n(?P<text>[\s\S]*)")
_WORD: Final = re.compile(r"`([^`\n]{1,80})`")


def verdict(told: str) -> str:
    """JSON with the share of the rubric's words that the text has; a sentence where there is no rubric."""
    parts = _PARTS.search(told)
    words = _WORD.findall(parts["rubric"]) if parts is not None else []
    if parts is None or not words:
        return "I can judge nothing but texts by a rubric whose words stand in backticks."
    text = parts["text"].casefold()
    return json.dumps({"score": round(sum(word.casefold() in text for word in words) / len(words), 3)})
