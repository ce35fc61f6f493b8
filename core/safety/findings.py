"""Findings as they are made: their words, their default severity, the digest they are known by."""

from __future__ import annotations

import re
from hashlib import sha256

from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Finding, ScreenSeverity
from core.domain.models.findings import LOOK_FAILED
from core.safety.config import ClassSetting, ScreenConfig

PLACEHOLDER = re.compile(r"\[masked:([a-z-]{2,20})\]")
_LONGEST_QUOTE = 300
_LINE = 1000
_TEXTS = {
    text.code.removeprefix("screen."): text
    for text in (
        Message("screen.hidden_text.tags"),
        Message("screen.hidden_text.invisible"),
        Message("screen.hidden_text.bidi"),
        Message("screen.hidden_text.comment"),
        Message("screen.hidden_text.styled"),
        Message("screen.hidden_text.lookalike"),
        Message("screen.model_instruction.override"),
        Message("screen.model_instruction.reveal"),
        Message("screen.model_instruction.directs"),
        Message("screen.model_instruction.trigger"),
        Message("screen.forged.turn"),
        Message("screen.forged.approval"),
        Message("screen.forged.tool"),
        Message("screen.payee.account"),
        Message("screen.payee.destination"),
        Message("screen.payee.unchecked"),
        Message("screen.control.dropped"),
        Message("screen.control.limit"),
        Message("screen.control.removed"),
        Message("screen.control.evaded"),
        Message("screen.concealment.people"),
        Message("screen.concealment.record"),
        Message("screen.data.sent_out"),
        Message("screen.harm.likely"),
        Message("screen.personal_id.resident_number"),
        Message("screen.personal_id.card"),
        Message("screen.personal_id.national_id"),
        Message("screen.personal_id.passport"),
        Message("screen.personal_id.licence"),
        Message("screen.secret.password"),
        Message("screen.secret.token"),
        Message("screen.secret.api_key"),
        Message("screen.secret.private_key"),
        Message("screen.code.phones_out"),
        Message("screen.code.runs_fetched"),
        Message("screen.code.hides"),
        Message("screen.code.reads_credentials"),
        Message("screen.code.deletes_broadly"),
        Message("screen.code.persists"),
        Message("screen.tools.everything"),
        Message("screen.tools.no_wall"),
        Message("screen.tools.every_topic"),
        Message("screen.contact.mail"),
        Message("screen.contact.phone"),
        Message("screen.contact.business_number"),
        Message("screen.link.new_host"),
        Message("screen.threshold.new"),
        Message("screen.approver.new"),
    )
}
_NOTED = {"secret", "contact", "link", "threshold", "approver", "interference"}
_SEVERITIES = {
    ClassSetting.HOLD: ScreenSeverity.HOLD,
    ClassSetting.NOTE: ScreenSeverity.NOTE,
}


def codes() -> tuple[str, ...]:
    """Return all codes that a finding can have, but for those of patterns of one's own."""
    return tuple(_TEXTS)


def severity_of(
    code: str, config: ScreenConfig, usual: ScreenSeverity | None = None
) -> ScreenSeverity | None:
    """Return what a finding of a code comes to, None if it is not looked for.

    `usual` is what a plug-in makes of it.
    """
    kind = code.partition(".")[0]
    setting = config.classes.get(code) or config.classes.get(kind)
    if setting is not None:
        return _SEVERITIES.get(setting)
    return usual or (ScreenSeverity.NOTE if kind in _NOTED else ScreenSeverity.HOLD)


def lines_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the lines of a span begin and end, as far as they are not too long."""
    begin = text.rfind("\n", max(0, start - _LINE), start) + 1
    until = text.find("\n", end, end + _LINE)
    return begin, until if until >= 0 else min(len(text), end + _LINE)


def _said(text: str | Message) -> Message:
    return text if isinstance(text, Message) else Message("screen.extra.pattern", name=text)


def finding(
    code: str,
    span: tuple[int, int],
    severity: ScreenSeverity,
    *,
    quote: str,
    context: str,
    place: str = "",
    text: str | Message = "",
) -> Finding:
    """Return a finding; `context` is the line around it, masked, by which it is known again.

    `text` says what is not ours to say: the name of a pattern, or a message.
    """
    known_by = f"{code}\0{' '.join(context.split())}"
    return Finding(
        code=code,
        text=_TEXTS.get(code) or _said(text),
        severity=severity,
        place=place,
        start=span[0],
        end=span[1],
        quote=quote if len(quote) <= _LONGEST_QUOTE else f"{quote[: _LONGEST_QUOTE - 1]}…",
        digest=sha256(known_by.encode("utf-8", "replace")).hexdigest(),
    )


def look_failed(why: str, of: str) -> Finding:
    """Return the finding of a model's look that failed, which holds; it is known again by `of`."""
    return Finding(
        code=LOOK_FAILED,
        text=Message("second_look.failed", why=why),
        severity=ScreenSeverity.HOLD,
        start=0,
        end=0,
        digest=text_hash(f"second_look.failed\0{of}"),
    )
