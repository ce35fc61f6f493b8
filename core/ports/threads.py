"""The threads of ReAct runs, read by people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.models.threads import Said


class Threads(Protocol):
    """What was said in runs. Threads are kept until some days after their feedback has ended."""

    async def read(self, thread: str) -> Sequence[Said] | None:
        """Give what was said, in order; None where nothing is kept.

        Raises RunFailed where what is kept cannot be read.
        """
