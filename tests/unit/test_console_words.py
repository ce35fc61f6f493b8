"""The console's catalogue: every text in both languages, none missing, none unused."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from core.domain.models.knowledge import DefectKind, MergeMode, Relationship
from core.entrypoints.console.language import Language, chosen, say, words

CONSOLE = Path(__file__).parents[2] / "core" / "entrypoints" / "console"
EVENTS = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text("utf-8")
PAGES = sorted(file.stem for file in (CONSOLE / "words").glob("*.yaml"))
_SAID = re.compile(r"[\"']([a-z]+)\.([A-Za-z_]+)[\"']")


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def _said() -> set[tuple[str, str]]:
    files = CONSOLE.rglob("*.py")
    return {found for file in files for found in _SAID.findall(file.read_text("utf-8"))}


@pytest.mark.parametrize("page", PAGES)
def test_every_word_is_there_in_both_languages_with_the_same_fields(page: str) -> None:
    for key, entry in words(page).items():
        assert entry.keys() == set(Language), f"{page}.{key}"
        assert all(text.strip() for text in entry.values()), f"{page}.{key}"
        assert _placeholders(entry["en"]) == _placeholders(entry["ko"]), f"{page}.{key}"


@pytest.mark.parametrize("page", PAGES)
def test_no_word_is_there_twice(page: str) -> None:
    text = (CONSOLE / "words" / f"{page}.yaml").read_text("utf-8")
    keys = re.findall(r"^(\w+):", text, re.MULTILINE)
    assert len(keys) == len(set(keys)), [key for key in keys if keys.count(key) > 1]


def test_what_pages_say_is_written() -> None:
    said = {
        (page, key) for page, key in _said() if page in PAGES and f"`{page}.{key}`" not in EVENTS
    }
    assert said
    missing = [f"{page}.{key}" for page, key in said if key not in words(page)]
    assert missing == []


def test_what_the_program_names_has_words() -> None:
    for page, names in (("common", (*MergeMode, *Relationship)), ("diff", (*DefectKind,))):
        missing = [name.value for name in names if name.value not in words(page)]
        assert missing == []


def test_values_are_put_in() -> None:
    assert say(Language.KO, "frame.hours_ago", n=3) == "3시간 전"
    assert say(Language.EN, "frame.hours_ago", n=3) == "3 h ago"


@pytest.mark.parametrize(
    ("wanted", "accepted", "language"),
    [
        (None, None, Language.EN),
        (None, "ko-KR,ko;q=0.9,en;q=0.8", Language.KO),
        (None, "de, en;q=0.5, ko;q=0.7", Language.KO),
        (None, "ko;q=0, fr", Language.EN),
        (None, ";;;q=x,,", Language.EN),
        ("en", "ko", Language.EN),
        ("<script>", "ko", Language.KO),
    ],
)
def test_what_was_chosen_goes_before_what_the_browser_asks_for(
    wanted: str | None, accepted: str | None, language: Language
) -> None:
    assert chosen(wanted, accepted) is language
