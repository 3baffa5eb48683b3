"""Mistakes that the wrapper for ORS could hold, one of each kind."""

from rlx.generator.targets.base import Mutant

_FILE = "server.py"

MUTANTS = (
    Mutant("reward", _FILE, (("reward=earned", "reward=0.0"),)),
    Mutant("done", _FILE, (("finished=step.done", "finished=False"),)),
    Mutant(
        "shared_state",
        _FILE,
        (
            ("self.episode = {class}(task)", "type(self).shared = self.episode = {class}(task)"),
            ("step = self.episode.call(", "step = self.shared.call("),
        ),
    ),
    Mutant(
        "error",
        _FILE,
        (
            (
                "        step = self.episode.call(name, **arguments)\n",
                "        step = self.episode.call(name, **arguments)\n"
                '        if step.text.startswith("Error:"):\n'
                "            raise ValueError(step.text)\n",
            ),
        ),
    ),
    Mutant("coercion", _FILE, (("self.episode.call(name, **arguments)", "self.episode.call(name, **{spoil})"),)),
    Mutant("leaked_answer", _FILE, (("return tasks.public(split)\n", "{leak}\n"),)),
    Mutant("tool_name", _FILE, (("    def {tool}(self", "    def act(self"),)),
    Mutant("split", _FILE, (("return tasks.public(split)\n", "return tasks.public(tasks.splits()[0])\n"),)),
)
