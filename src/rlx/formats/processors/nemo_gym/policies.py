"""What of a row is shown: the request whole, the rest by the names of its keys, with what single servers need."""

from dataclasses import replace
from typing import Final

from rlx.answers import Policy
from rlx.formats.processors.nemo_gym.request import REQUEST

_GIVEN: Final = frozenset({f"{REQUEST}.input", f"{REQUEST}.tools", f"{REQUEST}.instructions"})
"""What the agent itself is given."""
_DENIED: Final = frozenset(
    {
        "metadata.eval_report",
        "metadata.inputs",
        "metadata.expected",
        "metadata.expert_rating",
        "verifier_metadata.osworld_task.evaluator.options",
    }
)
"""Answers and hidden tests under names that tell nothing."""
ATTEMPTS: Final = frozenset(
    {
        *("extracted_answer", "extracted_grade", "extracted_judgement", "extracted_model_output"),
        *("extracted_model_code", "final_answer", "generation", "model_patch", "pred_text", "correct", "is_correct"),
        *("predicted_calls", "predicted_output", "predicted_count"),
    }
)
"""What a verifier took from an attempt, or said of it."""
_SERVERS: Final = {
    "arc_agi": Policy("arc_agi", look=frozenset({"train.output"})),
    "nvarc": Policy("nvarc", look=frozenset({"train.output"})),
    "math_proof_judgement": Policy("math_proof_judgement", look=frozenset({"proof"})),
    "proof_verification": Policy("proof_verification", look=frozenset({"proof"})),
    "asr_with_pc": Policy("asr_with_pc", deny=frozenset({"text"})),
    "swerl_llm_judge": Policy("swerl_llm_judge", allow=frozenset({"options"})),
    "bbq": Policy(
        "bbq",
        look=frozenset({"expected_values", "expected_values.question", "expected_values.category"}),
        only=frozenset({"expected_values"}),
    ),
}
"""Examples, proofs and patches that are what is asked about; a transcript that is what was asked for; a question that
stands among the answers."""

TASKS: Final = Policy("nemo-gym", allow=_GIVEN, deny=_DENIED)
ROLLOUTS: Final = Policy(
    "nemo-gym-rollouts",
    allow=_GIVEN | {"response.output", "policy_response"},
    deny=_DENIED,
    look=ATTEMPTS | {"response"},
    echoes=ATTEMPTS | {"response", "policy_response"},
)


def of_server(policy: Policy, server: str | None) -> Policy:
    own = _SERVERS.get(server or "")
    if own is None:
        return policy
    return replace(
        policy,
        allow=policy.allow | own.allow,
        look=policy.look | own.look,
        only=policy.only | own.only,
        deny=policy.deny | own.deny,
    )
