"""Work with tools on an in-memory database that has to end in a goal state. A desk for tickets is the example."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rlx.generator.archetypes.base import Archetype, Call, Kind
from rlx.generator.spec import Action, Backend, EnvSpec, Parameter, Reward, Task, Termination, Tool, Value

TICKETS = ("T-1", "T-2", "T-3", "T-4")
ORDERS = ("O-11", "O-12", "O-13")
TEAMS = ("billing", "shipping", "technical")
PRIORITIES = ("low", "normal", "high")
RESOLUTIONS = ("refunded", "answered", "duplicate")
_PROMPT = """\
You work at a desk for tickets of a shop. Do what is asked with the tools, change nothing else, and call terminate when
you are done. The tools list and read tickets and orders, assign a ticket to a team (billing, shipping, technical), set
its priority (low, normal, high), refund an order, and close a ticket.
Asked is: """
_DESK = (
    r"ticket[- ]?desks?|help ?desks?|support tickets?|(?:support|service) desks?|customer support|desk for tickets"
    r"|티켓 ?\w*|고객 ?(?:지원|문의)|헬프 ?데스크"
)

type Goal = dict[str, Value]


def _goal(tickets: dict[str, Value], orders: dict[str, Value] | None = None) -> Goal:
    return {"tickets": tickets, "orders": orders or {}}


_TASKS: tuple[tuple[str, str, Goal], ...] = (
    (
        "train",
        "the ticket about the parcel that did not arrive belongs to shipping.",
        _goal({"T-1": {"team": "shipping"}}),
    ),
    (
        "train",
        "the customer who cannot log in waits: give that ticket high priority.",
        _goal({"T-3": {"priority": "high"}}),
    ),
    (
        "train",
        "Mina was charged for a broken lamp: refund the order, and close her ticket as refunded.",
        _goal({"T-2": {"status": "closed", "resolution": "refunded"}}, {"O-12": {"refunded": True}}),
    ),
    (
        "train",
        "the question about opening hours was answered on the telephone: close the ticket as answered.",
        _goal({"T-4": {"status": "closed", "resolution": "answered"}}),
    ),
    (
        "validation",
        "the customer who cannot log in needs the technical team, with high priority.",
        _goal({"T-3": {"team": "technical", "priority": "high"}}),
    ),
    ("test", "refund the order of the kettle that never arrived.", _goal({}, {"O-11": {"refunded": True}})),
)


def _text(name: str, description: str, choices: tuple[str, ...] = ()) -> Parameter:
    return Parameter(name=name, type="string", description=description, choices=choices)


_TICKET = _text("ticket_id", "The ticket, such as T-1.")
_ORDER = _text("order_id", "The order, such as O-11.")


def example() -> EnvSpec:
    tasks = [
        Task(id=f"{split}-{number}", split=split, prompt=_PROMPT + asked, hidden={"goal_state": goal})
        for number, (split, asked, goal) in enumerate(_TASKS)
    ]
    return EnvSpec(
        name="ticket-desk",
        title="Ticket desk",
        archetype="workflow",
        module="desk",
        goal="Bring the tickets and orders of a shop into the state that is asked for.",
        loop=(
            "The model reads what is asked, and what the last call came to.",
            "It looks up tickets and orders, or decides on a change.",
            "The rules refuse what does not exist or is done already, with a reason.",
            "They change the database of this episode alone.",
            "The model sees the record as it is now, and says when it is done.",
        ),
        action=Action(
            tools=(
                Tool(
                    name="list_tickets",
                    description="List tickets with their subjects.",
                    parameters=(_text("status", "Which tickets.", ("open", "closed", "all")),),
                ),
                Tool(name="read_ticket", description="Read a ticket.", parameters=(_TICKET,)),
                Tool(name="read_order", description="Read an order.", parameters=(_ORDER,)),
                Tool(
                    name="assign_ticket",
                    description="Give an open ticket to a team.",
                    parameters=(_TICKET, _text("team", "The team.", TEAMS)),
                ),
                Tool(
                    name="set_priority",
                    description="Set the priority of an open ticket.",
                    parameters=(_TICKET, _text("priority", "The priority.", PRIORITIES)),
                ),
                Tool(name="refund_order", description="Refund an order, once.", parameters=(_ORDER,)),
                Tool(
                    name="close_ticket",
                    description="Close an open ticket.",
                    parameters=(_TICKET, _text("resolution", "How it was resolved.", RESOLUTIONS)),
                ),
                Tool(
                    name="terminate",
                    description="Say that you are done.",
                    parameters=(_text("status", "Whether you did it.", ("success", "failure")),),
                ),
            )
        ),
        reward=Reward(criterion="1 when the database is as was asked and nothing else changed, 0 otherwise."),
        backend=Backend(),
        termination=Termination(max_calls=20, terminate_tool=True, condition="The model says that it is done."),
        tasks=tuple(tasks),
    )


def problems(spec: EnvSpec) -> Sequence[str]:
    """Why this module cannot serve a specification."""
    found = []
    tools = [(tool.name, [(each.name, each.type) for each in tool.parameters]) for tool in spec.action.tools]
    if tools != [(tool.name, [(each.name, each.type) for each in tool.parameters]) for tool in example().action.tools]:
        found.append("the tools of a ticket desk are those of the example, by their names and parameters.")
    if spec.reward.style == "per_step":
        found.append("the goal state is compared at the end: set reward.style to 'on_terminate'.")
    for task in spec.tasks:
        goal = task.hidden.get("goal_state")
        if not isinstance(goal, dict) or set(goal) != {"tickets", "orders"}:
            found.append(f"task {task.id} hides goal_state, with the changes of tickets and of orders by their ids.")
    return found


def script(spec: EnvSpec) -> Sequence[Call]:
    """Look, do what the first task asks, and say so."""
    return [
        Call("list_tickets", {"status": "open"}),
        *_solution(spec.tasks[0].hidden["goal_state"]),
        Call("terminate", {"status": "success"}),
    ]


def _solution(goal: Any) -> list[Call]:
    """The calls that bring the database into a goal state."""
    calls = [Call("refund_order", {"order_id": order}) for order in goal["orders"]]
    for ticket, changes in goal["tickets"].items():
        if "team" in changes:
            calls.append(Call("assign_ticket", {"ticket_id": ticket, "team": changes["team"]}))
        if "priority" in changes:
            calls.append(Call("set_priority", {"ticket_id": ticket, "priority": changes["priority"]}))
        if "resolution" in changes:
            calls.append(Call("close_ticket", {"ticket_id": ticket, "resolution": changes["resolution"]}))
    return calls


def guess(spec: EnvSpec, source: random.Random, task: Mapping[str, Any]) -> Call:
    """Often something that was asked, often a look, sometimes a change too many or a record that there is not."""
    luck = source.random()
    if luck < 0.4:
        return source.choice(_solution(task["goal_state"]))
    if luck < 0.55:
        return Call("terminate", {"status": source.choice(["success", "failure", "perhaps"])})
    ticket, order = source.choice([*TICKETS, "T-9"]), source.choice([*ORDERS, "O-99"])
    looks = [
        Call("list_tickets", {"status": source.choice(["open", "closed", "all", "lost"])}),
        Call("read_ticket", {"ticket_id": ticket}),
        Call("read_order", {"order_id": order}),
    ]
    changes = [
        Call("assign_ticket", {"ticket_id": ticket, "team": source.choice([*TEAMS, "kitchen"])}),
        Call("set_priority", {"ticket_id": ticket, "priority": source.choice([*PRIORITIES, "urgent"])}),
        Call("close_ticket", {"ticket_id": ticket, "resolution": source.choice([*RESOLUTIONS, "bored"])}),
        Call("refund_order", {"order_id": order}),
    ]
    return source.choice(looks if luck < 0.85 else changes)


ARCHETYPE = Archetype(
    name="workflow",
    says="tools read and change a database, which has to end in a state that is asked for",
    example=example,
    options={},
    script=script,
    guess=guess,
    problems=problems,
    kinds=(
        Kind(
            _DESK,
            r"tickets?|desks?|customers?|support|orders?|shops?|refund(?:s|ed|ing)?|assign(?:s|ed|ing)?|teams?|priorit(?:y|ies)"
            r"|clos(?:e|es|ed|ing)|read(?:s|ing)?|lists?|database|memory|in-memory|states?|work(?:s|ing)?|workflow|handles?"
            r"|티켓\w*|고객\w*|주문\w*|환불\w*|배정\w*|팀\w*|우선순위\w*|처리\w*|데이터베이스\w*|상태\w*",
            example,
        ),
    ),
)
