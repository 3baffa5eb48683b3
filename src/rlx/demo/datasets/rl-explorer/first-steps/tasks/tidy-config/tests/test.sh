#!/bin/bash
# Reward 1 when the file says exactly what the rules ask for, else 0.
mkdir -p /logs/verifier
reward=0
if cmp --silent /app/service.conf /tests/expected.conf; then
  echo "service.conf follows every rule."
  reward=1
else
  echo "service.conf differs from the house style:"
  [ "$(tail -c 1 /app/service.conf | wc -l)" -eq 1 ] || echo "- it does not end with a newline"
  grep -q '#' /app/service.conf && echo "- it still holds comments"
  grep -qE '^\s*$' /app/service.conf && echo "- it still holds blank lines"
  sort -c /app/service.conf 2>/dev/null || echo "- its lines are not sorted"
fi
echo "$reward" > /logs/verifier/reward.txt
