"""Board games: pieces in a row, dropped or placed, against a scripted opponent. Connect four is the example."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rlx.generator.archetypes.base import Archetype, Call, Kind
from rlx.generator.spec import Action, EnvSpec, Parameter, Reward, Target, Task, Termination, Tool

_PROMPT = """\
You play connect four on a board of 6 rows and 7 columns. You are X, and it is your turn; O is the opponent.
A piece falls to the lowest free cell of its column. Four of your pieces in a row, in a column or diagonally win.
Drop one piece at a time with drop_piece, and see what the opponent answers. Columns count from 1 on the left."""
_COVERS = (
    r"boards?|games?|opponents?|pieces?|columns?|rows?|cells?|wins?|winning|won|draws?|loses?|loss|los(?:es|t)|diagonal(?:ly)?"
    r"|drops?|dropp(?:ed|ing)|plac(?:e|es|ed|ing)|scripted|against|legal|illegal|sides?|moves?|players?|four|three|five"
    r"|보드|판|상대\w*|돌\w*|이기\w*|이긴\w*|무승부\w*|지면|수"
)
_OPENINGS: tuple[tuple[str, tuple[int, ...], int], ...] = (
    ("train", (), 482913577),
    ("train", (4, 4), 915240683),
    ("train", (4, 3, 4, 3), 637108429),
    ("train", (1, 7, 2, 6), 208467315),
    ("validation", (3, 4, 5, 4), 754390126),
    ("test", (4, 5, 3, 2), 361582947),
)


def example() -> EnvSpec:
    tasks = [
        Task(
            id=f"{split}-{number}",
            split=split,
            prompt=_PROMPT + (f"\nThese columns were played already, X first: {_listed(moves)}." if moves else ""),
            given={"moves": list(moves)},
            hidden={"opponent_seed": seed},
        )
        for number, (split, moves, seed) in enumerate(_OPENINGS)
    ]
    return EnvSpec(
        name="connect-four",
        title="Connect four",
        archetype="board_game",
        module="game",
        goal="Get four pieces in a row before the opponent does.",
        loop=(
            "The model reads the board.",
            "It chooses a column and drops a piece.",
            "The rules check the move, and refuse it with a reason where it is illegal.",
            "The scripted opponent answers with a piece of its own.",
            "The model sees the new board, or how the game ended.",
        ),
        action=Action(
            tools=(
                Tool(
                    name="drop_piece",
                    description="Drop one of your pieces into a column and see what the opponent answers.",
                    parameters=(
                        Parameter(
                            name="column",
                            type="integer",
                            description="The column, from 1 on the left to 7 on the right.",
                            minimum=1,
                            maximum=7,
                        ),
                    ),
                ),
                Tool(name="show_board", description="Show the board as it stands."),
            )
        ),
        reward=Reward(criterion="1 for a win, 0.5 for a draw, 0 for a loss or a game that is not finished in time."),
        termination=Termination(max_calls=24, condition="Somebody has four in a row, or the board is full."),
        tasks=tuple(tasks),
        target=Target(),
    )


def _placed(name: str, title: str, size: int, connect: int) -> EnvSpec:
    """A game on a square board whose pieces stay where they are put. Its opponents start in other ways than one."""
    prompt = (
        f"You play {title.lower()} on a board of {size} rows and {size} columns. You are X, and it is your turn; O is "
        f"the opponent.\n{connect} of your pieces in a row, in a column or diagonally win. Place one piece at a time "
        f"with place_piece, and see what the opponent answers. Rows count from the top, columns from the left."
    )
    middle = size // 2 + 1
    openings = ((), (middle, middle, 1, 1), (1, middle, middle, 1), (middle, 1, 1, middle))
    splits = ("train", "train", "validation", "test")
    tasks = tuple(
        Task(
            id=f"{split}-{number}",
            split=split,
            prompt=prompt,
            given={"moves": [list(moves[:2]), list(moves[2:])] if moves else []},
            hidden={"opponent_seed": _OPENINGS[number][2]},
        )
        for number, (split, moves) in enumerate(zip(splits, openings, strict=True))
    )
    parameters = tuple(
        Parameter(name=each, type="integer", description=f"The {each}, counted from 1.", minimum=1, maximum=size)
        for each in ("row", "column")
    )
    place = Tool(
        name="place_piece",
        description="Place one of your pieces on a free cell and see what the opponent answers.",
        parameters=parameters,
    )
    values = example().model_dump() | {
        "name": name,
        "title": title,
        "goal": f"Get {connect} pieces in a row before the opponent does.",
        "action": Action(tools=(place, example().action.tools[1])),
        "termination": Termination(
            max_calls=min(size * size + 3, 120), condition=f"Somebody has {connect} in a row, or the board is full."
        ),
        "options": {"rows": size, "columns": size, "connect": connect, "gravity": False},
        "tasks": tasks,
    }
    values["loop"] = tuple(
        line.replace("a column and drops a piece", "a cell and places a piece") for line in values["loop"]
    )
    return EnvSpec.model_validate(values)


def problems(spec: EnvSpec) -> Sequence[str]:
    """Why this module cannot serve a specification."""
    options = ARCHETYPE.options_of(spec)
    found = []
    move = spec.action.tools[0]
    wanted = ["column"] if options["gravity"] else ["row", "column"]
    if [parameter.name for parameter in move.parameters] != wanted:
        found.append(f"the first tool is the move, and takes {' and '.join(wanted)} as integers.")
    if len(spec.action.tools) > 2 or any(tool.parameters for tool in spec.action.tools[1:]):
        found.append("a second tool, without parameters, may show the board; there are no others.")
    if spec.reward.style == "per_step":
        found.append("a board game is rewarded at its end: set reward.style to 'on_terminate'.")
    sizes = (options["rows"], options["columns"], options["connect"])
    if not all(isinstance(size, int) and 2 <= size <= 20 for size in sizes):
        found.append("options rows, columns and connect are whole numbers from 2 to 20.")
    if any("opponent_seed" not in task.hidden for task in spec.tasks):
        found.append("each task hides opponent_seed, a whole number that the opponent plays by.")
    return found


def script(spec: EnvSpec) -> Sequence[Call]:
    """Three moves of a plan: up the middle column."""
    options = ARCHETYPE.options_of(spec)
    tool = spec.action.tools[0].name
    if options["gravity"]:
        return [Call(tool, {"column": 4}) for _ in range(4)]
    return [Call(tool, {"row": 1, "column": column}) for column in (1, 2, 3)]


def guess(spec: EnvSpec, source: random.Random, task: Mapping[str, Any]) -> Call:
    """Any cell near the board, or a look at it."""
    options = ARCHETYPE.options_of(spec)
    tools = spec.action.tools
    if len(tools) > 1 and source.random() < 0.1:
        return Call(tools[1].name)
    column = source.randint(0, _number(options["columns"]) + 1)
    if options["gravity"]:
        return Call(tools[0].name, {"column": column})
    return Call(tools[0].name, {"row": source.randint(0, _number(options["rows"]) + 1), "column": column})


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _listed(moves: Sequence[int]) -> str:
    return ", ".join(str(column) for column in moves)


ARCHETYPE = Archetype(
    name="board_game",
    says="two sides put pieces on a board in turns, and a row of them wins",
    example=example,
    options={"rows": 6, "columns": 7, "connect": 4, "gravity": True, "draw": 0.5},
    script=script,
    guess=guess,
    problems=problems,
    kinds=(
        Kind(r"connect[- ]?(?:four|4)\b|four in a row|커넥트 ?(?:포|4)|사목", _COVERS, example),
        Kind(
            r"tic[- ]?tac[- ]?toe|noughts and crosses|three in a row|틱택토|삼목",
            _COVERS,
            lambda: _placed("tic-tac-toe", "Tic-tac-toe", size=3, connect=3),
        ),
        Kind(
            r"gomoku|five in a row|오목",
            _COVERS,
            lambda: _placed("gomoku", "Gomoku", size=15, connect=5),
        ),
    ),
)
