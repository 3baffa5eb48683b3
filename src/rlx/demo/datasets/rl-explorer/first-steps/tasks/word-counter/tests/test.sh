#!/bin/bash
mkdir -p /logs/verifier
export LANG=C.UTF-8
python3 /tests/behaviour.py
