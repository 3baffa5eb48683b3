"""One address or more of every type of page, over the fixture hub: what the audits walk through."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageType:
    name: str
    path: str
    status: int = 200


_PART = "a-very-long-folder-name-that-goes-on-and-on"
LONG = f"{_PART}/{_PART}/{_PART}/{_PART}/and-ends-with-a-name-that-brings-the-whole-path-past-two-hundred-characters"

DONE, SOLVED, FAILED, SEATED = (f"000000000000000{n}" for n in range(1, 5))
"""Ids of rollouts of the fixture hub's site: an agent's, the reference solution's, one that failed, a person's."""

PAGE_TYPES = (
    PageType("explore", "/"),
    PageType("explore_filtered", "/?q=acme&f=framework:Harbor&sort=name"),
    PageType("explore_nothing", "/?q=nothing-is-called-this"),
    PageType("comparison", "/envs?env=acme/settings&env=acme/layout-tasks&env=space:acme/chess-env&env=acme/nowhere"),
    PageType("comparison_of_nothing", "/envs"),
    PageType("tasks", "/tasks"),
    PageType("tasks_found", "/tasks?q=a&f=graded:One%20score"),
    PageType("tasks_of_one", "/tasks?env=acme/layout-tasks"),
    PageType("tasks_nothing", "/tasks?q=nothing-is-called-this"),
    PageType("environment", "/d/acme/settings"),
    PageType("environment_filtered", "/d/acme/settings?q=a&f=runs:Dockerfile"),
    PageType("environment_odd", "/d/acme/odd-names"),
    PageType("environment_broken", "/d/acme/broken-toml"),
    PageType("environment_without_tasks", "/d/acme/rows-text"),
    PageType("environment_of_one_task", "/d/acme/single-task"),
    PageType("server", "/s/acme/chess-env"),
    PageType("card", "/d/acme/layout-tasks/card"),
    PageType("server_card", "/s/acme/chess-env/card"),
    PageType("folder", "/d/acme/settings/files"),
    PageType("folder_inside", "/d/acme/odd-names/files/plain"),
    PageType("server_folder", "/s/acme/chess-env/files"),
    PageType("server_file", "/s/acme/chess-env/files/README.md"),
    PageType("file", "/d/acme/layout-tasks/files/README.md"),
    PageType("file_as_a_table", "/d/acme/rows-text/files/table.csv"),
    PageType("file_of_many_rows", "/d/acme/rows-text/files/long.jsonl?from=101"),
    PageType("file_of_rows", "/d/acme/rows-nemo/files/data/example.jsonl"),
    PageType("file_of_columns", "/d/acme/packed-parquet/files/data/tasks.parquet"),
    PageType("file_at_full_width", "/d/acme/rows-text/files/swe.jsonl?full=1"),
    PageType("archive", "/d/acme/packed-zip/files/one.zip"),
    PageType("revisions", "/d/acme/settings/revisions"),
    PageType("server_revisions", "/s/acme/chess-env/revisions"),
    PageType("use", "/d/acme/settings/use"),
    PageType("use_of_a_task", "/d/acme/layout-tasks/use?task=tasks/fix-parser"),
    PageType("use_of_rows", "/d/acme/rows-nemo/use"),
    PageType("use_of_none", "/d/acme/rows-text/use?framework=harbor"),
    PageType("server_use", "/s/acme/chess-env/use"),
    PageType("server_tags", "/s/acme/chess-env/tags"),
    PageType("server_report", "/s/acme/chess-env/report?task=0", 404),
    PageType("tags", "/d/acme/settings/tags"),
    PageType("tags_of_rows", "/d/acme/rows-text/tags"),
    PageType("worklist", "/worklist"),
    PageType("worklist_nothing", "/worklist?framework=ors&group=claimed&collection=announced&sort=name"),
    PageType("report", "/d/acme/layout-tasks/report?task=tasks/fix-parser"),
    PageType("report_written", "/d/acme/layout-tasks/report?task=tasks/fix-parser&message=It%20fails."),
    PageType("pair", "/d/acme/layout-tasks/pair?a=tasks/fix-parser&b=tasks/no-grader"),
    PageType("pair_of_one", "/d/acme/layout-tasks/pair?a=tasks/fix-parser"),
    PageType("server_pair", "/s/acme/chess-env/pair?a=0", 404),
    PageType("task", "/t/acme/layout-tasks/tasks/fix-parser"),
    PageType("task_rendered", "/t/acme/layout-tasks/tasks/fix-parser?view=rendered"),
    PageType("task_at_root", "/t/acme/single-task"),
    PageType("task_of_steps", "/t/acme/multi-step/tasks/build-then-serve"),
    PageType("task_with_marks", "/t/acme/odd-bytes/tasks/zero-width"),
    PageType("task_with_line_ends", "/t/acme/odd-bytes/tasks/crlf"),
    PageType("task_of_a_long_name", f"/t/acme/odd-names/{LONG}"),
    PageType("task_file", "/t/acme/layout-tasks/tasks/fix-parser?path=environment/parser.py"),
    PageType("task_file_odd", f"/t/acme/odd-names/{LONG}?path=tests/test_outputs.py"),
    PageType("task_file_image", "/t/acme/odd-bytes/tasks/media?path=environment/media/square.png"),
    PageType("task_file_of_bytes", "/t/acme/odd-bytes/tasks/media?path=environment/bin/fast-exit"),
    PageType("task_file_of_one_line", "/t/acme/odd-bytes/tasks/media?path=environment/long-line.txt"),
    PageType("task_file_withheld", "/t/acme/layout-tasks/tasks/fix-parser?path=solution/solve.sh", 403),
    PageType("server_task", "/s/acme/chess-env/t/0", 404),
    PageType("server_task_at_root", "/s/acme/chess-env/t", 404),
    PageType("rollout", "/t/acme/rows-traces/chat/train/0"),
    PageType("rollout_with_a_picture", "/t/acme/rows-traces/chat/train/2"),
    PageType("models", "/models"),
    PageType("runs", "/runs"),
    PageType("runs_found", "/runs?f=agent:simple&sort=reward"),
    PageType("runs_nothing", "/runs?outcome=active"),
    PageType("run", f"/run/{DONE}"),
    PageType("run_of_the_solution", f"/run/{SOLVED}"),
    PageType("run_failed", f"/run/{FAILED}"),
    PageType("run_file", f"/run/{DONE}?path=verifier/ctrf.json"),
    PageType("run_file_image", f"/run/{DONE}?path=artifacts/app/dot.png"),
    PageType("run_file_withheld", f"/run/{DONE}?path=artifacts/solution/solve.sh", 403),
    PageType("seat", f"/run/{SEATED}/seat"),
    PageType("run_missing", "/run/0000000000000009", 404),
    PageType("login", "/login"),
    PageType("patterns", "/-/patterns"),
    PageType("missing", "/d/acme/no-such-environment", 404),
    PageType("no_page", "/no/such/page", 404),
)

READING = PageType("reading", "/d/acme/held", 202)
"""The page of an environment that is being read for the first time, over the hub of `visit_held`."""

IDS = [item.name for item in PAGE_TYPES]
