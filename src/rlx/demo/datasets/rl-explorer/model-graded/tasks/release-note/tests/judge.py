"""Asks a model how much of the rubric a note meets, and writes the share as the reward."""

import json
import os
import urllib.request
from pathlib import Path

MOST = 120


def ask(prompt):
    body = {"model": os.environ["JUDGE_MODEL"], "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


note = Path("/app/NOTE.md").read_text()
rubric = Path("/tests/rubric.md").read_text()
if len(note.split()) > MOST:
    score = 0.0
    print(f"The note has more than {MOST} words.")
else:
    said = ask(
        "Grade a text by a rubric. Answer with JSON alone: {\"score\": S}, where S from 0 to 1 is the share of the "
        f"rubric's points that the text meets.\n\n## Rubric\n\n{rubric}\n## Text\n\n{note}"
    )
    score = min(1.0, max(0.0, float(json.loads(said)["score"])))
    print(f"The judge gives {score:.2f}.")
Path("/logs/verifier/reward.txt").write_text(f"{score}\n")
