"""Names of answers in other languages than English, as words of them and, where words are not set apart, as parts."""

import re
from typing import Final

_SPELLED: Final = """
respuesta respuestas solucion soluciones antwort antworten losung losungen loesung loesungen reponse reponses resposta
respostas solucao solucoes gabarito risposta risposte soluzione soluzioni antwoord antwoorden oplossing odpowiedz
rozwiazanie svar losning jawaban cevap cozum dapan ответ ответы решение решения відповідь розвязання
"""
ANSWERS: Final = frozenset(_SPELLED.split())
"""Spelled without accents."""
_PART: Final = re.compile("정답|답안|해답|모범답|答案|答え|解答|正解|回答例|标答|إجابة|اجابة|الجواب")
_WHOLE: Final = re.compile("답|답변|풀이|풀이과정|해설|해법|答|回答|解析|解説|解说|解法|题解|題解|详解|解き方|الحل")
_DESCRIBES: Final = re.compile("(?:유형|형식|길이|시간|类型|類型|格式|长度|長度|形式|種類|时间|時間)$")
"""Last parts of what tells about an answer and is none."""


def tells(parts: tuple[str, ...]) -> bool:
    """Whether a name of these words is one of an answer in Korean, Chinese, Japanese or Arabic."""
    foreign = [part for part in parts if not part.isascii()]
    if not foreign or _DESCRIBES.search(parts[-1]):
        return False
    return any(_WHOLE.fullmatch(part) or _PART.search(part) for part in foreign)
