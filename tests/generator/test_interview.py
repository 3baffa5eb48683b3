"""What a description says, what is asked of it, and what becomes of descriptions that nothing serves."""

from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.generator.archetypes.base import Kind
from rlx.generator.describe import read
from rlx.generator.interview import Outcome, Question, interview
from rlx.generator.registry import archetypes
from rlx.generator.render import render, write
from rlx.texts import words
from tests.generator.test_archetypes import run_tests
from tests.generator.test_render import assert_clean

CONNECT_FOUR = "make me an env where the agent plays connect-four at games/connect_four"


class Person:
    """Answers by key, or with what is proposed; remembers what was asked."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> str:
        self.asked.append(question)
        return self.answers.get(question.key) or question.default or ""

    @property
    def keys(self) -> list[str]:
        return [question.key for question in self.asked]


def told(outcome: Outcome) -> str:
    return "\n".join(words(line, outcome.language) for line in outcome.told)


def test_connect_four_is_asked_only_what_was_left_open() -> None:
    person = Person()
    outcome = interview(CONNECT_FOUR, person)
    assert person.keys == ["reward", "termination"]
    assert all(question.default for question in person.asked)
    assert (outcome.spec.name, outcome.spec.target.path) == ("connect-four", "games/connect_four")
    assert "of the archetype board_game, because two sides" in told(outcome)
    assert render(outcome.spec)


def test_what_was_said_is_not_asked_again() -> None:
    person = Person()
    outcome = interview(f"{CONNECT_FOUR}, reward only at the end, at most twelve moves", person)
    assert person.keys == []
    assert (outcome.spec.termination.max_calls, outcome.spec.reward.style) == (12, "on_terminate")


def test_a_path_is_never_guessed() -> None:
    with pytest.raises(BadInput, match="Nobody said where"):
        interview("the agent plays gomoku", Person())
    assert interview("the agent plays gomoku", Person(path="a/b")).spec.target.path == "a/b"
    assert interview("the agent plays gomoku", Person(), place_known=True).spec.undecided == ()


def test_korean_is_read_and_answered_in_korean() -> None:
    person = Person()
    outcome = interview("에이전트가 틱택토를 하는 환경을 games/ttt에 만들어 줘. 최대 8번 안에", person)
    assert (outcome.spec.name, outcome.spec.target.path, outcome.spec.termination.max_calls) == (
        "tic-tac-toe",
        "games/ttt",
        8,
    )
    assert outcome.language == "ko"
    assert "보상은 언제" in words(person.asked[0].text, outcome.language)
    assert outcome.spec.undecided == ()


@pytest.mark.parametrize(
    "text", ["train Qwen with GRPO on math", "fine-tune a model on my chats", "Qwen 모델을 파인튜닝 해 줘"]
)
def test_training_is_refused_and_the_refusal_says_what_this_is_for(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        interview(text, Person())
    assert refused.value.hint
    assert not read("an environment for training a model at connect four").training


def test_a_vague_wish_is_asked_for_its_loop_and_goes_on_from_the_answer() -> None:
    person = Person(goal="it plays tic-tac-toe", path="x/y")
    outcome = interview("make some game", person)
    assert person.keys[0] == "goal"
    assert person.asked[0].default is None
    assert outcome.spec.name == "tic-tac-toe"


def test_two_games_at_once_are_asked_apart() -> None:
    person = Person(goal="gomoku")
    outcome = interview("connect four or gomoku at a/b", person)
    assert "Connect four, Gomoku" in words(person.asked[0].text)
    assert (outcome.spec.name, outcome.spec.target.path) == ("gomoku", "a/b")


CONTRADICTIONS = {
    "at most 5 moves, and at most 9 moves": "termination",
    "at most 5 moves, with unlimited moves": "termination",
    "reward per step, reward only at the end": "reward",
    "without tools, with tool calls": "action",
    "or at other/place": "path",
}


@pytest.mark.parametrize(("said", "key"), CONTRADICTIONS.items())
def test_a_contradiction_is_asked_about_and_not_settled_by_chance(said: str, key: str) -> None:
    answers = {"termination": "9", "reward": "on_terminate", "action": "tools", "path": "other/place"}
    person = Person(**answers)
    outcome = interview(f"connect four at games/one, {said}", person)
    assert key in person.keys
    assert outcome.spec.undecided == ()


@pytest.mark.parametrize(("said", "key"), list(CONTRADICTIONS.items())[:3])
def test_a_contradiction_that_nobody_settles_stays_open(said: str, key: str) -> None:
    assert key in interview(f"connect four at games/one, {said}", Person()).spec.undecided


def test_a_game_with_rules_that_nobody_wrote_is_not_passed_off_as_another() -> None:
    outcome = interview("connect four with bombs at a/b", Person())
    assert "no rules for: bombs" in told(outcome)
    assert "domain" in outcome.spec.undecided
    assert outcome.spec.archetype is None
    with pytest.raises(BadInput, match="leaves open"):
        render(outcome.spec)
    assert interview("connect four with bombs at a/b", Person(scope="yes")).spec.undecided == ()


@pytest.mark.parametrize(
    "text", ["the agent plays chess against a grandmaster", "체스를 두는 에이전트 환경을 만들어 줘"]
)
def test_what_nothing_serves_becomes_a_specification_with_open_points(text: str) -> None:
    person = Person(path="games/mine", reward="1 for a mate", termination="80", state="none")
    outcome = interview(text, person)
    assert set(person.keys) <= {"goal", "action", "state", "backend", "reward", "termination", "path"}
    assert outcome.spec.undecided[:4] == ("domain", "loop", "action", "tasks")
    assert (outcome.spec.name, outcome.spec.goal, outcome.spec.state.kind) == ("mine", text, "none")
    assert outcome.spec.reward.criterion == "1 for a mate"
    assert outcome.spec.termination.max_calls == 80


def test_taste_is_asked_for_a_measure() -> None:
    person = Person()
    outcome = interview("the agent writes a beautiful poem for visitors at a/b", person)
    asked = next(question for question in person.asked if question.key == "reward")
    assert "Taste cannot be computed" in words(asked.because)
    assert asked.default is None
    assert "reward" in outcome.spec.undecided


def test_a_reward_that_the_rules_cannot_give_stays_open() -> None:
    outcome = interview(f"{CONNECT_FOUR}, reward per step", Person())
    assert "rewarded at its end" in told(outcome)
    assert outcome.spec.undecided == ("reward",)
    assert interview(CONNECT_FOUR, Person(reward="number of forks")).spec.undecided == ("reward",)


@pytest.mark.parametrize("kind", [kind for owner in archetypes().values() for kind in owner.kinds])
def test_every_kind_is_found_by_its_title_and_written_as_clean_source(kind: Kind, tmp_path: Path) -> None:
    spec = kind.make()
    outcome = interview(f"an environment for {spec.title} at a/b", Person())
    assert (outcome.spec.name, outcome.spec.undecided) == (spec.name, ())
    write(render(outcome.spec), tmp_path)
    assert_clean(tmp_path)
    done = run_tests(tmp_path)
    assert done.returncode == 0, done.stdout


DESCRIBED = {
    "a wordle-like game in games/word": "guess-word",
    "the agent guesses a secret word, in at most 8 guesses, at games/word": "guess-word",
    "워들 게임 환경을 games/word에 만들어 줘": "guess-word",
    "a customer support desk where the agent refunds orders and closes tickets at envs/desk": "ticket-desk",
    "the agent answers questions about passages, judged by exact match, at envs/qa": "answer-questions",
    "지문을 검색해 질문에 답하는 환경을 envs/qa에": "answer-questions",
    "고객 문의 티켓을 처리하는 환경을 envs/desk에": "ticket-desk",
}


@pytest.mark.parametrize(("text", "name"), DESCRIBED.items())
def test_a_description_in_ones_own_words_finds_its_archetype(text: str, name: str) -> None:
    outcome = interview(text, Person())
    assert (outcome.spec.name, outcome.spec.undecided) == (name, ())


def test_a_limit_of_guesses_is_one_of_guesses_and_not_of_calls() -> None:
    spec = interview("wordle in at most 8 guesses at a/b", Person()).spec
    assert (spec.options["guesses"], spec.termination.max_calls) == (8, 16)
    person = Person()
    assert interview("wordle at a/b", person).spec.options["guesses"] == 6
    assert person.asked[-1].default == "6"


@pytest.mark.parametrize(
    "text",
    ["wordle with six-letter words", "connect 4 on an 8x8 board", "gomoku, eight rows", "wordle in zero guesses"],
)
def test_another_size_than_the_rules_have_is_asked_about(text: str) -> None:
    person = Person()
    assert "domain" in interview(f"{text} at a/b", person).spec.undecided
    assert person.keys[0] == "scope"
