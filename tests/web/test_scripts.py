"""A script and the modules it imports, as one file."""

import json
import re
import subprocess
from collections.abc import Callable

import pytest

from rlx.web.assets import assets
from rlx.web.scripts import packed_script

MODULES = {
    "first": """
import "./counts.js";
import { next } from "./counts.js";
const own = next();
told.push(["first", own]);
""",
    "second": """
import "./first.js";
import { next, twice } from "./counts.js";
const own = twice(next());
told.push(["second", own]);
""",
    "counts": """
let own = 0;
told.push("counts");
export function next() { return ++own; }
export function twice(n) { return 2 * n; }
""",
}


def test_modules_of_one_file_run_once_in_order_and_keep_their_names_to_themselves(
    require_tool: Callable[[str], str],
) -> None:
    node = require_tool("node")
    script = "const told = [];\n" + packed_script(MODULES, "second") + "\nconsole.log(JSON.stringify(told));"
    run = subprocess.run([node, "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == ["counts", ["first", 1], ["second", 4]]


@pytest.mark.parametrize(
    "text",
    [
        'import all from "./counts.js";',
        "export const one = 1;",
        "export default 1;",
        'import "https://elsewhere/x.js";',
    ],
)
def test_a_form_of_import_or_export_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        packed_script({**MODULES, "odd": text, "page": 'import "./odd.js";'}, "page")


def test_modules_that_import_each_other_in_a_circle_are_refused() -> None:
    circle = {"one": 'import "./two.js";', "two": 'import "./one.js";'}
    with pytest.raises(ValueError, match="imports itself"):
        packed_script(circle, "one")


def test_what_nothing_is_imported_into_stays_as_it_is() -> None:
    assert packed_script(MODULES, "counts") == MODULES["counts"]


def test_no_script_of_the_site_asks_for_another() -> None:
    scripts = {name: asset.content.decode() for name, asset in assets().contents.items() if name.endswith(".js")}
    assert "function suggest(" in scripts["page.js"]
    assert "function results(" in scripts["explore.js"]
    for told in scripts.values():
        assert not re.search(r"^\s*import\b", told, re.MULTILINE)
