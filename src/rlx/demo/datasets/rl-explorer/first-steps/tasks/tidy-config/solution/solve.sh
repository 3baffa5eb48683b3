#!/bin/bash
set -euo pipefail
cd /app
python3 - <<'PY'
from pathlib import Path

path = Path("service.conf")
settings = {}
for line in path.read_text().splitlines():
    line = line.partition("#")[0].strip()
    if line:
        key, _, value = line.partition("=")
        settings[key.strip().lower()] = value.strip()
path.write_text("".join(f"{key} = {settings[key]}\n" for key in sorted(settings)))
PY
