#!/bin/bash
set -euo pipefail
python3 - <<'PY'
import csv
import json
from pathlib import Path

stock = json.loads(Path("/app/stock.json").read_text())
with Path("/app/minimum.csv").open() as file:
    minimum = {row["item"]: int(row["minimum"]) for row in csv.DictReader(file)}
lines = ["item,order"]
for item in sorted(minimum):
    short = minimum[item] - stock.get(item, 0)
    if short > 0:
        lines.append(f"{item},{-(-short // 10) * 10}")
Path("/app/orders.csv").write_text("\n".join(lines) + "\n")
PY
