"""`EnvSpec`: all that decides how an environment is built, as one readable TOML file. Version 1.

A file that cannot be is refused with every problem in it, each told by its place and how to mend it. `undecided` names
the parts that nobody has answered yet; such a specification can be read and written, but not rendered.
"""

import keyword
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from rlx.errors import BadInput
from rlx.generator import reserved
from rlx.generator.spec_toml import dump_toml

VERSION = 1
FRAMEWORKS = ("openenv", "ors", "verifiers", "nemo_gym")
MAX_FILE = 1_000_000
"""Characters of a specification file."""

type Scalar = str | int | float | bool
type Value = Scalar | list[Value] | dict[str, Value]
type ParameterType = Literal["string", "integer", "number", "boolean", "strings", "integers"]
type RewardStyle = Literal["per_step", "on_terminate", "post_episode"]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
Prose = Annotated[str, Field(min_length=1, max_length=20_000)]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Parameter(Part):
    """A parameter of a tool. Bounds and choices are told to the model in the schema, and checked by the domain."""

    name: Name
    type: ParameterType
    description: Line
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[str, ...] = ()
    default: Scalar | None = None
    """What is passed when the model leaves it out. None: it is required."""

    @property
    def required(self) -> bool:
        return self.default is None


class Tool(Part):
    name: Name
    description: Line
    """What the model reads of it."""
    parameters: tuple[Parameter, ...] = ()

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in reserved.TOOLS or keyword.iskeyword(name):
            raise ValueError(f"{name!r} means something to a framework or to Python: choose another name")
        return name

    @model_validator(mode="after")
    def _parameters_differ(self) -> "Tool":
        names = [parameter.name for parameter in self.parameters]
        if bad := [name for name in names if names.count(name) > 1 or keyword.iskeyword(name) or name == "tool"]:
            raise ValueError(f"parameters must have names of their own that are no words of Python: {bad[0]!r}")
        optional = [not parameter.required for parameter in self.parameters]
        if optional != sorted(optional):
            raise ValueError("parameters with a default come last")
        return self


class Action(Part):
    surface: Literal["tools", "text"] = "tools"
    """`text`: the model answers in tagged text, for models without tool calls."""
    insist: bool = False
    """Take tagged text although models have tools."""
    tools: tuple[Tool, ...] = Field(min_length=1, max_length=40)

    @model_validator(mode="after")
    def _fits(self) -> "Action":
        if self.surface == "text" and not self.insist:
            raise ValueError("models call tools today: set surface to 'tools', or insist = true to keep tagged text")
        names = [tool.name for tool in self.tools]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two tools are called {twice[0]!r}: rename one")
        return self


class State(Part):
    kind: Literal["none", "memory", "sandbox"] = "memory"
    """What an episode remembers between calls: nothing, objects in memory, or the files of a sandbox of its own."""
    across_episodes: bool = False
    """Rare, and usually a mistake: episodes are then no longer independent."""
    note: str = ""


class Reward(Part):
    style: RewardStyle = "on_terminate"
    criterion: Line
    """What success is, in words."""
    low: float = 0.0
    high: float = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> "Reward":
        if not self.low < self.high:
            raise ValueError("low must be below high: they bound the sum of an episode's rewards")
        return self


class Backend(Part):
    kind: Literal["none", "local_sandbox", "e2b", "web", "database", "judge"] = "none"
    secrets: tuple[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")], ...] = ()
    """Environment variables that a server stops without."""
    dependencies: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\[\],<>=!~ -]*$")], ...] = ()
    """Requirements that the domain module imports. Few: every framework has to live with them."""


class Termination(Part):
    """Whichever comes first ends an episode."""

    max_calls: int = Field(default=20, ge=1, le=1000)
    terminate_tool: bool = False
    """The model says itself that it is done: a tool `terminate(status)`."""
    condition: str = ""
    """The state that ends an episode, in words."""


class Task(Part):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
    split: Literal["train", "validation", "test"] = "train"
    prompt: Prose
    """What the model is told at the beginning."""
    given: dict[str, Value] = Field(default_factory=dict)
    """What the domain needs and anybody may read."""
    hidden: dict[str, Value] = Field(default_factory=dict)
    """What the domain needs and nobody may read: answers, seeds, goal states. No framework publishes it."""

    @model_validator(mode="after")
    def _keys_differ(self) -> "Task":
        own = {"id", "split", "prompt"}
        if twice := (own | set(self.given)) & set(self.hidden) | own & set(self.given):
            raise ValueError(f"key {min(twice)!r} is there twice: rename it in given or hidden")
        return self


class Target(Part):
    path: str | None = None
    """Where it is written, relative to the project. Never guessed."""
    frameworks: tuple[Name, ...] = Field(default=FRAMEWORKS, min_length=1)
    layout: Literal["safe", "plain"] = "safe"
    """`safe`: folders such as openenv_env. `plain`: named as the frameworks, which can shadow their packages."""
    folders: dict[Name, Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$")]] = Field(default_factory=dict)
    """Folders of one's own choice, by framework."""
    extras: tuple[Literal["verifiers_trl", "verifiers_legacy"], ...] = ()
    """A toolkit class for TRL, and the last API of old (verifiers 0.3.1)."""

    def folder(self, framework: str) -> str:
        default = framework if self.layout == "plain" else f"{framework}_env"
        return self.folders.get(framework, default)

    @model_validator(mode="after")
    def _inside(self) -> "Target":
        chosen = [self.folder(framework) for framework in self.frameworks]
        if any(".." in folder.split("/") for folder in chosen) or len(set(chosen)) < len(chosen):
            raise ValueError("each framework has a folder of its own inside the environment's")
        return self


class EnvSpec(Part):
    version: Literal[1] = 1
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=50)]
    """In kebab case, as distributions and Spaces are named."""
    title: Line
    archetype: Name | None = None
    """Which archetype's domain module it has; None when it has one of its own, which `domain` names."""
    domain: str | None = None
    """A file beside this one that holds a domain module of one's own."""
    module: Name
    """The domain module's name, without `.py`."""
    goal: Line
    loop: tuple[Line, ...] = Field(min_length=5, max_length=5)
    """One turn of the loop as five steps."""
    action: Action
    state: State = State()
    reward: Reward
    backend: Backend = Backend()
    termination: Termination = Termination()
    options: dict[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    """What the archetype can vary."""
    tasks: tuple[Task, ...] = Field(min_length=1, max_length=10_000)
    target: Target = Target()
    undecided: tuple[str, ...] = ()
    """Parts that nobody has decided yet, such as `reward`."""

    @property
    def package(self) -> str:
        """The name as Python's: `connect_four`."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The domain class: `ConnectFour`."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(split for split in ("train", "validation", "test") if any(t.split == split for t in self.tasks))

    @field_validator("module")
    @classmethod
    def _module_is_free(cls, module: str) -> str:
        if module in reserved.MODULES or module in FRAMEWORKS or keyword.iskeyword(module):
            raise ValueError(f"{module!r} is the name of another module: choose one such as 'game' or 'rules'")
        return module

    @model_validator(mode="after")
    def _fits(self) -> "EnvSpec":
        ids = [task.id for task in self.tasks]
        if len(set(ids)) < len(ids):
            twice = next(task_id for task_id in ids if ids.count(task_id) > 1)
            raise ValueError(f"two tasks have the id {twice!r}: rename one")
        if self.archetype is None and self.domain is None and "domain" not in self.undecided:
            raise ValueError("name an archetype, or a domain module of your own with domain = 'FILE'")
        if self.termination.terminate_tool and "terminate" not in {tool.name for tool in self.action.tools}:
            raise ValueError("termination.terminate_tool needs a tool called 'terminate' among action.tools")
        return self

    def warnings(self) -> tuple[str, ...]:
        """What is allowed and yet unwise."""
        found = []
        if self.state.across_episodes:
            found.append("State survives episodes: rollouts depend on each other, which is usually a mistake.")
        if self.target.layout == "plain":
            found.append("Folders named as the frameworks shadow the installed packages for code run beside them.")
        if "train" not in self.splits:
            found.append("No task is in the split train.")
        return tuple(found)


def load_spec(path: Path) -> EnvSpec:
    """The specification in a TOML file. Raises `BadInput` with all that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.", hint="Give a TOML file that rlx new wrote.") from error
    return parse_spec(text, str(path))


def parse_spec(text: str, name: str = "The specification") -> EnvSpec:
    """The specification in a TOML text. Raises `BadInput` with all that is wrong with it."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{name} has {len(text):,} characters; at most {MAX_FILE:,} are read.", hint="Shorten it.")
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is no TOML: {error}.", hint="Mend that line.") from error
    return make_spec(values, name)


def make_spec(values: Mapping[str, Any], name: str = "The specification") -> EnvSpec:
    """The specification that decoded TOML or JSON says. Raises `BadInput` with all that is wrong with it."""
    if values.get("version", VERSION) != VERSION:
        raise BadInput(
            f"{name} is of version {values['version']!r}; this program reads version {VERSION}.",
            hint="Write it anew with this program, or use the program that wrote it.",
        )
    try:
        return EnvSpec.model_validate(values)
    except ValidationError as error:
        raise BadInput(f"{name} cannot be used: " + " ".join(problems(error)), hint="See docs/new.md.") from error


def problems(error: ValidationError) -> list[str]:
    """Each problem as a sentence that begins with its place, such as `action.tools.0.name`."""
    found = []
    for one in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in one["loc"]) or "as a whole"
        message = re.sub(r"^Value error, ", "", one["msg"])
        if one["type"] == "extra_forbidden":
            message = "there is no such key: remove it or mend its spelling"
        elif one["type"] == "missing":
            message = "is missing: add it"
        found.append(f"{place}: {message}.")
    return found


def dump_spec(spec: EnvSpec) -> str:
    """The TOML text of a specification, which reads back as the same one. Defaults are left out."""
    values = spec.model_dump(mode="json", exclude_defaults=True)
    return dump_toml(
        {"version": VERSION, **values}, heading="What decides how this environment is built; see `rlx new`."
    )
