"""The words of the console, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources

import yaml
from pydantic import TypeAdapter

Entry = Mapping[str, str]
_ENTRIES = TypeAdapter[dict[str, dict[str, str]]](dict[str, dict[str, str]])


class Language(StrEnum):
    """A language the console speaks."""

    EN = "en"
    KO = "ko"


def chosen(wanted: str | None, accepted: str | None) -> Language:
    """Return the chosen language, else the first that both the browser and we speak."""
    for name in (wanted or "", *_accepted(accepted or "")):
        found = name.strip().lower()[:2]
        if found in set(Language):
            return Language(found)
    return Language.EN


def say(language: Language, key: str, **values: object) -> str:
    """Return the words for `page.key`, with values filled in. Raises KeyError on an unknown key."""
    page, _, name = key.partition(".")
    return words(page)[name][language].format(**values)


@cache
def words(page: str) -> Mapping[str, Entry]:
    """Return all words of one page: key -> language -> text."""
    text = (resources.files("core.entrypoints.console") / "words" / f"{page}.yaml").read_text(
        "utf-8"
    )
    return _ENTRIES.validate_python(yaml.safe_load(text) or {})


def _accepted(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the most wanted first."""
    parts = [part.partition(";q=") for part in header.split(",")]
    weighed = [(_weight(weight), name) for name, _, weight in parts]
    return [name for weight, name in sorted(weighed, key=lambda pair: -pair[0]) if weight > 0]


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
