"""The key policy: which names hold answers, in every spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import is_answer_key
from rlx.answers.keys import hides, is_answer_name, words

ANSWERS = """
answer answers answerKey finalAnswer final_answer expected_answer expectedAnswer ExpectedOutput expected_city
expected_rate expected_value_present solution solutions referenceSolution reference_solution solutionCode sol
soln canonical_solution gold golden gold_patch golden_patch goldAnswer ground_truth groundTruth groundtruth gt
gt_sql ground_truth_code oracle oracle_value oracle_session target targets target_args target_text reference
references reference_text reference_passage correct is_correct correct_index correctAnswer true_label ideal
chosen rejected patch test_patch fix_patch model_patch tests test_cases testCases private_tests hidden_tests
unit_tests output outputs input_output completion response rationale explanation solution_explanation
difficulty_explanation session_resolution_reasoning key_points rubric rubric_json rubric_pretty checklist hints
hints_text sql FAIL_TO_PASS PASS_TO_PASS f2p p2p confusable_with s1_state s3_percent value_tolerance
exp_cal_state verify_regex expected_ids score1 score_2 ref_text translation truth
correctanswer answerkey finalanswer goldanswer answertext ANSWERs AnSwEr expectedoutput groundtruthlabel iscorrect
explanation_1 explanation2 reference_2 cot_content final_decision y_true ans
"""
FOREIGN = """
정답 답 답안 해답 모범_답안 풀이 해설 답변 答案 解答 解析 标准答案 参考答案 正解 回答 答え
模範解答 respuesta Respuestas solución SOLUCIÓN antwort Lösung lösungen réponse resposta solução risposta ответ
Правильный_ответ решение الإجابة إجابة ａｎｓｗｅｒ ｓｏｌｕｔｉｏｎ
"""
HARMLESS = """
question prompt resolution answerable expected_runtime_min golden_retriever target_lang target_language
target_color target_lang_name verification_method answer_type answer_format solution_language solution_path
expected_output_length num_solutions agent_ref data_source source_refs reward reward_model generation_config
max_output_tokens responses_create_params response_format response_mode extraction_mode difficulty metadata
unexpected oracle_service oracle_dsn reference_url canonical_url private test_input split author_name $ref
expert_time_estimate_min completion_tokens tool_choice label cmd
answertype answerformat label_confidence response_1 response_2 output_a proof_1 sol1 sol2 cop exp
"""
ORDINARY = """
id name title text body content description summary category categories tag tags topic subject author date created_at
updated_at year month url link image image_path audio file filename path size width height length count total number
index rank score scores points level grade difficulty weight price cost currency country city state region language
lang locale source source_id dataset split train validation version license notes comment comments user username email
role status kind group parent children position order priority start end duration time timestamp seed temperature
model provider tokens prompt system instruction question context passage choices options input_ids attention_mask
review rating stars sentence premise hypothesis dialogue utterances turns history messages tools functions function
parameters repo commit branch issue problem statement entry_point starter_code preference reference_url private
public best_practices copyright brightness insightful goldfish marigold answerable unanswered solvent expectation
truthful
autocorrect construe upright codebase testament patchwork
질문 문제 유형 问题 题目 类型 質問 pregunta frage вопрос 답변_시간 答案类型
"""


@pytest.mark.parametrize("key", ANSWERS.split())
def test_a_name_that_holds_answers_is_known(key: str) -> None:
    assert is_answer_key(key)


@pytest.mark.parametrize("key", HARMLESS.split())
def test_a_harmless_name_is_let_through(key: str) -> None:
    assert not is_answer_key(key) or hides(key, 5, frozenset()) is False


@pytest.mark.parametrize("key", FOREIGN.split())
def test_an_answer_is_known_in_other_languages_and_letters(key: str) -> None:
    assert is_answer_key(key)


@pytest.mark.parametrize("key", ORDINARY.split())
def test_an_ordinary_name_hides_nothing(key: str) -> None:
    assert hides(key, "a text", frozenset({"id", "n"})) is False


@given(
    st.sampled_from([*ANSWERS.split(), *FOREIGN.split()]),
    st.integers(0, 30),
    st.sampled_from("\u200b\u00ad\u2060\ufeff"),
)
def test_what_cannot_be_seen_in_a_name_does_not_hide_it(key: str, at: int, unseen: str) -> None:
    assert is_answer_key(key[:at] + unseen + key[at:])


@pytest.mark.parametrize(
    "spelling", ["answerKey", "answer_key", "answer-key", "Answer Key", "ANSWER_KEY", "answer.key"]
)
def test_every_spelling_gives_the_same_words(spelling: str) -> None:
    assert words(spelling) == ("answer", "key")


@given(st.sampled_from(ANSWERS.split()), st.sampled_from(["_", "-", " ", "."]), st.booleans())
def test_separators_and_capitals_do_not_hide_an_answer(key: str, separator: str, capital: bool) -> None:
    spelled = separator.join(part.upper() if capital else part for part in words(key))
    assert is_answer_key(spelled) == is_answer_key(key)


@pytest.mark.parametrize(
    ("key", "value", "siblings", "hidden"),
    [
        ("label", 1, (), True),
        ("label", "positive", ("text",), True),
        ("label", "Reset the form", ("id", "kind"), False),
        ("labels", ["file", "process"], ("description",), False),
        ("gold", 3, ("silver", "bronze"), False),
        ("reasoning", {"effort": "medium"}, (), False),
        ("reasoning", "First, note that the sum is even.", (), True),
        ("tests", 12, (), False),
        ("num_solutions", 3, (), False),
        ("expected_order", [], (), False),
        ("answer", None, (), False),
        ("answer", False, (), True),
        ("patch", 4, ("major", "minor"), False),
        ("predicted_calls", ["f(1)"], ("reward",), True),
        ("predicted_calls", ["f(1)"], (), False),
        ("label", "3", ("ctx", "endings"), True),
        ("label", "True", ("premises", "conclusion"), True),
        ("label", "1", ("sentence1", "sentence2"), True),
        ("label", "pos", ("review",), True),
        ("label", "B", ("choices",), True),
        ("label_text", "positive", ("text",), True),
        ("label_confidence", "high", ("text",), False),
        ("cop", 2, ("question", "opa", "opb"), True),
        ("exp", "As it is.", ("question", "options"), True),
        ("cop", 2, ("name",), False),
        ("exp", 12, ("question", "level"), False),
        ("cmd", "ls -la", ("invocation",), True),
        ("cmd", "ls -la", ("image",), True),
        ("cmd", "ls -la", ("name",), False),
    ],
)
def test_what_stands_beside_a_name_decides(key: str, value: object, siblings: tuple[str, ...], hidden: bool) -> None:
    assert hides(key, value, frozenset(siblings)) is hidden


@pytest.mark.parametrize("name", ["expected_rows", "EXPECTED", "gold_answer", "SECRET_VALUE", "flag", "solution"])
def test_a_variable_may_hold_an_answer(name: str) -> None:
    assert is_answer_name(name)


@pytest.mark.parametrize(
    "name", ["output", "response", "ANSWER_PATH", "target", "missing_solution", "answer_key", "tests"]
)
def test_a_program_has_names_of_its_own(name: str) -> None:
    assert not is_answer_name(name)


@given(st.text(max_size=400))
def test_any_text_may_be_asked_about(key: str) -> None:
    assert is_answer_key(key) in {True, False}
