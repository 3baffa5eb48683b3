"""Exits 0 when the stock was counted right. Counts the notes anew, so that no figure stands here."""

import json
import sys
from pathlib import Path

NOTES = Path("/tests/notes.json")

counted = {}
for direction, item, number in json.loads(NOTES.read_text()):
    counted[item] = counted.get(item, 0) + (number if direction == "in" else -number)
try:
    found = json.loads(Path("/app/stock.json").read_text())
except (OSError, ValueError) as error:
    sys.exit(f"stock.json cannot be read: {type(error).__name__}")
wrong = sorted(item for item in counted.keys() | found.keys() if counted.get(item) != found.get(item))
sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)
