"""Settings on paper: `.env.example` and the reference page match them; no secret is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.app.settings import Settings, load_settings
from core.app.settings_text import env_example, reference_table, shown

ROOT = Path(__file__).parents[2]


def test_the_example_file_names_every_setting() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = re.findall(r"^(?:# )?([A-Z_]+)=", text, flags=re.MULTILINE)
    assert [name for name in named if name != "NAME"] == [n.upper() for n in Settings.model_fields]
    assert text == env_example(), "write core.app.settings_text.env_example() to .env.example"


def test_the_example_file_sets_nothing_but_defaults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    example, none = load_settings(env_file=ROOT / ".env.example"), load_settings(env_file=None)
    assert example.model_dump() == none.model_dump()


def test_the_examples_in_the_file_are_themselves_right(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    file = tmp_path / ".env"
    file.write_text(re.sub(r"^# (?=[A-Z_]+=)", "", env_example(), flags=re.MULTILINE), "utf-8")
    settings = load_settings(env_file=file)
    assert settings.model_fields_set == set(Settings.model_fields)


def test_the_reference_page_holds_the_table_of_settings() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert reference_table() in page, "write core.app.settings_text.reference_table() to the page"


def test_every_setting_is_explained() -> None:
    for field in Settings.model_fields.values():
        assert (field.description or "").endswith(".")
        assert field.examples


def test_what_is_shown_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "DATABASE_URL": "postgresql://kim:hunter2@db:5432/x",
        "SKILL_API_TOKEN": "hunter2",
        "LLM_PROXY_API_KEY": "hunter2",
        "LLM_PROXY_URL": "http://kim:hunter2@proxy/v1",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    rows = {row.name: row for row in shown(load_settings(env_file=None))}
    assert rows["DATABASE_URL"].value == "postgresql://kim:***@db:5432/x"
    assert rows["LLM_PROXY_URL"].value == "http://kim:***@proxy/v1"
    assert rows["SKILL_API_TOKEN"].value == "***"
    assert rows["SKILL_API_TOKEN"].is_set
    assert not rows["SEARCH_LIMIT"].is_set
    assert "hunter2" not in str(list(rows.values()))
