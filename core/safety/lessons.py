"""What no lesson of the worker may say: that less be screened, reviewed, held or refused."""

from __future__ import annotations

import re
import unicodedata

from core.domain.messages import Message
from core.domain.models import ScreenSeverity
from core.safety.config import ClassSetting, FindingClass, ScreenConfig
from core.safety.masking import without_invisible

# Findings that no lesson may have at all. A change of an agent waits for a person with them; a
# lesson is read by all later runs, and who overlooks one approves it for all of them.
_REFUSED = {
    FindingClass.CONTROL,
    FindingClass.CONCEALMENT,
    FindingClass.FORGED,
    FindingClass.HIDDEN_TEXT,
    FindingClass.MODEL_INSTRUCTION,
}
# A lesson speaks of rules alone: there is no wording around it that makes it harmless.
_STRICT = ScreenConfig(classes=dict.fromkeys(_REFUSED, ClassSetting.HOLD))
# Base forms only: "it skips the review" says what was wrong with a change, "skip the review" asks.
_LOOSENS = re.compile(
    r"(?<!never )(?<!not )(?<!n't )\b(?:ignore|bypass|disable|disregard|circumvent|evade|skip|relax"
    r"|loosen|weaken|override|overrule|suspend|abolish|(?:turn|switch) off|get around|do away with)"
    r"\b[^.\n]{0,40}\b(?:polic(?:y|ies)|screen\w*|review\w*|checks?|approvals?|safeguards?"
    r"|guardrails?|restrictions?|safety|gate|held)\b"
    r"|\b(?:polic(?:y|ies)|screen(?:ing)?|reviews?|approvals?)\b[^.\n]{0,20}\b(?:off|unnecessary"
    r"|not (?:needed|necessary|required)|be (?:auto|looser?|relaxed|ignored|skipped|disabled))\b"
    r"|\b(?:hold|screen|refuse|reject|deny) (?:nothing|no (?:changes?|lessons?|more))\b"
    r"|\b(?:do not|don't|never|stop|without) (?:hold|screen|review|check)"
    r"(?:ing)?\b"
    r"|\b(?:approve|apply|accept|allow) (?:all|every\w*|any\w*|whatever|(?:it |them )?(?:at once"
    r"|automatically|without|directly))\b"
    r"|\bauto-?(?:approv|appl|accept)\w*"
    r"|\b(?:no|without(?: an?y?)?|needs? no|not need(?: an?y?)?) (?:review"
    r"|approval|screen\w*|person)\b"
    r"|(?:정책|심사|검토|검사|검열|스크린|승인|결재|보류|안전\s?장치|제한"
    r"|통제)(?:[은는이가을를도]|\s?절차를?)?"
    r"\s?(?:모두|전부|다|그냥|이제)?\s?(?:무시|건너\s?뛰|끄|꺼|해제|비활성|생략|완화|느슨|우회"
    r"|없애|없앤|풀어"
    r"|중단|하지\s?(?:마|말)|안\s?(?:해도|받아도)|받지\s?(?:않|말|마)|필요\s?없|불필요)"
    r"|(?:모두|전부|모든\s?(?:것|변경|제안)[을를]?|무조건|자동으로?|바로"
    r"|즉시)\s?(?:다\s?)?(?:승인|적용|통과|허용)"
    r"(?:하|해|시|될|되|돼)"
    r"|(?:검토|심사|승인|확인|검사|사람)\s?(?:을|를|도)?\s?없이"
)


def problem_of_lesson(text: str) -> Message | None:
    """Return why a text may be no lesson, or part of one; None if it may.

    What it asks for would have no effect, since code decides what is held and refused; it is
    refused so that no run is even told.
    """
    from core.safety.screen import screen  # its rules take long to load

    plain = unicodedata.normalize("NFKC", without_invisible(text)[0])
    if _LOOSENS.search(" ".join(plain.casefold().split())):
        return Message("lesson.loosens")
    for found in screen(None, text, config=_STRICT):
        name = found.code.partition(".")[0]
        if found.severity is ScreenSeverity.HOLD and name in _REFUSED:
            return Message("lesson.screened", what=found.text)
    return None
