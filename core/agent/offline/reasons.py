"""Reasons of the offline model, in English and Korean."""

from __future__ import annotations

from core.agent.offline.text import is_korean

STAND_IN = "offline stand-in"

REASONS: dict[str, tuple[str, str]] = {
    "once": ("it is meant for this case only", "이번 건에만 해당하는 요청입니다"),
    "praise": ("it is praise, with nothing to do differently", "칭찬이며 달리 할 일이 없습니다"),
    "retry": (
        "it asks for another try, or reports a passing error",
        "다시 해 달라는 말이거나 지나가는 오류입니다",
    ),
    "elsewhere": (
        "it is for somebody else to do",
        "다른 사람이 할 일입니다",
    ),
    "unclear": (
        "it does not say what to do differently",
        "무엇을 달리 해야 하는지 말하지 않습니다",
    ),
    "aimless": (
        "goal and persona state nothing that could be recorded",
        "목표와 페르소나에 기록할 만한 내용이 없습니다",
    ),
    "withdrawn": ("the feedback withdraws it", "피드백이 이 내용을 거두어들입니다"),
    "nowhere": (
        "it withdraws something, and nothing known is surely that",
        "거두어들이는 내용인데, 아는 것 가운데 그것이라고 할 만한 항목이 없습니다",
    ),
    "attach": (
        "an existing skill states it, and the agent does not have it yet",
        "기존 스킬이 이미 다루는 내용인데 이 에이전트에게는 아직 없습니다",
    ),
    "off_list": (
        "the agent is not to use this skill; the skill itself stays",
        "이 에이전트가 쓰지 않을 스킬이며, 스킬 자체는 남습니다",
    ),
    "known": ("it is known already", "이미 아는 내용입니다"),
    "near_skill": (
        "it adds to a procedure that a related skill covers",
        "관련 스킬이 다루는 절차에 더할 내용입니다",
    ),
    "new_skill": (
        "it describes a procedure, and no related skill is known",
        "절차를 설명하며 관련된 스킬이 없습니다",
    ),
    "new_rule": (
        "it states an outcome for a condition, and no related rule is known",
        "조건에 따른 결과를 말하며 관련된 규칙이 없습니다",
    ),
    "near_rule": (
        "a known rule decides on the same subject",
        "이미 아는 규칙이 같은 대상을 판단합니다",
    ),
    "near_memory": (
        "it replaces what is known of the same subject",
        "같은 대상에 대해 알던 내용을 대신합니다",
    ),
    "new_memory": (
        "it states a fact, a preference or a guideline, and no hit is about it",
        "사실, 선호 또는 지침이며 이에 관해 아는 것이 없습니다",
    ),
    "adds": (
        "it adds to what is known of the same subject",
        "같은 대상에 대해 아는 내용에 더합니다",
    ),
    "beside_tenant": (
        "another agent wrote the near item for the whole tenant, so this one is told beside it",
        "비슷한 항목은 다른 에이전트가 테넌트 전체에 적은 것이어서 따로 적습니다",
    ),
    "unrelated": (
        "the near item is about somebody or something else",
        "비슷한 항목은 다른 대상에 관한 것입니다",
    ),
    "answers": (
        "it only makes sense as an answer, and what it changes cannot be told",
        "앞말에 대한 답으로만 뜻이 통하는데, 무엇을 바꾸는지 알 수 없습니다",
    ),
    "for_a_time": (
        "it holds for another time, or for others, than the near item, which stays as it is",
        "비슷한 항목과 적용 기간이나 대상이 달라 그 항목은 그대로 둡니다",
    ),
    "open_end": (
        "until when it holds cannot be told, so its end is left open",
        "언제까지인지 알 수 없어 끝을 정하지 않았습니다",
    ),
    "open_scope": (
        "for whom it is was not said, so it is meant for this agent",
        "누구에게 적용되는지 말하지 않아 이 에이전트에 둡니다",
    ),
    "open_user": (
        "it is one person's wish, but not known whose, so it holds for all whom this agent serves",
        "한 사람의 바람인데 누구인지 몰라, 이 에이전트가 돕는 모두에게 적용됩니다",
    ),
    "taken": ("an item of that name exists", "같은 이름의 항목이 있습니다"),
    "failed": ("a tool could not do it", "도구가 이를 해내지 못했습니다"),
    "denied": ("the policy does not let it be taught", "정책상 가르칠 수 없는 내용입니다"),
}


def noted(text: str, why: str) -> str:
    """Return a sentence of a reason, in the language of a user's text."""
    return REASONS[why][1 if is_korean(text) else 0]
