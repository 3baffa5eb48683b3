"""Cleans the orders and writes the four figures."""

import csv
import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from statistics import median

CENT = Decimal("0.01")

with Path("/app/orders.csv").open(newline="") as file:
    latest = {row["order_id"]: row for row in csv.DictReader(file)}

prices: dict[str, Decimal] = {}
revenue: list[Decimal] = []
regions: Counter[str] = Counter()
months: Counter[str] = Counter()
for row in sorted(latest.values(), key=lambda row: (row["date"], row["order_id"])):
    if row["status"].strip().lower() == "cancelled":
        continue
    if row["unit_price"]:
        prices[row["product"]] = Decimal(row["unit_price"])
    amount = int(row["quantity"]) * prices[row["product"]]
    revenue.append(amount)
    regions[row["region"]] += amount
    months[row["date"][:7]] += 1

figures = {
    "revenue": float(sum(revenue).quantize(CENT, ROUND_HALF_UP)),
    "best_region": regions.most_common(1)[0][0],
    "busiest_month": min(months, key=lambda month: (-months[month], month)),
    "median_order": float(median(revenue).quantize(CENT, ROUND_HALF_UP)),
}
Path("/app/figures.json").write_text(json.dumps(figures))
