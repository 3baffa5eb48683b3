"""`rlx new`: environments for several frameworks from one specification, and whether they play alike."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import FormatOption, make_settings, new_app
from rlx.cli.output import Format, Output, Record, note
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.generator.asking import Endpoint
    from rlx.generator.check.report import Report
    from rlx.generator.spec import EnvSpec

app = new_app("Write an environment for several frameworks, and prove that its variants play alike.")


@app.command("new")
def new(
    description: Annotated[
        str | None, typer.Argument(metavar="DESCRIPTION", help="What the agent does, in plain English or Korean.")
    ] = None,
    spec: Annotated[
        Path | None, typer.Option("--spec", metavar="FILE", help="Write what this specification says.")
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="ARCHETYPE", help="Write the example of an archetype.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="DIR", help="Check the environment in a folder.")
    ] = None,
    skill: Annotated[
        Path | None, typer.Option("--skill", metavar="DIR", help="Write skills with which coding agents do all this.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to write. Never guessed.")] = None,
    target: Annotated[
        str, typer.Option("--target", metavar="A,B", help="Frameworks; all: those that the specification names.")
    ] = "all",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that hold something else.")] = False,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, metavar="N", help="With --check: random sequences of calls.")
    ] = 200,
    live: Annotated[
        bool, typer.Option("--live", help="With --check: rollouts by the model that the environment names.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="With --check: where the report goes.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="With a description: take what is proposed. The path is never guessed.")
    ] = False,
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="With a description: TOML of answers by question.")
    ] = None,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="With a description: a model reads it before anything is asked.")
    ] = False,
    model: Annotated[str | None, typer.Option("--model", metavar="ID", help="With --ask-model: which.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="With --ask-model: where, as OpenAI's API.")
    ] = None,
    format: FormatOption = "auto",
) -> None:
    """Write an environment for several frameworks, and prove that its variants play alike.

    A description is read by rules: what it leaves open is asked, and an archetype's rules are written where they fit.
    Where none fits, the specification is written with its open parts marked, and the exit code is 1.
    --spec writes one that a TOML file specifies, without a model and the same each time. --check starts every variant
    in an environment of uv of its own, plays random calls through all of them, compares every answer with what the
    rules say, and lets a model play. It runs the code in the folder on this machine, outside of any sandbox.
    """
    if [description, spec, example, check, skill].count(None) != 4:
        raise BadInput(
            "Say one of DESCRIPTION, --spec FILE, --example ARCHETYPE, --check DIR or --skill DIR.",
            hint="rlx new --help tells more.",
        )
    if skill is not None:
        _write_skills(skill, force, format)
        return
    names = () if target == "all" else tuple(name.strip() for name in target.split(",") if name.strip())
    if check is not None:
        _check(check, names, rounds, live, report or check / "check", format)
        return
    if description is not None:
        from rlx.cli.new_interview import interviewed, write_open

        endpoint = _endpoint(model, base_url) if ask_model else None
        found = interviewed(description, answers, yes, out, endpoint).spec
        if found.undecided:
            write_open(found, out, force)
        _write(found, None, names, out, force, format)
        return
    _write(_wanted(spec, example), spec, names, out, force, format)


def _endpoint(model: str | None, base_url: str | None) -> "Endpoint":
    import os

    from rlx.generator.asking import choose

    return choose(model, base_url, os.environ, Path())


def _wanted(spec: Path | None, example: str | None) -> "EnvSpec":
    from rlx.generator.registry import archetype
    from rlx.generator.spec import load_spec

    return load_spec(spec) if spec is not None else archetype(example or "").example()


def _write(
    wanted: "EnvSpec", file: Path | None, names: tuple[str, ...], out: Path | None, force: bool, format: Format
) -> None:
    """Render and write. The folder is the one that was said, here or in the specification."""
    from rlx.generator.render import render, write

    where = out if out is not None else Path(wanted.target.path) if wanted.target.path else None
    if where is None:
        raise BadInput(
            "Nobody said where the environment is written.", hint="Add --out DIR, or target.path to the file."
        )
    domain, tests = _own_domain(wanted, file)
    changed = write(render(wanted, names, domain=domain, tests=tests), where, force=force)
    for warning in wanted.warnings():
        note(f"Warning: {warning}")
    note(f"{wanted.title}: {len(changed)} files written to {where}. Next: rlx new --check {where}")
    records: list[Record] = [{"path": str(path)} for path in changed]
    Output(format).table(records, ("path",), id_columns=("path",))


def _write_skills(where: Path, force: bool, format: Format) -> None:
    from rlx.generator.render import write
    from rlx.generator.skills import render_skills

    tree = render_skills()
    changed = write(tree, where, force=force)
    note(f"{sum(path.endswith('/SKILL.md') for path in tree)} skills in {where}, {len(changed)} files new or changed.")
    Output(format).table([{"path": str(path)} for path in changed], ("path",), id_columns=("path",))


def _own_domain(wanted: "EnvSpec", file: Path | None) -> tuple[str | None, str | None]:
    """The domain module that a specification names beside itself, and its tests if there are some."""
    if wanted.domain is None or file is None:
        return None, None
    path = file.parent / wanted.domain
    if not path.resolve().is_relative_to(file.parent.resolve()) or not path.is_file():
        raise BadInput(f"{path} is no file beside the specification.", hint="Mend the key domain.")
    tests = path.with_name(f"test_{path.name}")
    return path.read_text(encoding="utf-8"), tests.read_text(encoding="utf-8") if tests.is_file() else None


def _check(folder: Path, names: tuple[str, ...], rounds: int, live: bool, where: Path, format: Format) -> None:
    import asyncio
    import os

    from rlx.generator.check.environments import make_frameworks
    from rlx.generator.check.report import write_report
    from rlx.generator.check.run import check

    frameworks = make_frameworks(make_settings(None, False, None).cache_dir / "frameworks")
    keys = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "HF_TOKEN", "MODEL", "MAX_TURNS")
    smoke = {"MAX_TURNS": "3", **{key: os.environ[key] for key in keys if key in os.environ}} if live else None
    found = asyncio.run(check(folder, frameworks, only=names, rounds=rounds, smoke=smoke, told=note))
    paths = write_report(found, where)
    Output(format).table(
        _records(found), ("framework", "ok", "failed", "differences", "seconds"), id_columns=("framework",)
    )
    verdict = "All variants agree" if found.ok else "Not everything is as it should be"
    note(f"{verdict}: {found.calls:,} calls in {found.rounds} sequences, {found.seconds:.0f} s. Report: {paths[-1]}")
    if not found.ok:
        raise typer.Exit(1)


def _records(found: "Report") -> list[Record]:
    return [
        {
            "framework": variant.framework,
            "version": variant.version,
            "ok": variant.ok,
            "failed": ", ".join(stage.name for stage in variant.stages if not stage.ok),
            "differences": len(variant.differences),
            "seconds": round(sum(stage.seconds for stage in variant.stages), 1),
        }
        for variant in found.variants
    ]
