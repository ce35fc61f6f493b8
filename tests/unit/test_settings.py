"""Settings: semantics of each kind, all errors at once, nothing secret in sight."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError, ModelDown
from core.domain.retry_policy import RetryPolicy


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("value", "on", "warned"),
    [
        ("true", True, False),
        ("TRUE", True, False),
        (" True ", True, False),
        ("1", True, False),
        ("yes", True, False),
        ("Yes", True, False),
        ("", False, False),
        ("  ", False, False),
        ("false", False, False),
        ("0", False, False),
        ("no", False, False),
        ("on", False, True),
        ("예", False, True),
    ],
)
def test_the_workflow_flag_is_on_for_true_1_and_yes_only(
    monkeypatch: pytest.MonkeyPatch, value: str, on: bool, warned: bool
) -> None:
    monkeypatch.setenv("USE_SKILL_CREATOR_WORKFLOW", value)
    settings = load_settings()
    assert settings.use_skill_creator_workflow is on
    assert bool(settings.warnings) is warned


def test_defaults_are_those_of_the_contract() -> None:
    settings = load_settings()
    assert settings.mcp_server_name == "claude-skills"
    assert settings.poll_interval_seconds == 7
    assert settings.react_max_iterations == 50
    assert settings.feedback_max_chars == 100_000
    assert settings.computer_use_mcp_url is None
    assert settings.skill_api_base_url is None
    assert settings.database_url is None


@pytest.mark.parametrize(
    ("server", "base", "expected"),
    [
        ("http://skills:8765/mcp", None, "http://skills:8765"),
        ("http://skills:8765/mcp/", None, "http://skills:8765"),
        ("http://skills:8765", None, "http://skills:8765"),
        ("http://skills:8765/a/mcp", None, "http://skills:8765/a"),
        ("http://skills:8765/mcp", "http://api:1/", "http://api:1"),
        (None, "http://api:1", "http://api:1"),
    ],
)
def test_the_skill_api_is_the_mcp_server_less_mcp(
    monkeypatch: pytest.MonkeyPatch, server: str | None, base: str | None, expected: str
) -> None:
    if server:
        monkeypatch.setenv("MCP_SERVER_URL", server)
    if base:
        monkeypatch.setenv("SKILL_API_BASE_URL", base)
    assert load_settings().skill_api_base_url == expected


def test_the_environment_wins_over_the_file_and_overrides_over_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text("\ufeffLLM_MODEL=openai:a\nSEARCH_LIMIT=9\nOTHER=x\n", encoding="utf-8")
    monkeypatch.setenv("LLM_MODEL", "openai:b")
    assert load_settings().llm_model == "openai:b"
    assert load_settings().search_limit == 9
    assert load_settings({"llm_model": "offline"}).llm_model == "offline"
    assert load_settings(env_file=None).search_limit == 5


def test_an_empty_value_is_as_if_it_were_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    monkeypatch.setenv("WORKER_CONCURRENCY", "")
    settings = load_settings()
    assert settings.database_url is None
    assert settings.worker_concurrency == 4


def test_all_errors_are_named_at_once_each_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "POLL_INTERVAL_SECONDS": "soon",
        "MAX_ATTEMPTS": "0",
        "MCP_SERVER_URL": "skills:8765",
        "DATABASE_URL": "mysql://root:hunter2@db/x",
        "LOG_LEVEL": "loud",
        "HEARTBEAT_SECONDS": "60",
        "STALLED_AFTER_SECONDS": "nan",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    lines = caught.value.message.splitlines()
    assert {line.partition(":")[0] for line in lines} == set(wrong) - {"HEARTBEAT_SECONDS"}
    assert all("Fix: e.g. " in line for line in lines)
    assert "hunter2" not in caught.value.message


def test_a_worker_must_be_silent_longer_than_one_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEARTBEAT_SECONDS", "30")
    with pytest.raises(ConfigurationError, match="STALLED_AFTER_SECONDS: it is not more than"):
        load_settings()


def test_the_longest_wait_is_not_below_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRY_BASE_SECONDS", "900")
    with pytest.raises(ConfigurationError, match="RETRY_MAX_SECONDS: it is less than"):
        load_settings()


def test_a_file_that_is_not_text_is_a_configuration_error() -> None:
    Path(".env").write_bytes(b"LLM_MODEL=\xff\xfe\n")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_settings()


def test_a_misspelt_setting_is_named_with_its_place_and_what_is_meant() -> None:
    Path(".env").write_text(
        "# ours\nLLM_MODLE=openai:a\nOTHER=x\nnot a setting\nexport Search_Limits=3\n",
        encoding="utf-8",
    )
    assert load_settings().warnings == (
        ".env, line 2: there is no setting LLM_MODLE; is LLM_MODEL meant?",
        ".env, line 4: it is no NAME=VALUE and is left out",
        ".env, line 5: there is no setting Search_Limits; is SEARCH_LIMIT meant?",
    )


def test_in_the_environment_only_what_begins_like_ours_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LLM_PROXY_URLS", "DATABASE_URLS", "LLM_SOMETHING_ELSE", "FEEDBACK_BOX"):
        monkeypatch.setenv(name, "x")
    assert load_settings().warnings == (
        "the environment: there is no setting LLM_PROXY_URLS; is LLM_PROXY_URL meant?",
    )


def test_settings_that_are_spelt_in_small_letters_are_no_mistake() -> None:
    Path(".env").write_text("llm_model=openai:a\n", encoding="utf-8")
    settings = load_settings()
    assert settings.llm_model == "openai:a"
    assert settings.warnings == ()


def test_by_default_an_outage_of_minutes_makes_no_feedback_dead() -> None:
    settings = load_settings()
    policy = RetryPolicy(
        settings.max_attempts,
        settings.retry_base_seconds,
        settings.retry_max_seconds,
        jitter=lambda: 0.0,
    )
    waits = [policy.delay(tries, ModelDown("down")) for tries in range(1, settings.max_attempts)]
    assert sum(waits) > 6 * 60


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SKILL_API_TOKEN", "LLM_PROXY_API_KEY", "SUPABASE_KEY"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hunter2@db/x")
    settings = load_settings()
    assert "hunter2" not in repr(settings) + str(settings.model_dump()) + settings.model_dump_json()


def test_a_command_that_needs_a_model_says_so() -> None:
    with pytest.raises(ConfigurationError, match="LLM_MODEL") as caught:
        load_settings().require_model()
    assert "LLM_MODEL=openai:" in caught.value.hint


def test_settings_do_not_change_once_read() -> None:
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.search_limit = 1  # type: ignore[misc]


def test_the_home_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SKILL_WORKER_HOME", "here")
    assert load_settings().skill_worker_home == tmp_path / "here"
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("SKILL_WORKER_HOME", "~/x")
    assert load_settings().skill_worker_home == Path("/home/someone/x")


def test_a_user_has_the_home_in_the_users_data_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/home/someone/data")
    assert load_settings().skill_worker_home == Path("/home/someone/data/skill-worker")


def test_root_has_the_home_under_var_lib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert load_settings().skill_worker_home == Path("/var/lib/skill-worker")


def test_names_of_hosts_have_no_scheme_port_or_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_HOSTS", "console.example, 10.0.0.7,::1")
    assert load_settings().api_hosts == "console.example,10.0.0.7,::1"
    for wrong in ("https://console.example", "console.example:443", "a/b", "a,,b", "a b"):
        monkeypatch.setenv("API_HOSTS", wrong)
        with pytest.raises(ConfigurationError, match=r"API_HOSTS: .* is no name of a host"):
            load_settings()
