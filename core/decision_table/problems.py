"""All problems of a table reported at once, so that one correction is enough."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import RuleInvalid
from core.domain.messages import Message, joined

INPUT, OUTPUT = Message("table.input"), Message("table.output")
_SHOWN = 12


def refuse(problems: Sequence[str], *, hint: str = "") -> None:
    """Raise RuleInvalid listing the problems; do nothing if there are none."""
    if not problems:
        return
    shown = list(problems[:_SHOWN])
    if (rest := len(problems) - _SHOWN) > 0:
        shown.append(Message("table.more_problems", n=rest))
    raise RuleInvalid(joined(shown), hint=hint)


def listing(names: Sequence[str]) -> str:
    """Return names quoted for a message, at most twelve of them."""
    text = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    rest = len(names) - _SHOWN
    if rest > 0:
        return Message("near.and_more", ids=text, n=rest)
    return text or Message("list.none")


def either(words: Sequence[str]) -> str:
    """Return alternatives for a message."""
    last = words[-1]
    for word in reversed(words[:-1]):
        last = Message("list.or", one=word, other=last)
    return last


def row_named(row_id: str) -> Message:
    """Name a row in a message."""
    return Message("table.row", row=row_id)
