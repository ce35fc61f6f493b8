"""Waiting for what another process or thread does by and by."""

from __future__ import annotations

import time
from collections.abc import Callable

SOON = 20.0


def wait_until(condition: Callable[[], bool], seconds: float = SOON) -> None:
    """Wait for a condition, and fail where it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not come true in {seconds:g} s"
        time.sleep(0.02)
