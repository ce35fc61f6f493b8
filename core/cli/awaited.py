"""What `run --once` waits for while it has nothing to do itself, said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.models import Hold

# So many looks in a row, a fifth of a second apart: what another worker ends soon is no news.
_PATIENCE = 8


class Awaited:
    """Looks at the counts again and again; says what is waited for when that lasts."""

    def __init__(self, stalled_after: float, say: Callable[[str], None]) -> None:
        self._stalled_after = stalled_after
        self._say = say
        self._looks = 0
        self._said = ""

    def look(self, counts: Mapping[str, int], working: int, hold: Hold | None = None) -> None:
        """Take the number of pieces by status, how many are worked on here, and what holds."""
        taken, queued = counts.get("processing", 0), counts.get("queued", 0)
        self._looks = 0 if working or not taken + queued else self._looks + 1
        if not self._looks:
            self._said = ""
        elif self._looks >= _PATIENCE:
            self._say_once("taken" if taken else hold.kind if hold else "due", taken, queued, hold)

    def _say_once(self, what: str, taken: int, queued: int, hold: Hold | None) -> None:
        if what != self._said:
            self._said = what
            self._say(self._sentence(taken, queued, hold))

    def _sentence(self, taken: int, queued: int, hold: Hold | None) -> str:
        if taken:
            return (
                f"Waiting for feedback that another worker has ({taken}). If that worker has"
                f" stopped answering, it is taken over {self._stalled_after:g} s"
                " (STALLED_AFTER_SECONDS) after its last sign of life."
            )
        if hold is None:
            return f"Waiting for feedback whose next attempt is due later ({queued})."
        if hold.kind == "paused":
            why = f": {hold.reason}" if hold.reason else ""
            return f"Intake is paused{why}. `skill-worker intake resume` goes on ({queued} wait)."
        return (
            f"Waiting for the model ({queued} wait): {hold.reason}."
            " It is asked again every LLM_PROBE_SECONDS."
        )
