"""Rows in the shape of SWE-bench: an issue of a repository at a commit, solved when named tests pass.

The kin are told by their columns: SWE-bench Multimodal, Multilingual and Pro, SWE-Gym, SWE-smith, SWE-rebench, R2E, and
Multi-SWE-bench, which names the repository by `org` and `repo` and keeps the issues in a list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import Json, Policy, ShownJson, name, record
from rlx.answers.keys import names
from rlx.errors import BadInput
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import brief_of, is_name, searched, title_of, usual_facets
from rlx.formats.processors.prompts import summary
from rlx.formats.processors.prompts.cells import text_of
from rlx.formats.processors.support import support
from rlx.formats.processors.swe_bench_page import GRADING, Shape, image_of, issue_of, repository_of, sections
from rlx.formats.rows.sources.json_rows import KEY
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, Row, Support
from rlx.texts import say

_ISSUE: Final = ("problem_statement", "resolved_issues")
_AT: Final = ("base_commit", "base", "environment_setup_commit")
_TESTS: Final = (
    *("FAIL_TO_PASS", "PASS_TO_PASS", "fail_to_pass", "pass_to_pass", "test_patch", "patch", "fix_patch"),
    *("f2p_tests", "p2p_tests", "fixed_tests", "eval_script"),
)
_SHOWN: Final = names(
    "repo instance_id base_commit problem_statement query task_id id created_at version environment_setup_commit image "
    "image_name docker_image image_url dockerhub_tag repo_language language lang difficulty issue_categories "
    "issue_specificity issue_numbers issue_ids pull_number org number state base resolved_issues interface "
    "requirements before_repo_set_cmd install_config environment dataset source split license license_name tag tags "
    "category log_parser eval_type repo_name agent_sys_prompt workdir test_cmd"
)
"""What the agent gets, where it works, and where the row comes from. Anything else may tell the change."""
_POLICY: Final = Policy("swe-bench", columns=_SHOWN, allow=frozenset({"problem_statement", "resolved_issues"}))
_BY_KEY: Final = Policy(
    "swe-bench",
    deny=names("image_assets body title eval_script run_result selected_test_files_to_run commit_hash lines test_cmds"),
)
"""For an object of rows, whose columns stand one level down."""


class SweBench:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "swe-bench"
    framework = "rows"
    version = 2

    def match(self, table: Table) -> Match | None:
        columns = set(table.columns)
        issue = next((item for item in _ISSUE if item in columns), None)
        at = next((item for item in _AT if item in columns), None)
        tests = [item for item in _TESTS if item in columns]
        if issue is None or at is None or not tests or "responses_create_params" in columns:
            return None
        if table.sample and not any(text_of(row.get(issue)).strip() for row in table.sample):
            return None
        return Match(0.9, say("swe.match", columns=", ".join([issue, at, *tests[:2]])))

    def reading(self, table: Table, roles: Roles) -> "SweBenchReading":
        if roles:
            raise BadInput("The columns of SWE-bench's rows have the roles that the format gives them.")
        return SweBenchReading(_shape(table), _BY_KEY if KEY in table.columns else _POLICY)


@dataclass(frozen=True, slots=True)
class SweBenchReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    shape: Shape
    policy: Policy
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        issue = issue_of(row.value)
        first, _, rest = issue.strip().partition("\n")
        named = first.strip().lstrip("# ") if is_name(first.strip().lstrip("# ")) else None
        title = title_of(issue, named)
        told = [str(row.value.get(key) or "") for key in ("instance_id", "repo")]
        return RowCard(title, brief_of(rest if named else issue, title), self._facets(row), searched([*told, issue]))

    def view(self, row: ShownRow) -> TaskView:
        return TaskView(sections(row, self.shape), tuple(self._glance(row)), (), self._support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        return SummaryView(summary.sections(GRADING, counts), (self.shape.evidence,), self._support())

    def _facets(self, row: ShownRow) -> Facets:
        kept = {key: row.value.get(key) for key in ("difficulty", "language", "repo_language")}
        found = dict(usual_facets({**kept, "tags": row.value.get("issue_categories")}))
        repository = repository_of(row.value)
        if repository:
            found["category"] = (name(repository),)
        found["graded"] = (name("Tests"),)
        found["runs"] = (name("Image" if image_of(row.value) else "Repository"),)
        return found

    def _glance(self, row: ShownRow) -> list[Row]:
        told: tuple[tuple[str, Json], ...] = (
            ("swe.repository", repository_of(row.value)),
            ("swe.commit", row.value.get("base_commit")),
            ("swe.version", row.value.get("version")),
            ("facet.difficulty", row.value.get("difficulty")),
        )
        known = [(key, text) for key, text in told if isinstance(text, str) and text.strip()]
        rows = [Row(say(key), name(text[:60]), code=key != "facet.difficulty") for key, text in known]
        return [*rows, Row(say("facet.graded"), say("value.graded.tests"))]

    def _support(self) -> Support:
        return support(
            "rows",
            "SWE-bench",
            lifecycle=say("swe.lifecycle"),
            reward=say("swe.reward"),
            evidence=self.shape.evidence,
            run=say("swe.run"),
        )


def _shape(table: Table) -> Shape:
    columns = set(table.columns)
    match = SweBench().match(table)
    whole = {"image", "eval_script", "log_parser", "eval_type"} <= columns
    return Shape(
        key=table.key,
        sha=table.sha,
        config=table.config,
        split=table.split,
        harness="5" if whole else "4" if {"FAIL_TO_PASS", "PASS_TO_PASS", "instance_id"} <= columns else "",
        agent={"instance_id", "problem_statement"} <= columns,
        evidence=match.evidence if match else say("swe.match", columns=", ".join(_ISSUE[:1])),
    )
