"""Mistakes that the wrapper for NeMo Gym could hold, one of each kind."""

from rlx.generator.targets.base import Mutant

_FILE = "resources_servers/{package}/app.py"
_ROWS = "resources_servers/{package}/data/train.jsonl"

MUTANTS = (
    Mutant("reward", _FILE, (("reward=episode.reward", "reward=float(episode.done)"),)),
    Mutant("done", _FILE, (("done=step.done", "done=False"),)),
    Mutant(
        "shared_state",
        _FILE,
        (
            ("self.episodes[request.session[SESSION_ID_KEY]] = ", 'self.episodes["shared"] = '),
            ("self.episodes.get(request.session[SESSION_ID_KEY])", 'self.episodes.get("shared")'),
            ("self.episodes.pop(request.session[SESSION_ID_KEY], None)", 'self.episodes.get("shared")'),
        ),
    ),
    Mutant(
        "error",
        _FILE,
        (
            (
                "        return ToolResponse(text=step.text",
                '        if step.text.startswith("Error:"):\n'
                "            raise ValueError(step.text)\n"
                "        return ToolResponse(text=step.text",
            ),
        ),
    ),
    Mutant("coercion", _FILE, (("episode.call(tool, **arguments)", "episode.call(tool, **{spoil})"),)),
    Mutant("leaked_answer", _ROWS, (('"verifier_metadata": {', '"verifier_metadata": {"answer": {hidden}, '),)),
    Mutant("tool_name", _FILE, (('app.post("/{tool}")', 'app.post("/act")'),)),
    Mutant(
        "split",
        _FILE,
        (("tasks.full(body.verifier_metadata.task_id)", 'tasks.full(tasks.find(tasks.splits()[0], 0)["id"])'),),
    ),
)
