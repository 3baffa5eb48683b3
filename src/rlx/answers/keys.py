"""The one key policy: which names of fields, columns, variables and files hold answers.

A name is cut into words over snake, camel, kebab, dots and spaces, and the words decide; those that are run together
are told apart by the words known here. Shades, because `output` beside a number is a setting and beside a text is an
answer, and `label` is a class only beside the thing it labels.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from rlx.answers import languages

type Hold = Literal["always", "content", "text", "paired", "choice", "attempt"]
"""`always`: whatever the value. `content` and `text`: where it is not a setting. `paired`: beside the input it belongs
to. `choice`: beside a question and its options. `attempt`: what a model answered, in a record of a rollout."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_LONGEST = 240
"""Characters of a name that are read: half from each end."""
INVISIBLE = "\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff"
"""Characters that names may hold unseen, as part of a class of a pattern."""
_READ = 10_000
"""Characters of a name that are looked at for those that cannot be seen."""
_JOINED = 40
"""Letters of a word that is looked into for words that are run together."""


def names(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


_STRONG = names("answer answers solution solutions soln gold expected groundtruth gt gts truth") | languages.ANSWERS
"""Any name with one of these words holds an answer, unless the last word says it only describes one."""

_QUALIFIER = names(
    "oracle golden reference references ref canonical target targets correct true hidden private ideal best optimal "
    "desired right accepted"
)
_ALONE = names("oracle golden reference references canonical target targets correct ideal chosen rejected")
"""Qualifiers that are answers by themselves or as the last word: `reference`, `model_reference`."""

_NOUN = names(
    "output outputs result results patch patches diff label labels response responses completion text texts code sql "
    "query value values action actions call calls arg args argument arguments state string strings word words letter "
    "index indices idx option options choice choices order sequence trajectory trajectories session plan "
    "implementation impl function summary translation passage passages evidence fact facts tool tools message "
    "messages judgement judgment class number count ids entity entities span spans data steps intents goals table "
    "regex pattern patterns command commands cmd tests cases"
)
"""After a qualifier these make an answer: `reference_solution`, `target_args`, but not `target_lang`."""

_DESCRIBES = names(
    "type types format formats mode style schema length len lang language languages field path paths dir dirs "
    "directory filename weight weights timeout methods provider extraction parser aliases column visible func"
)
"""A last word that tells about the answer and not the answer: `answer_type`, `solution_path`."""

_MEASURES = names("runtime duration latency minutes seconds hours tokens turns difficulty cost length")
"""Words that tell of effort wherever they stand: `expected_runtime_min`."""

_COUNTING = names("num n max min total has use allow require show hide include mask with shuffle count")
"""First words after which a number or a switch is a setting: `num_solutions`."""

_ALWAYS = names(
    "sol sql failtopass passtopass failtofail passtofail f2p p2p s2p n2p passanchor keypoints keyfacts "
    "expcalstate outputseq confusablewith s1state s2state s3percent s2expected score1 score2 preferenceranking circles "
    "refc refpctok reftext verifyregex evidencerequired llmjudge requiredactions requiredfindings secretvalue "
    "secretword secretanswer ytrue finaldecision cotcontent ans anskey anstext answ correctans finalans goldans"
)
"""Whole names, words run together: short forms, and answers under neutral names that real sets use."""

_CONTENT = names(
    "patch diff fixpatch testpatch modelpatch tests test testlist testcase testcases testcode testsuite "
    "testscript challengetestlist unittest unittests evalscript evalcmd output outputs outputtext inputoutput "
    "completion completions response responses modelresponse modeltext modeloutput modelcode policyresponse "
    "generatedresponse rubric rubrics rubricjson rubricpretty checklist submission hints hintstext translation "
    "nlassertions communicateinfo solve judgeevaluations judgeresponse judgeresponsescreateparams "
    "rubricevaluations delegatedresponse opencoderunstdout opencoderunstderr modifiedfiles relevantfiles"
)
_COMPARED = names(
    "output outputs outputtext completion completions response responses modelresponse modeltext modeloutput "
    "submission translation proof sol"
)
"""Names that with a number tell what is compared, two by two: no answers but what a judge is given."""
_NUMBERS_ARE_SETTINGS = names("patch diff test tests testcases unittest unittests hints rubric rubrics checklist")

_TEXT = names("rationale rationales explanation explanations reasoning justification proof criteria tolerance")
"""Last words of what gives the answer away; as an object of switches (`reasoning: {effort}`) they are settings."""

_COMMANDS = names("cmd bash command code")
_LABELS = names(
    "label labels labeltext labelname labelnames labelstr labelstring labelid labelids labelindex labelidx labelclass "
    "labelvalue labelstext classlabel coarselabel finelabel sentimentlabel intentlabel topiclabel emotionlabel "
    "categorylabel nlilabel stancelabel toxicitylabel ylabel"
)
_CHOSEN = names("cop exp")
"""Short names of MedMCQA: the correct option, and the explanation."""
_ATTEMPT = names(
    "predicted prediction predictions pred hyp generated generation generations extracted parsed judge judgment rating"
)
INPUTS = names(
    "question prompt instruction instructions input problem problemstatement query text sentence premise hypothesis "
    "passage context invocation nl utterance image document article"
)
"""Names of what a solver is given: beside one of these a `cmd` is the answer to it."""
OPTIONS = names(
    "options choices endings opa opb opc opd optiona optionb choicea choiceb option1 option2 choice1 choice2"
)
"""Names of what one is chosen from."""
_LABELLED = (
    INPUTS
    | OPTIONS
    | names(
        "ctx ctxa ctxb premises conclusion sentences sentence1 sentence2 question1 question2 text1 text2 premise1 "
        "premise2 review reviewtext reviewbody dialogue dialog conversation utterances statement claim headline tweet "
        "story paragraph ending0 ending1 sol1 sol2 audio video"
    )
)
"""Names beside which a `label` is the answer."""
OUTCOMES = names("reward rewards response completion")
"""Names that mark a record as a rollout."""

STRICT_CONTAINERS = names(
    "verifiermetadata verifier verifiers evaluator evaluation evaluationcriteria rewardmodel rewardspec grader "
    "rewardconfig"
)
_STRICT = names(
    "label labels target targets patterns pattern rules judge ref expect match matches example examples assertions "
    "actions regex criteria cases"
)
"""Names that hold answers inside the grader's own part of a record."""

_CODE_TOO = names("secret flag wanted want sol plaintext cleartext secretvalue secretword secretanswer secretcode")
"""Variables that hold answers in graders, though as data keys they are ordinary words."""
_LACKS = names("missing invalid incorrect wrong bad no has is")
_CODE_NOT = names("target targets reference references canonical")
"""Variables that are as often the thing acted upon."""


_TELLING = _STRONG | _QUALIFIER | _TEXT
_KNOWN = (
    _TELLING
    | _ALONE
    | _NOUN
    | _DESCRIBES
    | _MEASURES
    | names("final key keys model student human all standard is has num")
)
"""Words that may be run together in a name."""


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: `answerKey`, `answer_key`, `Answer Key` and `answerkey` give the same."""
    seen = visible(name[:_READ])
    if len(seen) > _LONGEST:
        seen = f"{seen[: _LONGEST // 2]} {seen[-_LONGEST // 2 :]}"
    seen = _LETTERS.sub(lambda found: found[0].lower() if found[0].lower() in _STRONG else found[0], seen)
    return tuple(part for word in _WORD.findall(seen) for part in _parted(word.lower()))


def visible(name: str) -> str:
    """A name as it is read: full-width letters as the usual ones, no accents, and nothing that cannot be seen."""
    if name.isascii():
        return name
    usual = unicodedata.normalize("NFKC", "".join(char for char in name if unicodedata.category(char) != "Cf"))
    return "".join(map(_bare, usual))


def _bare(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[:1]
    return "" if unicodedata.category(char) == "Mn" else base if base.isascii() else char


def _parted(word: str) -> tuple[str, ...]:
    """The known words that `word` is made of, where one of them tells of an answer; else the word as it is."""
    if word in _KNOWN or len(word) > _JOINED or not word.isascii():
        return (word,)
    made: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(2, len(word) + 1):
        begins = (at for at in made if word[at:end] in _KNOWN)
        longest = min(begins, default=None)
        if longest is not None:
            made[end] = (*made[longest], word[longest:end])
    parts = made.get(len(word), ())
    return parts if not _TELLING.isdisjoint(parts) else (word,)


@lru_cache(maxsize=8192)
def flat(name: str) -> str:
    """The words run together, the form in which whole names are compared."""
    return "".join(words(name))


@lru_cache(maxsize=8192)
def hold(key: str) -> Hold | None:
    """What the name alone says of its value; None: nothing to hide."""
    parts = words(key)
    whole = "".join(parts)
    found: Hold | None = None
    if not parts or key.startswith("$"):
        pass
    elif whole in _ALWAYS or languages.tells(parts):
        found = "always"
    elif parts[-1].isdigit() and whole.rstrip("0123456789") not in _COMPARED and any(map(str.isalpha, parts)):
        found = hold(" ".join(parts[:-1]))
    elif parts[-1] in _TEXT:
        found = "text"
    elif parts[-1] in _DESCRIBES or not _MEASURES.isdisjoint(parts):
        pass
    elif _names_an_answer(parts):
        found = "always"
    elif whole in _CONTENT or (parts[-1] == "tests" and len(parts) > 1):
        found = "content"
    elif whole in _LABELS or whole in _COMMANDS:
        found = "paired"
    elif whole in _CHOSEN:
        found = "choice"
    elif not _ATTEMPT.isdisjoint(parts):
        found = "attempt"
    return found


def _names_an_answer(parts: tuple[str, ...]) -> bool:
    if not _STRONG.isdisjoint(parts) or parts[-1] in _ALONE:
        return True
    return any(word in _QUALIFIER and not _NOUN.isdisjoint(parts[at + 1 :]) for at, word in enumerate(parts))


def is_answer_key(key: str) -> bool:
    """Whether a field of this name holds an answer, whatever stands beside it."""
    return hold(key) in {"always", "content", "text"}


def is_answer_name(name: str) -> bool:
    """Whether a variable of this name in a program holds an answer. `output` and `response` are its own there."""
    parts = words(name)
    whole = "".join(parts)
    if not parts or parts[-1] in _DESCRIBES or parts[0] in _LACKS or not _MEASURES.isdisjoint(parts):
        return False
    if whole in _CODE_NOT or (parts[-1] in {"key", "keys"} and len(parts) == 2):
        return False
    return whole in _CODE_TOO or _names_an_answer(parts)


def hides(key: str, value: object, siblings: frozenset[str], *, strict: bool = False) -> bool:
    """Whether `key: value` among `siblings` (their `flat` names) is withheld. Empty values hide nothing."""
    kind = hold(key)
    if value is None or value in ("", (), [], {}) or (flat(key) == "gold" and "silver" in siblings):
        return False
    if strict and flat(key) in _STRICT:
        return True
    is_number = isinstance(value, bool | int | float)
    if kind is None or (is_number and words(key)[0] in _COUNTING):
        return False
    if kind == "always":
        return True
    if kind == "content":
        return not (is_number and flat(key) in _NUMBERS_ARE_SETTINGS)
    if kind == "text":
        return not (isinstance(value, Mapping) and all(_is_setting(inner) for inner in value.values()))
    if kind == "attempt":
        return not OUTCOMES.isdisjoint(siblings) and not is_number
    others = siblings - {flat(key)}
    if kind == "choice":
        return not INPUTS.isdisjoint(others) and not OPTIONS.isdisjoint(others)
    return is_number or not (_LABELLED if flat(key) in _LABELS else INPUTS).isdisjoint(others)


def _is_setting(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) < 12)
