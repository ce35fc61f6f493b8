"""All problems of a table reported at once, so that one correction is enough."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import RuleInvalid

_SHOWN = 12


def refuse(problems: Sequence[str], *, hint: str = "") -> None:
    """Raise RuleInvalid listing the problems; do nothing if there are none."""
    if not problems:
        return
    shown = list(problems[:_SHOWN])
    if len(problems) > _SHOWN:
        shown.append(f"and {len(problems) - _SHOWN} more problems")
    raise RuleInvalid("; ".join(shown), hint=hint)


def listing(names: Sequence[str]) -> str:
    """Return names quoted for a message, at most twelve of them."""
    text = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{text} and {rest} more" if rest > 0 else text or "none"
