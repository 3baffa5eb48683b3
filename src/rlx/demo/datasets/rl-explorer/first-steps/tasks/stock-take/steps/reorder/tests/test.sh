#!/bin/bash
source /tests/score.sh
if diff --ignore-trailing-space --strip-trailing-cr -q /app/orders.csv /tests/expected_orders.csv; then score 1; else score 0; fi
