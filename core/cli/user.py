"""Who runs the command: decisions are signed with it."""

from __future__ import annotations

import getpass
import os


def who() -> str:
    """Give the name of this machine's user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user, as in a bare container
        return f"uid {os.getuid()}"
