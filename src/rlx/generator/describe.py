"""What a description says of an environment, read by rules: nothing is guessed, and what it leaves open stays open."""

import re
from dataclasses import dataclass

from rlx.generator.archetypes.base import Archetype, Kind
from rlx.generator.general_words import content
from rlx.generator.registry import archetypes
from rlx.generator.spec import RewardStyle

_PART = r"[A-Za-z0-9_.~-]+"
_PATHS = (
    re.compile(rf"\b(?:at|in|into|under|to)\s+(?:the\s+)?(?:folder\s+|directory\s+)?(/?{_PART}/(?:{_PART}/?)*)"),
    re.compile(rf"\b(?:folder|directory)\s+({_PART})"),
    re.compile(rf"(/?{_PART}/(?:{_PART}/?)*)\s?(?:에|로|아래|폴더)"),
)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = rf"(\d{{1,4}}|{'|'.join(_NUMBERS[1:])})"
_CAPS = (
    re.compile(
        rf"\b(?:in|within|at most|up to|max(?:imum)?(?: of)?|no more than|after|has|have|gets?|only)\s+{_NUMBER}\s+"
        r"(?:turns?|calls?|moves?|steps?|tries|guesses|attempts)"
    ),
    re.compile(r"(\d{1,4})\s?(?:번|턴|회)\s?(?:안에|이내|까지|만에|만)"),
)
_ENDLESS = re.compile(r"\b(?:unlimited|endless|infinite|no limit|without (?:a |any )?limit)\b|무제한|끝없이")
_STYLES: tuple[tuple[RewardStyle, re.Pattern[str]], ...] = (
    (
        "per_step",
        re.compile(
            r"per[- ](?:step|call|turn|move)\b|\b(?:each|every) (?:step|call|turn|move) (?:earns|gives|scores)"
            r"|rewards? (?:at |for |on |after )?(?:each|every) (?:step|call|turn|move)|dense reward"
            r"|(?:each|every) (?:step|call|turn|move) is rewarded|(?:매|각) ?(?:턴|단계|수)\S* 보상"
        ),
    ),
    (
        "on_terminate",
        re.compile(
            r"rewards? only (?:at|on|when)|only (?:rewarded )?at the (?:very )?end|terminal reward"
            r"|sparse reward|끝(?:날 때|에)만 보상"
        ),
    ),
    ("post_episode", re.compile(r"post[- ]episode|after the episode|graded afterwards|에피소드 (?:뒤|후)에")),
)
_TEXT = re.compile(r"\b(?:free text|tagged text|xml tags?|text tags?|in tags)\b|태그")
_NO_TOOLS = re.compile(r"\b(?:no|without(?: any)?) tools?\b|도구 없이")
_TOOLS = re.compile(r"\btool calls?\b|\bcalls? (?:a |the )?tools?\b|\bwith tools?\b|도구를? (?:써|사용|호출)")
_TRAINING = re.compile(
    r"\b(?:grpo|ppo|dpo|sft|rlhf|lora|fine[- ]?tun\w*|hyper-?parameters?|learning rate)\b"
    r"|\btrain(?:ing)? (?:a |an |my |the )?(?:\w+ )?(?:model|llm|policy|qwen\S*|llama\S*|gemma\S*)"
    r"|파인 ?튜닝|미세 ?조정|모델\S* (?:훈련|학습)"
)
_ENVIRONMENT = re.compile(r"\benv(?:ironment)?s?\b|환경")
_TASTE = re.compile(
    r"\b(?:funny|funnier|beautiful|creative|inspiring|moving|elegant|interesting|poems?|jokes?|haikus?|art|vibes?)\b"
    r"|재미있|감동|아름다|창의|시를|농담"
)
_MEASURE = re.compile(
    r"\b(?:judge|rubric|exact(?:ly)?|equals?|contains?|tests?|syllables?|words? long|rhymes?|score[ds]? by|compar\w+)\b"
    r"|판정|채점|정답"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a description says, and what is the matter with it."""

    text: str
    language: str
    """`ko` where Hangul is written, else `en`."""
    kinds: tuple[tuple[Archetype, Kind], ...]
    """What it names that there are rules for."""
    uncovered: tuple[str, ...]
    """Words that no rule of the one kind answers for."""
    paths: tuple[str, ...]
    caps: tuple[int, ...]
    endless: bool
    styles: tuple[RewardStyle, ...]
    wants_text: bool
    tools_and_none: bool
    """It asks for tools, and for none."""
    training: bool
    """It is about training a model, which this is not for."""
    unscorable: bool
    """Success is a matter of taste, and nothing says how a program would tell."""
    vague: bool


def read(text: str) -> Reading:
    """What a description in English or Korean says."""
    lower = " ".join(text.lower().split())
    paths = _found(_PATHS, " ".join(text.split()))
    plain = lower
    for path in paths:
        plain = plain.replace(path.lower(), " ")
    kinds = tuple(
        (owner, kind) for owner in archetypes().values() for kind in owner.kinds if re.search(kind.named, plain)
    )
    no_tools = _NO_TOOLS.search(plain) is not None
    return Reading(
        text=text,
        language="ko" if re.search("[가-힣]", text) else "en",
        kinds=kinds,
        uncovered=_uncovered(plain, kinds[0][1]) if len(kinds) == 1 else (),
        paths=tuple(dict.fromkeys(path.rstrip("./") for path in paths)),
        caps=tuple(dict.fromkeys(_number(found) for found in _found(_CAPS, plain))),
        endless=_ENDLESS.search(plain) is not None,
        styles=tuple(style for style, pattern in _STYLES if pattern.search(plain)),
        wants_text=_TEXT.search(plain) is not None,
        tools_and_none=no_tools and _TOOLS.search(_NO_TOOLS.sub(" ", plain)) is not None,
        training=_TRAINING.search(plain) is not None and _ENVIRONMENT.search(plain) is None,
        unscorable=_TASTE.search(plain) is not None and _MEASURE.search(plain) is None,
        vague=not kinds and len(content(plain)) < 3,
    )


def cap_of(text: str) -> int | None:
    """The number that an answer about the end of an episode says, such as "8", "after 8 calls" or "여덟" as digits."""
    found = re.search(rf"\b{_NUMBER}\b|(\d+)", text.lower())
    return _number(found.group(1) or found.group(2)) if found else None


def style_of(text: str) -> RewardStyle | None:
    """The style that an answer about the reward names, by its name or in words."""
    lower = text.lower().strip()
    for style, pattern in _STYLES:
        if lower.replace("-", "_").replace(" ", "_") == style or pattern.search(lower):
            return style
    return None


def _uncovered(plain: str, kind: Kind) -> tuple[str, ...]:
    rest = re.sub(kind.named, " ", plain)
    for pattern in (*_CAPS, _ENDLESS, *(pattern for _, pattern in _STYLES), _TEXT, _NO_TOOLS, _TOOLS):
        rest = pattern.sub(" ", rest)
    return tuple(word for word in content(rest) if not re.fullmatch(kind.covers, word))


def _found(patterns: tuple[re.Pattern[str], ...], text: str) -> list[str]:
    return [match.group(1) for pattern in patterns for match in pattern.finditer(text)]


def _number(text: str) -> int:
    return _NUMBERS.index(text) if text in _NUMBERS else int(text)
