"""Mistakes that the wrapper for Verifiers could hold, one of each kind."""

from rlx.generator.targets.base import Mutant

_TOOLS = "{package}/toolset.py"
_TASKS = "{package}/taskset.py"

MUTANTS = (
    Mutant("reward", _TASKS, (("return trace.state.reward", "return float(trace.state.done)"),)),
    Mutant("done", _TOOLS, (("self.state.done = step.done", "self.state.done = False"),)),
    Mutant(
        "shared_state",
        _TOOLS,
        (
            ("self.episode = {class}(", "type(self).shared = self.episode = {class}("),
            ("step = self.episode.call(", "step = self.shared.call("),
        ),
    ),
    Mutant(
        "error",
        _TOOLS,
        (
            (
                "        return step.text\n",
                '        if step.text.startswith("Error:"):\n'
                "            raise ValueError(step.text)\n"
                "        return step.text\n",
            ),
        ),
    ),
    Mutant("coercion", _TOOLS, (("self.episode.call(tool, **arguments)", "self.episode.call(tool, **{spoil})"),)),
    Mutant(
        "leaked_answer",
        _TASKS,
        (
            ('stays with the tools."""\n', 'stays with the tools."""\n\n    info: dict\n'),
            ('prompt=task["prompt"])', 'prompt=task["prompt"], info=tasks.full(task["id"]))'),
        ),
    ),
    Mutant("tool_name", _TOOLS, (("    @vf.tool\n", '    @vf.tool(name="act")\n'),)),
    Mutant("split", _TASKS, (("tasks.public(self.config.split)", "tasks.public(tasks.splits()[0])"),)),
)
