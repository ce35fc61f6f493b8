"""Settings as text: the values in force, `.env.example`, and the reference table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pydantic import JsonValue, SecretStr

from core.app.settings import Settings
from core.app.settings_groups import default_home

_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")
_HEAD = """# Settings of skill-worker. Copy this file to `.env` in the folder you start it from.
# The environment wins over this file. A line that begins with `# NAME=` shows an example
# of a setting that is not set.
"""


@dataclass(frozen=True)
class ShownSetting:
    """One setting as `config show` prints it; secrets are masked."""

    name: str
    value: JsonValue
    is_set: bool
    about: str


def shown(settings: Settings) -> list[ShownSetting]:
    """Return every setting in force, without secrets."""
    return [
        ShownSetting(
            name=name.upper(),
            value=_masked(getattr(settings, name)),
            is_set=name in settings.model_fields_set,
            about=field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]


def env_example() -> str:
    """Return the text of `.env.example`: every setting with its default, or an example."""
    return _HEAD + "".join(
        f"\n# {field.description}\n{_assignment(name)}\n"
        for name, field in Settings.model_fields.items()
    )


def reference_table() -> str:
    """Return the Markdown table of all settings."""
    rows = [
        f"| `{name.upper()}` | {_default(name) or 'unset'} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(["| setting | default | what it is |", "|---|---|---|", *rows]) + "\n"


def _masked(value: object) -> JsonValue:
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        is_url = "://" in secret and not secret.lstrip().startswith("{")
        return _PASSWORD.sub(r"\1:***@", secret) if is_url else "***"
    if isinstance(value, str):
        return _PASSWORD.sub(r"\1:***@", value)
    if isinstance(value, Path | Decimal):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float) else None


def _assignment(name: str) -> str:
    default = _default(name)
    if default and name != "skill_worker_home":
        return f"{name.upper()}={default}"
    example = (Settings.model_fields[name].examples or [""])[0]
    return f"# {name.upper()}={example}"


def _default(name: str) -> str:
    field = Settings.model_fields[name]
    if field.default_factory is default_home:
        return "user data folder; `/var/lib/skill-worker` as root"
    if field.default is None:
        return ""
    return str(field.default).lower() if isinstance(field.default, bool) else f"{field.default}"
