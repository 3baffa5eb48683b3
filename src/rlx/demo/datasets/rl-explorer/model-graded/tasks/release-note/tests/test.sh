#!/bin/bash
mkdir -p /logs/verifier
if [ ! -s /app/NOTE.md ]; then
  echo "There is no note."
  echo 0 > /logs/verifier/reward.txt
  exit 0
fi
python3 /tests/judge.py
