"""The makeshift without a wall: a limited process in a folder of its own, no security boundary."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.embedded.sandbox_wall import (
    SANDBOX_UID,
    Limits,
    Start,
    agent_command,
    environment,
    hidden_above,
    our_python,
)


@dataclass(frozen=True)
class PlainProcess:
    """Limits on time, memory and output, and an empty environment; files and network are open.

    `/tmp` in paths and commands is rewritten to a private folder; what files hold is not.
    """

    reason: str
    name: str = "process"
    is_boundary: bool = False

    @property
    def detail(self) -> str:
        """Say why it is used, and what it is not."""
        return f"NO SECURITY BOUNDARY: commands run as plain processes here, since {self.reason}"

    @contextmanager
    def open(self, limits: Limits) -> Iterator[Start]:
        """Make the private folder; as root it belongs to a user without rights, if that can be."""
        python, user = our_python(), None
        folder = os.path.realpath(tempfile.mkdtemp(prefix="skill-worker-sandbox-"))
        try:
            reachable = hidden_above(python.prefix) is None
            if os.geteuid() == 0 and reachable and hidden_above(os.path.dirname(folder)) is None:
                user = SANDBOX_UID
                os.chown(folder, user, user)
            yield Start(
                command=agent_command(python, limits, folder),
                environment=environment(python, folder),
                user=user,
                folder=folder,
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
