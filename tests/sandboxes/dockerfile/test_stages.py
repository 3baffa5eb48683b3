"""What is in force at each instruction is what Docker has there: variables, folders, users, shells, stages."""

from dataclasses import replace

import pytest

from rlx.sandboxes.dockerfile import Run, SetWorkdir
from rlx.sandboxes.dockerfile.bases import PATH
from tests.sandboxes.dockerfile.making import HOST, files, planned, refused, the_copy, the_run


def test_a_path_is_resolved_with_that_of_the_base() -> None:
    found = planned("ENV PATH=/opt/bin:$PATH\nRUN x")
    assert the_run(found).env["PATH"] == f"/opt/bin:{PATH}"
    assert found.image.env["PATH"] == f"/opt/bin:{PATH}"


def test_variables_of_one_env_are_filled_in_from_before_it() -> None:
    env = planned("ENV a=1\nENV a=2 b=$a c='$a' d=x\\ y\nENV old $b and $a").image.env
    assert {name: env[name] for name in ("a", "b", "c", "d", "old")} == {
        "a": "2", "b": "1", "c": "$a", "d": "x y", "old": "1 and 2",
    }  # fmt: skip


def test_variables_are_filled_in_where_docker_does_and_nowhere_else() -> None:
    found = planned("ENV D=/app U=me\nWORKDIR $D/x\nUSER ${U}\nRUN echo '$D' $D\nCMD echo $D", files("x"))
    run = found.steps[-1]
    assert isinstance(run, Run)
    assert (run.cwd, run.user, run.script) == ("/app/x", "me", "echo '$D' $D")
    assert run.argv == ("/bin/sh", "-c", "echo '$D' $D")
    assert found.image.cmd == ("/bin/sh", "-c", "echo $D")


def test_arguments_have_the_scope_that_docker_gives_them() -> None:
    text = "ARG tag=12\nARG both=$tag\nFROM debian:$tag\nRUN one\nARG both\nARG own=$both-x\nARG none\nRUN two"
    found = planned(text)
    first, second = (step for step in found.steps if isinstance(step, Run))
    assert found.base.reference == "debian:12"
    assert not {"tag", "both"} & set(first.env)
    assert (second.env["both"], second.env["own"]) == ("12", "12-x")
    assert not {"tag", "none"} & set(second.env)
    assert "own" not in found.image.env


def test_arguments_given_win_over_defaults_and_count_only_where_declared() -> None:
    text = "FROM debian:12\nARG a=1\nRUN $a"
    assert the_run(planned(text, args={"a": "2", "b": "3"})).env["a"] == "2"
    assert "b" not in the_run(planned(text, args={"a": "2", "b": "3"})).env


def test_what_comes_later_wins_between_arguments_and_variables() -> None:
    assert the_run(planned("ARG a=1\nENV a=2\nRUN x")).env["a"] == "2"
    found = planned("ENV a=2\nARG a=1\nRUN x")
    assert (the_run(found).env["a"], found.image.env["a"]) == ("1", "2")


def test_arguments_of_the_platform_and_of_proxies_are_known() -> None:
    assert the_run(planned("ARG TARGETARCH\nRUN x")).env["TARGETARCH"] == "amd64"
    assert the_run(planned("RUN x", args={"HTTPS_PROXY": "p"})).env["HTTPS_PROXY"] == "p"
    found = planned("FROM debian:12 AS debian-amd64\nFROM debian-$TARGETARCH\nRUN x")
    assert found.base.reference == "debian:12"


def test_relative_folders_go_on_from_where_one_is() -> None:
    found = planned("WORKDIR a\nWORKDIR b/../c/\nWORKDIR //x/.\nWORKDIR y")
    assert [step.path for step in found.steps if isinstance(step, SetWorkdir)] == ["/a", "/a/c", "/x", "/x/y"]


def test_a_folder_belongs_to_the_user_of_the_moment() -> None:
    found = planned("WORKDIR /a\nUSER me\nWORKDIR /b")
    assert [step.owner for step in found.steps if isinstance(step, SetWorkdir)] == [None, "me"]


def test_a_shell_is_used_for_what_follows() -> None:
    found = planned('SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN a | b\nRUN ["c", "$X"]\nENTRYPOINT d')
    first, second = (step for step in found.steps if isinstance(step, Run))
    assert first.argv == ("/bin/bash", "-o", "pipefail", "-c", "a | b")
    assert (second.argv, second.script) == (("c", "$X"), None)
    assert found.image.entrypoint == ("/bin/bash", "-o", "pipefail", "-c", "d")


def test_an_entrypoint_takes_an_inherited_command_away() -> None:
    text = 'FROM debian:12 AS a\nCMD ["a"]\nFROM a\nENTRYPOINT ["b"]'
    assert planned(text).image.cmd == ()
    assert planned(f'{text}\nCMD ["c"]').image.cmd == ("c",)


def test_what_changes_no_files_is_kept_as_facts() -> None:
    found = planned(
        "EXPOSE 80 443\nLABEL a=b\nVOLUME /x\nSTOPSIGNAL INT\nHEALTHCHECK --interval=5s CMD curl x\nONBUILD RUN y"
    )
    assert found.steps == ()
    assert found.image.facts == {
        "EXPOSE": ("80 443",),
        "LABEL": ("a=b",),
        "VOLUME": ("/x",),
        "STOPSIGNAL": ("INT",),
        "HEALTHCHECK": ("--interval=5s CMD curl x",),
        "ONBUILD": ("RUN y",),
    }


def test_a_heredoc_alone_is_the_script_and_others_are_the_shells_own() -> None:
    assert the_run(planned("RUN <<E\na\nb $X\nE")).script == "a\nb $X\n"
    assert the_run(planned("RUN <<-E\n\ta\n\tE")).script == "a\n"
    assert the_run(planned("RUN cat <<'E' > /x && y\na\nE")).script == "cat <<'E' > /x && y\na\nE"


def test_a_heredoc_with_a_shebang_is_a_file_that_is_run() -> None:
    run = the_run(planned("RUN <<E\n#!/usr/bin/env python3\nprint(1)\nE"))
    (mount,) = run.mounts
    assert (run.script, mount.kind, mount.target, mount.mode) == ("/dev/pipes/E", "file", "/dev/pipes/E", 0o755)
    assert mount.text == "#!/usr/bin/env python3\nprint(1)\n"


def test_mounts_are_planned() -> None:
    text = (
        "FROM debian:12 AS a\nRUN x\nFROM debian:12\nENV C=/c\nWORKDIR /w\n"
        "RUN --mount=type=cache,target=$C,uid=7 --mount=type=bind,source=d,target=e,rw"
        " --mount=from=a,source=/opt,target=/o --mount=type=tmpfs,target=/t --network=none y"
    )
    found = planned(text, files("d/f"))
    run = the_run(found)
    cache, bind, other, tmpfs = run.mounts
    assert (cache.kind, cache.target, cache.owner) == ("cache", "/c", "7:0")
    assert (bind.target, bind.read_only, [item.name for item in bind.items]) == ("/w/e", False, ["", "f"])
    assert (other.stage, other.source, other.read_only) == (0, "opt", True)
    assert (tmpfs.kind, tmpfs.target, run.network) == ("tmpfs", "/t", False)


def test_stages_that_are_not_needed_are_not_planned() -> None:
    text = "FROM alpine AS docs\nRUN a\nFROM debian:12 AS build\nRUN b\nFROM debian:12\nCOPY --from=build /x /y"
    found = planned(text)
    assert [stage.name for stage in found.stages] == ["build", None]
    assert the_copy(found).stage == 0


def test_stages_are_found_by_name_and_by_number() -> None:
    text = "FROM debian:12 AS Build\nRUN a\nFROM debian:12\nCOPY --from={} /x/*.whl /y/"
    for name in ("build", "BUILD", "0"):
        copy = the_copy(planned(text.format(name)))
        assert (copy.origin, copy.stage, copy.patterns, copy.items) == ("stage", 0, ("/x/*.whl",), ())


def test_a_stage_on_another_goes_on_from_it_under_the_same_keys() -> None:
    text = "FROM debian:12 AS a\nENV X=1\nARG Y=2\nWORKDIR /w\nUSER me\nRUN a\nFROM a\nRUN b $Y"
    found = planned(text)
    below = planned("FROM debian:12 AS a\nENV X=1\nARG Y=2\nWORKDIR /w\nUSER me\nRUN a")
    run = the_run(found)
    assert (run.env["X"], run.env["Y"], run.cwd, run.user) == ("1", "2", "/w", "me")
    assert [step.key for step in found.steps[:-1]] == [step.key for step in below.steps]


def test_keys_change_with_what_a_layer_is_made_from_and_with_nothing_else() -> None:
    text = "FROM debian:12\nCOPY a /a\nENV X=1\nRUN x"
    before = planned(text, files("a"))
    assert planned(f"# note\n{text}\nCMD y", files("a", "b")).final.key == before.final.key
    assert planned(text.replace("debian:12", "ubuntu:24.04"), files("a")).final.key == before.final.key
    changed = {"a": replace(files("a")["a"], digest="other")}
    others = [
        planned(text, changed),
        planned(text, {"a": replace(files("a")["a"], mode=0o755)}),
        planned(text.replace("X=1", "X=2"), files("a")),
        planned(text.replace("RUN x", "RUN  x y"), files("a")),
        planned(text.replace("COPY a", "COPY --chown=1 a"), files("a")),
        planned(text.replace("RUN x", "USER me\nRUN x"), files("a")),
        planned(text, files("a"), host=replace(HOST, key="another system")),
    ]
    keys = {found.final.key for found in others}
    assert len(keys) == len(others)
    assert before.final.key not in keys


def test_steps_that_change_no_files_have_the_key_before_them() -> None:
    first, second, third = (step.key for step in planned("RUN x\nENV a=b\nUSER me").steps)
    assert first == second == third


def test_what_a_stage_copies_from_is_part_of_its_key() -> None:
    text = "FROM debian:12 AS a\nRUN {}\nFROM debian:12\nCOPY --from=a /x /x"
    assert planned(text.format("one")).final.key != planned(text.format("two")).final.key


def test_without_digests_nothing_is_kept() -> None:
    context = {"a": replace(files("a")["a"], digest="")}
    assert [step.key is None for step in planned("RUN x\nCOPY a /a\nRUN y", context).steps] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("FROM scratch\nCOPY a /", "base", 1),
        ("ARG image\nFROM $image", "base", 2),
        ("FROM {docker_image}", "syntax", 1),
        ("FROM a b", "syntax", 1),
        ("FROM debian:12 AS 1x", "syntax", 1),
        ("RUN x\nFROM debian:12", "syntax", 1),
        ("# no FROM\nARG a=1", "syntax", None),
        ("FROM --platform=linux/arm64 debian:12", "platform", 1),
        ("FROM --platform=windows/amd64 debian:12", "platform", 1),
        ("FROM debian:12\nRUN a\nRUN --mount=type=secret,id=t cat /run/secrets/t", "secret", 3),
        ("FROM debian:12\nRUN --mount=type=ssh git clone x", "secret", 2),
        ("FROM debian:12\nRUN --security=insecure x", "privileged", 2),
        ("FROM debian:12\nRUN --network=host x", "privileged", 2),
        ("FROM debian:12\nRUN --mount=type=cache,from=a,target=/x y", "unsupported", 2),
        ("FROM debian:12\nRUN --mount=type=bind,from=alpine,target=/x y", "base", 2),
        ("FROM debian:12\nRUN --mount=type=bind,source=none,target=/x y", "syntax", 2),
        ("FROM debian:12\nRUN --what x", "syntax", 2),
        ("FROM debian:12\nRUN []", "syntax", 2),
        ("FROM debian:12\nSHELL bash", "syntax", 2),
        ("FROM debian:12\nUSER $NONE", "syntax", 2),
        ("FROM debian:12\nENV a", "syntax", 2),
        ("FROM debian:12\nENV a=1 b", "syntax", 2),
        ("FROM debian:12\nENV a=${b", "syntax", 2),
        ("FROM debian:12\nENV a=${PATH%:*}", "unsupported", 2),
        ("FROM debian:12\n\nADD https://a.b/c /x", "network", 3),
        ("FROM debian:12\nADD git@github.com:a/b.git /x", "network", 2),
        ("FROM debian:12\nADD https://github.com/a/b.git /x", "network", 2),
        ("FROM debian:12\nCOPY --from=nginx:1 /x /y", "base", 2),
        ("FROM debian:12\nCOPY --from=7 /x /y", "syntax", 2),
        ("FROM debian:12 AS a\nCOPY --from=a /x /y", "base", 2),
        ("FROM debian:12\nCOPY --from=$S /x /y", "unsupported", 2),
        ("FROM debian:12 AS a\nONBUILD RUN x\nFROM a", "unsupported", 3),
        ("FROM alpine:3 AS a\nRUN x\nFROM debian:12\nCOPY --from=a /x /y", "base", 1),
    ],
)
def test_what_cannot_be_right_is_refused_by_class_and_line(text: str, kind: str, line: int | None) -> None:
    found = refused(text)
    assert (found.kind, found.line) == (kind, line)
    assert found.text == (text.split("\n")[line - 1] if line else "")


def test_the_platform_of_this_machine_may_be_named() -> None:
    for name in ("linux/amd64", "amd64", "linux", "linux/x86_64", "$BUILDPLATFORM", "${TARGETPLATFORM}"):
        planned(f"FROM --platform={name} debian:12")


def test_values_that_double_without_end_are_refused() -> None:
    assert refused("FROM debian:12\nENV A=aaaaaaaa\n" + "ENV A=$A$A\n" * 40).kind == "unsupported"


def test_copying_without_end_is_refused() -> None:
    context = files(*(f"d/{n}" for n in range(2000)))
    assert refused("FROM debian:12\n" + "COPY . /x/\n" * 300, context).kind == "unsupported"


def test_a_deep_chain_of_stages_is_planned_or_refused() -> None:
    def chain(stages: int) -> str:
        return "FROM debian:12 AS s0\n" + "".join(
            f"FROM s{n} AS s{n + 1}\nCOPY --from=s{n} /a /b\n" for n in range(stages)
        )

    assert len(planned(chain(40)).steps) == 40
    assert refused(chain(500)).kind == "unsupported"
