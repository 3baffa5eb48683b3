"""Words that say nothing of what an environment's rules are: a description's other words have to be covered."""

import re

_WORDS = """
a about action action's actions after agent agents ai all allowed allows also always an and any are as ask asks at
attempt attempts be become before begin begins between build built by call called calls can cap chance create
creates creating could current default description design directory do does done each earn earns else end ended
ending ends env envs environment environments episode episodes every example few final finish finished folder for
framework frameworks from full get gets give given gives goal gym has have how i if in into is it its just language
least let lets like llm make makes many max maximum may me model models more most must my nemo new no not of on one
only openenv openreward or ors other our out over own plain play played player playing plays please points project
put reinforcement learning reward rewarded rewards rl run runs same save say scaffold score scored scores set should
simple single so some standard start starts step steps success successful take takes task tasks tell that the their
them then there they this through time times to tool tools training tries try trying turn turns under until up us
use user uses using verifiers very wants want we what when where which while who will with within without works
would write writes you your half
"""
_ENGLISH = frozenset(_WORDS.split())
_KOREAN = re.compile(
    r"에이전트|환경|만들|만드|게임|플레이|해\s?줘|주세요|줘|하는|하고|하게|한다|합니다|하면|모델|강화|학습|도구|보상|점수|"
    r"턴|번|회|안에|이내|까지|에서|으로|있는|있게|위한|두는|둔다|과제|폴더|아래|성공|실패|때|끝|그리고|또는|한|두|세|네|"
    r"내|최대|최소|좀|원해|싶|받|주|을|를|은|는|이|가|에|로|와|과|의|도|만"
)


def said_nothing(word: str) -> bool:
    """Whether a word in lower case, English or Korean, leaves the rules as they are."""
    return word in _ENGLISH or (len(word) < 2 and not word.isdigit()) or _KOREAN.match(word) is not None


def content(text: str) -> tuple[str, ...]:
    """The words of a text in lower case that may matter to the rules, each once, in order."""
    words = re.findall(r"\d[\dx]*|[a-z][a-z']*|[가-힣]+", text.lower())
    return tuple(dict.fromkeys(word for word in words if not said_nothing(word)))
