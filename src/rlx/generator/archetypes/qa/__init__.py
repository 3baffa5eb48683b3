"""Questions about passages, answered once and judged by a program: the same text, or the same number."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rlx.generator.archetypes.base import Archetype, Call, Kind
from rlx.generator.spec import Action, EnvSpec, Parameter, Reward, Task, Termination, Tool, Value

_PROMPT = """\
Answer a question from passages. find_passages finds those that hold a word; submit_answer takes your answer, once.
Answer with a name or a number alone. The question: """
_PASSAGES: list[Value] = [
    "The lighthouse of Varn was built in 1874. Its keeper, Ilse Brandt, lit it for 31 years.",
    "The ferry to Varn leaves from Holm twice a day, and takes 45 minutes.",
    "Holm has 2,300 inhabitants. Its harbour was designed by Tomas Reyl.",
    "Ilse Brandt was born in Holm, and kept a journal of every storm: 412 in all.",
]
_TASKS: tuple[tuple[str, str, list[Value]], ...] = (
    ("train", "Who lit the lighthouse of Varn?", ["Ilse Brandt", "Brandt"]),
    ("train", "In which year was the lighthouse of Varn built?", ["1874"]),
    ("train", "How many people live in the place where the ferry to Varn leaves?", ["2300"]),
    ("train", "Who designed the harbour of the town where the keeper was born?", ["Tomas Reyl", "Reyl"]),
    ("validation", "How many storms are in the keeper's journal?", ["412"]),
    ("test", "How many minutes does the ferry take?", ["45"]),
)


def example() -> EnvSpec:
    tasks = [
        Task(
            id=f"{split}-{number}",
            split=split,
            prompt=_PROMPT + question,
            given={"passages": _PASSAGES},
            hidden={"accepted": accepted},
        )
        for number, (split, question, accepted) in enumerate(_TASKS)
    ]
    return EnvSpec(
        name="answer-questions",
        title="Question answering",
        archetype="qa",
        module="judge",
        goal="Answer a question from passages.",
        loop=(
            "The model reads the question, and what it has found.",
            "It looks for passages, or answers.",
            "The rules find the passages that hold all words asked for.",
            "An answer is compared with those that are accepted, as text or as a number.",
            "The model sees the passages, or that the answer was taken.",
        ),
        action=Action(
            tools=(
                Tool(
                    name="submit_answer",
                    description="Give your answer, once. It ends the episode.",
                    parameters=(Parameter(name="answer", type="string", description="A name or a number alone."),),
                ),
                Tool(
                    name="find_passages",
                    description="Find the passages that hold all of these words.",
                    parameters=(Parameter(name="words", type="string", description="One word or several."),),
                ),
            )
        ),
        reward=Reward(criterion="1 for an answer that a program finds equal to an accepted one, 0 otherwise."),
        termination=Termination(max_calls=10, condition="An answer is given."),
        tasks=tuple(tasks),
    )


def problems(spec: EnvSpec) -> Sequence[str]:
    """Why this module cannot serve a specification."""
    found = []
    tools = [[(each.name, each.type) for each in tool.parameters] for tool in spec.action.tools]
    if tools != [[("answer", "string")], [("words", "string")]]:
        found.append("the first tool takes answer, the second words, both as strings; there are no others.")
    if spec.reward.style == "per_step":
        found.append("an answer is rewarded when it is given: set reward.style to 'on_terminate'.")
    for task in spec.tasks:
        accepted, passages = task.hidden.get("accepted"), task.given.get("passages")
        if not accepted or not _are_texts(accepted) or not _are_texts(passages):
            found.append(f"task {task.id} gives passages and hides accepted, both lists of texts.")
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def script(spec: EnvSpec) -> Sequence[Call]:
    """Look once, then answer the first task."""
    submit, find = (tool.name for tool in spec.action.tools)
    accepted: Any = spec.tasks[0].hidden["accepted"]
    return [Call(find, {"words": "lighthouse"}), Call(submit, {"answer": accepted[0]})]


def guess(spec: EnvSpec, source: random.Random, task: Mapping[str, Any]) -> Call:
    """A look, or an answer: right, nearly right, or none."""
    submit, find = (tool.name for tool in spec.action.tools)
    if source.random() < 0.6:
        return Call(find, {"words": source.choice(["Varn", "holm ferry", "the", "unicorn", "", "?!", "31 years"])})
    right = str(source.choice(task["accepted"]))
    return Call(submit, {"answer": source.choice([right, f" {right.upper()}. ", f"{right} or so", "nan", "", "日本"])})


ARCHETYPE = Archetype(
    name="qa",
    says="a question is answered once, and a program compares the answer with those that are accepted",
    example=example,
    options={},
    script=script,
    guess=guess,
    problems=problems,
    kinds=(
        Kind(
            r"question[- ]answering|answer(?:s|ing)? (?:a |the )?questions?|\bq ?& ?a\b"
            r"|질의 ?응답|질문에? ?(?:답|대답)\w*",
            r"questions?|answers?|answering|passages?|texts?|find(?:s|ing)?|search(?:es|ing)?|look(?:s|ing)?|exact|match"
            r"|compar\w+|programmatic(?:ally)?|judged?|correct|facts?|names?|numbers?|질문\w*|답\w*|정답\w*|지문\w*|검색\w*",
            example,
        ),
    ),
)
