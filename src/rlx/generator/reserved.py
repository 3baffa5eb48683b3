"""Names that a framework, an episode or the layout of a generated project already uses."""

_NEMO_GYM = ("verify", "seed_session", "close_session", "aggregate_metrics", "mcp")
_OPENENV = ("reset", "step", "state", "close")
_ORS = (
    *("setup", "teardown", "get_prompt", "get_messages", "list_splits", "list_tasks", "list_tools", "list_task_tools"),
    *("name", "num_tasks", "get_task", "get_task_range", "score_group"),
)
_VERIFIERS = ("setup_task", "run", "config", "server")
_EPISODE = ("call", "calls", "max_calls", "out_of_calls", "reward", "done")

TOOLS = frozenset({*_NEMO_GYM, *_OPENENV, *_ORS, *_VERIFIERS, *_EPISODE})
"""What no tool may be called."""

MODULES = frozenset(
    {"tasks", "rollout", "server", "app", "toolset", "taskset", "env", "client", "models", "conftest", "trl_toolkit"}
)
"""What no domain module may be called."""
