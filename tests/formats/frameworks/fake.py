"""Small packages in the shape of frameworks' own, as folders and as wheels."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

SENTINEL = "raise RuntimeError('A package is read and never imported.')\n"
NEMO = {
    "resources_servers/quiz/app.py": f'''{SENTINEL}
class QuizServer:
    def setup_webserver(self):
        app.post("/look_up")(self.look_up)
        app.post("/verify")(self.verify)
        app.post(f"/{{name}}")(self.other)

    async def verify(self, body):
        """Compare the boxed letter with the one that is kept, and pay 1 for the same. More follows."""
''',
    "resources_servers/quiz/task_data.py": f"""{SENTINEL}
class TaskData(BaseModel):
    letter: str = Field(json_schema_extra={{"consumed_by": ["verify"]}})
    choices: list[str] = Field(json_schema_extra={{"consumed_by": ["prompt", "provenance"]}})
    origin: str = Field(default="")
""",
    "resources_servers/quiz/configs/quiz.yaml": """
quiz_server:
  resources_servers:
    quiz: {entrypoint: app.py, domain: knowledge, description: Questions with letters, judge_model_server: null}
quiz_agent:
  responses_api_agents:
    simple_agent:
      max_steps: 3
      resources_server: {name: quiz_server}
      datasets: [{name: train, source: {type: huggingface, repo_id: acme/quiz-rows}}]
""",
    "resources_servers/essay/app.py": '"""Essays that a model judges, one at a time. By rubric."""\n',
    "resources_servers/essay/README.md": "# Essay\n\nThe reward is 1 where the judge agrees with `all` of the [rubric](https://x.example).\n",
    "resources_servers/essay/configs/long.yaml": """
essay:
  resources_servers:
    essay: {entrypoint: app.py, judge_model_server: {name: judge}}
""",
    "environments/quiz_again/config.yaml": """
quiz_again_agent:
  _inherit_from: quiz_agent
  responses_api_agents:
    simple_agent: {datasets: []}
""",
    "benchmarks/broken/config.yaml": "{% template %}: [",
    "responses_api_agents/simple_agent/app.py": '"""An agent that calls tools until it answers."""\n',
}
VERL = {
    "verl/utils/reward_score/__init__.py": f"""{SENTINEL}
def default_compute_score(data_source, solution_str, ground_truth):
    if data_source == "acme/sums":
        from . import sums
        return sums.compute_score(solution_str, ground_truth)
    elif data_source in ["code_a", "code_b"] or data_source.startswith("judge_"):
        if url:
            from . import service
        else:
            from . import local_code
    else:
        raise NotImplementedError
""",
    "verl/utils/reward_score/sums.py": 'def compute_score(a):\n    """Pay 1 for the number that is kept. Else 0."""\n',
    "verl/experimental/agent_loop/tool.py": '@register("tool_agent")\nclass ToolAgent(Base):\n    """Calls tools."""\n',
}
SKYRL = {
    "skyrl-gym/skyrl_gym/envs/__init__.py": f"""{SENTINEL}
register(id="maze", entry_point="skyrl_gym.envs.maze.env:MazeEnv")
""",
    "skyrl-gym/skyrl_gym/envs/maze/env.py": f'''{SENTINEL}
class MazeEnv(BaseTextEnv):
    """A maze to leave."""

    def __init__(self, env_config, extras={{}}):
        assert "reward_spec" in extras, "needed"
        self.max_turns = extras["max_turns"] if "max_turns" in extras else 9
        self.tools = MapToolGroup()
''',
}
REASONING = {
    "reasoning_gym/games/maze.py": f'''{SENTINEL}
NAME = "maze"

class MazeDataset(ProceduralDataset):
    """Generates mazes. Of any size."""

    def score_answer(self, answer, entry): ...

class SumsDataset(ProceduralDataset):
    """Generates sums of numbers."""

register_dataset(NAME, MazeDataset, MazeConfig)
register_dataset("sums", SumsDataset, SumsConfig, SumsCurriculum)
''',
}
VERIFIERS = {
    "verifiers/v1/tasksets/text_games/taskset.py": f'"""Games of words. Played."""\n{SENTINEL}',
    "verifiers/v1/harnesses/bash/__init__.py": SENTINEL,
    "verifiers/v1/harnesses/utils/__init__.py": SENTINEL,
}
PACKAGES = {
    "nemo_gym": ("nemo_gym", NEMO),
    "verl": ("verl", VERL),
    "skyrl": ("skyrl", SKYRL),
    "reasoning_gym": ("reasoning_gym", REASONING),
    "verifiers": ("verifiers", VERIFIERS),
}


def files(package: str, contents: Mapping[str, str], version: str = "9.8.7") -> dict[str, str]:
    info = f"{package}-{version}.dist-info"
    whole = {**contents, f"{info}/METADATA": f"Name: {package}\nVersion: {version}\nRequires-Python: >=3.12\n\nText.\n"}
    record = "".join(f"{path},sha256=x,1\n" for path in whole) + f"../../bin/{package},,\n{info}/RECORD,,\n"
    return {**whole, f"{info}/RECORD": record}


def folder(root: Path, package: str, contents: Mapping[str, str], version: str = "9.8.7") -> Path:
    for path, text in files(package, contents, version).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def wheel(path: Path, package: str, contents: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files(package, contents).items():
            archive.writestr(name, text)
    return path
