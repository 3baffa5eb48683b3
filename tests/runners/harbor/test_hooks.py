"""Where we reach into OpenEnv and Harbor: that what is reached for is still there, and does what it is to do."""

import inspect
from importlib import import_module
from typing import Any

import pytest

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def hooks() -> Any:
    found = import_module("rlx.runners.harbor.hooks")
    found.install()
    return found


@pytest.fixture
def reach(hooks: Any) -> Any:
    def bound(**bindings: str) -> Any:
        return hooks.CURRENT.set(hooks.Reach("module:Class", lambda trial: None, bindings))

    return bound


def test_every_place_that_resolves_variables_looks_in_the_bindings_alone(hooks: Any) -> None:
    names = ("agents.oracle", "agents.factory", "verifier.verifier", "environments.base", "trial.trial", "utils.env")
    for name in names:
        assert import_module(f"harbor.{name}").resolve_env_vars is hooks.resolve_bound, name


def test_a_module_that_is_loaded_later_is_told_too(hooks: Any) -> None:
    assert import_module("harbor.environments.islo").resolve_env_vars is hooks.resolve_bound


def test_variables_stand_for_what_the_rollout_was_given(
    hooks: Any, reach: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    reach(JUDGE="told")
    asked = {"A": "${JUDGE}", "B": "${OTHER:-default}", "C": "as it is", "D": "${HF_TOKEN:-none}", "E": "x${HF_TOKEN}"}

    assert hooks.resolve_bound(asked) == {
        "A": "told",
        "B": "default",
        "C": "as it is",
        "D": "none",
        "E": "x${HF_TOKEN}",
    }
    for name in ("HF_TOKEN", "PATH"):
        with pytest.raises(ValueError, match=name):
            hooks.resolve_bound({"X": f"${{{name}}}"})


def test_a_trials_environment_is_ours_and_its_agent_is_told_where_the_proxy_is(
    hooks: Any, reach: Any, tmp_path: Any
) -> None:
    reach()
    build = import_module("openenv.harbor.rollout").build_trial_config
    for name in ("oracle", "nop", "simple", "terminus-2"):
        config = build(
            task_dir=tmp_path,
            harness=name,
            sandbox="local",
            intercept_url="http://127.0.0.1:9/capture",
            session_id="s0",
            model="org/model",
            trial_name="t",
            trials_dir=tmp_path,
        )
        assert config.environment.import_path == "module:Class"
        assert config.environment.delete
        if name in ("simple", "terminus-2"):
            told = str(config.agent.kwargs)
            assert "http://127.0.0.1:9/capture/v1" in told
            assert "s0" in told


def test_what_we_call_takes_what_we_give(hooks: Any) -> None:
    rollout = import_module("openenv.harbor.rollout").run_rollout
    taken = set(inspect.signature(rollout).parameters)
    assert {"registry", "intercept_url", "agent_step_limit", "require_reward", "upstream", "capture_level"} <= taken
    pool = import_module("openenv.core.harness.capture.server").UpstreamPool(default_client=None, default_level="text")
    assert pool._by_engine == {}
    assert hasattr(pool, "_lock")
    trial = import_module("harbor.trial.trial").Trial
    assert "_is_agent_environment_stopped" in inspect.getsource(trial.__init__)


def test_agents_of_layers_reach_the_proxy_alone_and_send_and_fetch_nothing_by_themselves(
    hooks: Any, reach: Any, tmp_path: Any
) -> None:
    reach()
    build = import_module("openenv.harbor.rollout").build_trial_config
    switches = {
        "mini-swe-agent": "LITELLM_LOCAL_MODEL_COST_MAP",
        "opencode": "OPENCODE_DISABLE_AUTOUPDATE",
        "pi": "PI_OFFLINE",
    }
    for name, switch in switches.items():
        config = build(
            task_dir=tmp_path,
            harness=name,
            sandbox="local",
            intercept_url="http://127.0.0.1:8484/capture",
            session_id="s0",
            model="org/model",
            trial_name="t",
            trials_dir=tmp_path,
        )
        told = f"{config.agent.kwargs} {config.agent.env}"
        assert config.agent.import_path.startswith("rlx.runners.harbor.installed:"), name
        assert "http://127.0.0.1:8484/capture" in told, name
        assert "s0" in told, name
        assert switch in config.agent.env, name


def test_a_local_sandbox_allows_its_forwarder_and_no_other_host(hooks: Any, tmp_path: Any) -> None:
    local = import_module("rlx.sandboxes.local.harbor").LocalEnvironment
    place = import_module("rlx.sandboxes.harbor").Place
    policy = import_module("harbor.models.task.config").NetworkPolicy
    for layers, host, fine in (
        (("agent-x",), "127.0.0.1", True),
        (("agent-x",), "10.0.0.1", False),
        ((), "127.0.0.1", False),
    ):
        made = object.__new__(local)
        made._place = place(None, agent_layers=layers)
        asked = policy(network_mode="allowlist", allowed_hosts=[host])
        if fine:
            made.validate_network_policy_support(asked)
        else:
            with pytest.raises(ValueError, match="allow"):
                made.validate_network_policy_support(asked)
