#!/bin/bash
set -euo pipefail
cat > /app/NOTE.md <<'NOTE'
# What is new

- An upload that was cut off will resume where it stopped.
- A newer backup is no longer overwritten. Pass `--force` if you mean it.

**To do:** move your settings from `backup.ini` to `backup.toml`; the old file is not read any more.
NOTE
