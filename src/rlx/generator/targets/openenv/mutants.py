"""Mistakes that the wrapper for OpenEnv could hold, one of each kind."""

from rlx.generator.targets.base import Mutant

_FILE = "server/{package}_environment.py"

MUTANTS = (
    Mutant("reward", _FILE, (("self._step.reward if self._step else 0.0", "0.0"),)),
    Mutant("done", _FILE, (("self._episode is not None and self._episode.done", "False"),)),
    Mutant(
        "shared_state",
        _FILE,
        (
            ("        self._episode = {class}(", "        type(self)._shared = self._episode = {class}("),
            ("self._step = self._episode.call(", "self._step = type(self)._shared.call("),
        ),
    ),
    Mutant(
        "error",
        _FILE,
        (
            (
                "        return self._step.text\n",
                '        if self._step.text.startswith("Error:"):\n'
                "            raise ValueError(self._step.text)\n"
                "        return self._step.text\n",
            ),
        ),
    ),
    Mutant("coercion", _FILE, (("self._episode.call(tool, **arguments)", "self._episode.call(tool, **{spoil})"),)),
    Mutant("leaked_answer", _FILE, (("return tasks.public(split)\n", "{leak}\n"),)),
    Mutant("tool_name", _FILE, (("        @mcp.tool\n", '        @mcp.tool(name="act")\n'),)),
    Mutant("split", _FILE, (("task = tasks.find(split, index)", "task = tasks.find(tasks.splits()[0], 0)"),)),
)
