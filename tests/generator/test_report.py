"""The report of a check: a page and JSON that say the same, and hold nothing that a variant could plant."""

import json
from pathlib import Path

from rlx.generator.check.compare import Difference
from rlx.generator.check.report import Report, Stage, Variant, write_report

GOOD = Variant(
    "ors", "ORS", "openreward", "0.1.167", (Stage("tests", True, 2.0), Stage("parity", True, 2.0)), (), 1.0, 2
)
BAD = Variant(
    "openenv",
    "OpenEnv",
    "openenv",
    "0.10.0",
    (Stage("tests", True, 2.0), Stage("parity", False, 2.0, "1 difference")),
    (Difference("text", "round 0", "You won.", "<script>alert(1)</script>"),),
    1.0,
    2,
)


def test_a_difference_fails_the_report_and_is_shown_as_text(tmp_path: Path) -> None:
    report = Report("connect-four", "Connect four", "board_game", 200, 2000, (GOOD, BAD), 10.0, 8.0)
    data, page = write_report(report, tmp_path)
    told = json.loads(data.read_text())
    assert (told["ok"], [each["ok"] for each in told["variants"]]) == (False, [True, False])
    assert "Not everything is as it should be." in page.read_text()
    assert "<script>" not in page.read_text()
    assert "&lt;script&gt;alert(1)" in page.read_text()


def test_the_share_of_imports_is_that_of_the_work(tmp_path: Path) -> None:
    report = Report("connect-four", "Connect four", "board_game", 200, 2000, (GOOD,), 10.0, 4.0)
    assert report.import_share == 0.5
    assert report.ok
    assert not Report("connect-four", "Connect four", "board_game", 200, 2000, (), 10.0, 4.0).ok
