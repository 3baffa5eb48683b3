"""Every kind of sandbox that is registered keeps every promise, or says that this machine cannot run it."""

import os

import pytest

from rlx.errors import BadInput, NotFound
from rlx.sandboxes.base import Impossible, SandboxSpec
from rlx.sandboxes.check import PROMISES, Broken, Promise, Trial, check, verdict
from rlx.sandboxes.local.kind import Local, LocalOptions
from rlx.sandboxes.registry import entries, sandbox_kind
from rlx.settings import Settings
from rlx.texts import words

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name.replace(" ", "_"))
@pytest.mark.parametrize("name", [entry.name for entry in entries()])
async def test_a_sandbox_keeps_its_promise(name: str, promise: Promise, sandbox_settings: Settings) -> None:
    kind = sandbox_kind(name, sandbox_settings)
    able = kind.can_run()
    if isinstance(able, Impossible):
        if name == "local" and os.environ.get("RLX_REQUIRE_TOOLS") == "1":
            pytest.fail(words(able.why), pytrace=False)
        pytest.skip(words(able.why))
    found = await verdict(kind, promise)
    assert found.state != "failed", found.detail


@pytest.mark.parametrize("name", ["processes are limited", "memory is limited"])
async def test_limits_hold_without_control_groups(name: str, local: Local, sandbox_settings: Settings) -> None:
    kind = Local(sandbox_settings, LocalOptions(cgroups=False))
    promise = next(promise for promise in PROMISES if promise.name == name)
    found = await verdict(kind, promise)
    assert found.state == "ok", found.detail


async def test_a_broken_promise_is_told_with_what_was_found(local: Local) -> None:
    async def lie(trial: Trial) -> None:
        raise Broken("it does not")

    [found] = [each async for each in check(local, (Promise("it does", lie),))]
    assert (found.state, found.detail) == ("failed", "it does not")


def test_an_unknown_sandbox_names_those_there_are(sandbox_settings: Settings) -> None:
    with pytest.raises(NotFound) as raised:
        sandbox_kind("none", sandbox_settings)
    assert "local" in str(raised.value.hint)


def test_a_closed_network_is_refused_when_a_sandbox_is_made(sandbox_settings: Settings) -> None:
    kind = Local(sandbox_settings, LocalOptions(public_network=False))
    with pytest.raises(BadInput, match="closed"):
        kind.make(SandboxSpec(network="public"))


def test_a_relative_working_folder_is_refused(sandbox_settings: Settings) -> None:
    with pytest.raises(BadInput, match="absolute"):
        Local(sandbox_settings).make(SandboxSpec(workdir="app"))
