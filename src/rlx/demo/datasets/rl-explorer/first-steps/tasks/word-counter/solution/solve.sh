#!/bin/bash
set -euo pipefail
cat > /app/topwords <<'PY'
#!/usr/bin/env python3
"""Print the most frequent words of a text."""

import argparse
import re
import sys
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def positive(text):
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def main():
    parser = argparse.ArgumentParser(prog="topwords", allow_abbrev=False)
    parser.add_argument("-n", type=positive, default=10)
    parser.add_argument("-m", type=positive, default=1)
    parser.add_argument("-i", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    counted, code = Counter(), 0
    for name in options.files or ["-"]:
        try:
            text = sys.stdin.read() if name == "-" else open(name, encoding="utf-8").read()
        except OSError as error:
            print(f"topwords: {name}: {error.strerror}", file=sys.stderr)
            code = 1
            continue
        counted.update(word for word in WORD.findall(text.lower() if options.i else text) if len(word) >= options.m)
    for word, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[: options.n]:
        print(f"{count}\t{word}")
    return code


sys.exit(main())
PY
chmod +x /app/topwords
