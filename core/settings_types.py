"""The types of settings: how a text of the environment becomes a value, or says what is wrong."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, SecretStr

ON = {"true", "1", "yes"}
OFF = {"", "false", "0", "no"}
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:]+")


def default_home() -> Path:
    """Give the home where none is set: under `/var/lib` as root, else the user's data dir."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/skill-worker")
    return user_data_path("skill-worker", appauthor=False)


def flag(value: object) -> bool:
    """Tell whether a text switches something on."""
    return str(value).strip().lower() in ON


def absolute(value: Path) -> Path:
    """Give a path that does not depend on the working directory."""
    return Path(os.path.abspath(value.expanduser()))


def http_url(value: str) -> str:
    """Give an address without a slash at its end. Raises ValueError where it is none."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it is no http:// or https:// address")
    return value.rstrip("/")


def host_names(value: str) -> str:
    """Give names of hosts, with commas between. Raises ValueError where one is none."""
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if not _HOST.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a host; it has no scheme, port or path")
    return ",".join(names)


def postgres_url(value: SecretStr) -> SecretStr:
    """Give a PostgreSQL address back. Raises ValueError where it is none."""
    if urlsplit(value.get_secret_value()).scheme not in {"postgresql", "postgres"}:
        raise ValueError("it does not begin with postgresql://")
    return value


Url = Annotated[str, AfterValidator(http_url)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
