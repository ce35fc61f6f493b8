"""How a worker introduces itself: its name, and where it runs.

Apart from the job engine, so that what only needs the card does not import Procrastinate.
"""

from __future__ import annotations

import os
import socket
from typing import NamedTuple


class WorkerCard(NamedTuple):
    """A worker's description of itself."""

    name: str = ""
    host: str = ""
    pid: int = 0
    concurrency: int = 1


def worker_card(name: str | None, concurrency: int) -> WorkerCard:
    """Return the card of this process."""
    host, pid = socket.gethostname(), os.getpid()
    return WorkerCard(name or f"{host}:{pid}", host, pid, concurrency)
