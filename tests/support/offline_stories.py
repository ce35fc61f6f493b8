"""What users tell the offline model in turn, and what is known afterwards."""

from __future__ import annotations

TEAM = "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다"
BOSS = "주문 금액이 100만원을 넘으면 사장 승인을 받아야 합니다"
CHIEF = "주문 금액이 500만원을 넘으면 대표 승인을 받아야 합니다"
HEAD = "주문 금액이 300만원을 넘으면 본부장 승인을 받아야 합니다"
ALSO = "주문 금액이 300만원 이상이면 본부장 결재도 필요합니다"
MANAGER = "Orders over 1,000,000 KRW need a manager's approval"
DIRECTOR = "Orders over 1,000,000 KRW need a director's approval"
CEO = "Orders over 5,000,000 KRW need the CEO's approval"
POLITE = "고객에게는 항상 존댓말로 답합니다"
SHORT = "환불 안내 메일은 더 짧게 써 주세요"
FOURTEEN = "환불은 결제 후 14일 이내에만 받습니다"
FAX = "Refund mails carry the fax number of the desk"
MAILS = "Ms. Park prefers short answers"
JEJU = "제주도 배송은 3일이 걸립니다"
SKILL = "SKILL partial-refund"

Story = tuple[tuple[str, ...], tuple[str, ...]]

# told, then known: a memory as it stands, a row as `test: outcome`, a skill by its name
STORIES: dict[str, Story] = {
    "a contradiction changes the outcome": (
        (TEAM, BOSS),
        ("> 1000000: 사장 승인을 받아야 합니다", SKILL),
    ),
    "a contradiction in English": (
        (MANAGER, DIRECTOR),
        ("> 1000000: need a director's approval", SKILL),
    ),
    "another format takes the place of the first": (
        ("보고서는 PDF로 보내 주세요", "보고서는 엑셀로 보내 주세요"),
        ("보고서는 엑셀로 보내 주세요", SKILL),
    ),
    "two people may want two formats": (
        ("김 과장님은 PDF로 보내 주세요", "박 대리님은 엑셀로 보내 주세요"),
        ("김 과장님은 PDF로 보내 주세요", "박 대리님은 엑셀로 보내 주세요", SKILL),
    ),
    "words about what nobody knows are not learnt": (
        ("아니 그건 말고 달러로요", "never mind", "이거 말고 표로 정리해 주세요"),
        (SKILL,),
    ),
    "the item that is meant is deleted": (
        (POLITE, SHORT, FOURTEEN, "환불 기한 14일 규칙은 더 이상 쓰지 않으니 삭제해 주세요"),
        (POLITE, SKILL, SHORT),
    ),
    "the item that is meant is deleted, in English": (
        (FAX, MAILS, "Please delete the note on the fax number, we no longer use it"),
        (MAILS, SKILL),
    ),
    "nothing is deleted where nothing is meant": (
        (POLITE, SHORT, "휴가 신청 규칙은 더 이상 쓰지 않으니 삭제해 주세요"),
        (POLITE, SKILL, SHORT),
    ),
    "another number is not meant": (
        (FOURTEEN, "환불 기한 30일 규칙은 삭제해 주세요"),
        (FOURTEEN, SKILL),
    ),
    "a skill is deleted, not made": (("부분 환불 스킬은 이제 안 쓰니 삭제해 주세요",), ()),
    "a skill is deleted in English": (("Delete the partial-refund skill please",), ()),
    "an unknown skill is not made": (("팩스 발송 스킬은 이제 안 쓰니 삭제해 주세요",), (SKILL,)),
    "an unknown rule is not made": (
        ("Please delete the fax rule, we no longer use it.",),
        (SKILL,),
    ),
    "deleting can be the work itself": (
        ("임시 파일은 작업이 끝나면 항상 삭제해 주세요",),
        (SKILL, "임시 파일은 작업이 끝나면 항상 삭제해 주세요"),
    ),
    "deleting can be the work itself, in English": (
        ("Delete temporary files after each run",),
        ("Delete temporary files after each run", SKILL),
    ),
    "what is deleted at work stays known when told again": (
        ("작업이 끝나면 임시 파일을 삭제하세요", "임시 파일은 작업이 끝나면 삭제하세요"),
        (SKILL, "임시 파일은 작업이 끝나면 삭제하세요"),
    ),
    "files are no knowledge to delete": (
        ("중복된 행은 삭제하세요",),
        (SKILL, "중복된 행은 삭제하세요"),
    ),
    "a second limit stands beside the first": (
        (TEAM, CHIEF, HEAD),
        (
            "(1000000..3000000]: 팀장 승인을 받아야 합니다",
            "> 5000000: 대표 승인을 받아야 합니다",
            "(3000000..5000000]: 본부장 승인을 받아야 합니다",
            SKILL,
        ),
    ),
    "a lower limit stands below the first": (
        (CEO, MANAGER),
        (
            "> 5000000: need the CEO's approval",
            "(1000000..5000000]: need a manager's approval",
            SKILL,
        ),
    ),
    "a limit that moves keeps those above it": (
        (TEAM, CHIEF, "이제 주문 금액이 200만원을 넘으면 팀장 승인을 받아야 합니다"),
        (
            "(2000000..5000000]: 팀장 승인을 받아야 합니다",
            "> 5000000: 대표 승인을 받아야 합니다",
            SKILL,
        ),
    ),
    "what is also needed is needed too": (
        (TEAM, ALSO),
        ("> 1000000: 팀장 승인을 받아야 합니다", ">= 3000000: 본부장 결재도 필요합니다", SKILL),
    ),
    "not for this case only": (
        ("이번 건만 그런 게 아니라 앞으로 모든 보고서는 영어로 작성해 주세요",),
        (SKILL, "이번 건만 그런 게 아니라 앞으로 모든 보고서는 영어로 작성해 주세요"),
    ),
    "not just this once": (
        ("Not just this once: write every report in English from now on",),
        ("Not just this once: write every report in English from now on", SKILL),
    ),
    "what to do when it fails": (
        ("도구가 계속 오류가 나면 담당자에게 전화해야 합니다",),
        (SKILL, "도구가 계속 오류가 나면 담당자에게 전화해야 합니다"),
    ),
    "a repetition adds no item": (
        (
            JEJU,
            "제주도로 보내는 배송은 사흘 걸립니다",
            "제주 배송에는 3일 정도가 소요됩니다",
            "제주도 배송은 항상 3일이 걸린다고 안내해 주세요",
        ),
        (SKILL, "제주도 배송은 항상 3일이 걸린다고 안내해 주세요"),
    ),
}
GOALS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a rule and a manner": (
        "환불 금액이 50만원을 넘으면 팀장 승인을 받아야 합니다. 고객에게는 항상 존댓말로 답합니다.",
        ("DMN_RULE", "MEMORY"),
    ),
    "a list between two sentences": (
        "고객에게는 항상 존댓말로 답합니다. 환불 절차: 1. 주문을 확인한다. 2. 금액을 계산한다. "
        "환불 금액이 50만원을 넘으면 팀장 승인을 받아야 합니다.",
        ("DMN_RULE", "MEMORY", "SKILL"),
    ),
    "a list in English": (
        "Always answer in Korean. How to refund: 1. Check the order. 2. Pay the amount. "
        "Refunds over 500,000 KRW need a manager's approval.",
        ("DMN_RULE", "MEMORY", "SKILL"),
    ),
    "a list on lines of its own": (
        "How to refund:\n1. Check the order.\n2. Pay it. Keep the slip.\nAlways answer in Korean.",
        ("MEMORY", "SKILL"),
    ),
}
