"""What people are told about an event, in their language: a title, a few lines, and a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from core.domain.messages import Message, term, translated
from core.domain.models.deliveries import Notice

_TITLES: Mapping[str, Callable[[str], Message]] = {
    "change.held": lambda name: Message("notice.held", name=name),
    "change.reminded": lambda name: Message("notice.reminded", name=name),
    "change.failed": lambda name: Message("notice.failed", name=name),
    "change.applied": lambda name: Message("notice.applied", name=name),
    "change.rejected": lambda name: Message("notice.rejected", name=name),
    "feedback.failed": lambda _: Message("notice.feedback_failed"),
    "feedback.completed": lambda _: Message("notice.feedback_completed"),
    "hook.disabled": lambda _: Message("notice.hook_disabled"),
}
_WHAT: Mapping[str, Callable[[Message], Message]] = {
    "CREATE": lambda kind: Message("notice.create", kind=kind),
    "UPDATE": lambda kind: Message("notice.update", kind=kind),
    "DELETE": lambda kind: Message("notice.delete", kind=kind),
}


def notice_text(notice: Notice, language: str) -> tuple[str, str]:
    """Return the title and the body of a message about an event."""
    data = notice.data
    name = _text(data, "target_name") or _text(data, "target_id")
    title = _TITLES.get(notice.type)
    said = title(name) if title else Message("notice.other", event=notice.type)
    lines = [translated(language, line) for line in _lines(notice)]
    return translated(language, said), "\n".join(lines)


def _lines(notice: Notice) -> list[str]:
    data = notice.data
    lines: list[str] = []
    if (kind := _text(data, "kind")) and (what := _WHAT.get(_text(data, "operation"))):
        lines.append(what(term(kind)))
    if hook := _text(data, "hook"):
        lines.append(Message("notice.hook", name=hook))
    because = data.get("because")
    lines += [
        Message("notice.because", why=why)
        for why in (because if isinstance(because, list) else [])
        if isinstance(why, str)
    ]
    if why := _text(data, "error") or _text(data, "reason"):
        lines.append(Message("notice.because", why=why))
    if isinstance(waited := data.get("waited_seconds"), int | float):
        lines.append(Message("notice.waited", hours=round(waited / 3600, 1)))
    if notice.tenant_id:
        lines.append(Message("notice.tenant", tenant=notice.tenant_id))
    if feedback := _text(data, "feedback_id"):
        lines.append(Message("notice.feedback", id=feedback))
    if url := _text(data, "url"):
        lines.append(Message("notice.look", url=url))
    return lines


def _text(data: Mapping[str, JsonValue], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
