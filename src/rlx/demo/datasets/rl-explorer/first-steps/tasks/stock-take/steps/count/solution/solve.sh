#!/bin/bash
set -euo pipefail
python3 - <<'PY'
import json
from pathlib import Path

stock = {}
for note in sorted(Path("/app/notes").glob("*.txt")):
    for line in note.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            direction, item, number = line.lower().split()
            stock[item] = stock.get(item, 0) + (int(number) if direction == "in" else -int(number))
Path("/app/stock.json").write_text(json.dumps(stock))
PY
