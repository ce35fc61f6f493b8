"""What `run --once` waits for while it has nothing to do itself, said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# So many looks in a row, a fifth of a second apart: what another worker ends soon is no news.
_PATIENCE = 8


class Awaited:
    """Looks at the counts again and again; says what is waited for when that lasts."""

    def __init__(self, stalled_after: float, say: Callable[[str], None]) -> None:
        self._stalled_after = stalled_after
        self._say = say
        self._looks = 0

    def look(self, counts: Mapping[str, int], working: int) -> None:
        """Take the number of pieces by status, and how many of them are worked on here."""
        taken, queued = counts.get("processing", 0), counts.get("queued", 0)
        self._looks = 0 if working or not taken + queued else self._looks + 1
        if self._looks == _PATIENCE:
            self._say(self._sentence(taken, queued))

    def _sentence(self, taken: int, queued: int) -> str:
        if taken:
            return (
                f"Waiting for feedback that another worker has ({taken}). If that worker has"
                f" stopped answering, it is taken over {self._stalled_after:g} s"
                " (STALLED_AFTER_SECONDS) after its last sign of life."
            )
        return f"Waiting for feedback whose next attempt is due later ({queued})."
