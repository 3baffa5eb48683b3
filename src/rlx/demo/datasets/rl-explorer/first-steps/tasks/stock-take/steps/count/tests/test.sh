#!/bin/bash
source /tests/score.sh
if python3 /tests/compare.py; then score 1; else score 0; fi
