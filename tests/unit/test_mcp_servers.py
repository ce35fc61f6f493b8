"""MCP servers given as in `.mcp.json`: what is read, expanded, refused, and never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.app.bootstrap.pods import mcp_servers
from core.app.mcp_servers import read_mcp_servers
from core.app.settings import Settings, load_settings
from core.app.settings_text import shown
from core.domain.errors import ConfigurationError

SKILLS, PODS = "claude-skills", "computer-use"
LISTED = {
    SKILLS: {"type": "http", "url": "https://skills/mcp", "headers": {"X-Key": "k-${KEY}"}},
    PODS: {"command": "uvx", "args": ["pods", "--root=$ROOT"], "env": {"TOKEN": "${T:-none}"}},
    "another": {"command": "npx", "env": {"GITHUB_TOKEN": "$GITHUB_TOKEN"}},
}


def settings_of(given: str, **others: str | None) -> Settings:
    return load_settings({"mcp_servers": given, **others}, env_file=None)


def test_a_list_is_read_from_a_file_or_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "1")
    monkeypatch.setenv("ROOT", "/pods")
    file = tmp_path / ".mcp.json"
    for key in ("mcpServers", "servers"):
        text = json.dumps({key: LISTED})
        file.write_text(text)
        for given in (text, str(file)):
            settings = settings_of(given)
            skills, pods = mcp_servers(settings, "http://127.0.0.1:1")
            assert (skills.name, skills.url) == (SKILLS, "https://skills/mcp")
            assert (skills.headers, skills.is_sse) == ({"X-Key": "k-1"}, False)
            assert (pods.name, pods.command) == (PODS, ("uvx", "pods", "--root=/pods"))
            assert pods.environment == {"TOKEN": "none"}
            assert settings.has_pods
            assert settings.skill_api_base_url == "https://skills"


def test_what_the_list_does_not_name_comes_from_the_other_settings() -> None:
    listed = json.dumps({PODS: {"url": "http://pods/sse?x=1", "type": "sse"}})
    settings = settings_of(listed, mcp_server_url="http://skills:1/mcp", mcp_server_token="s3cret")
    skills, pods = mcp_servers(settings, "http://127.0.0.1:1")
    assert (skills.url, skills.headers["Authorization"]) == ("http://skills:1/mcp", "Bearer s3cret")
    assert pods.is_sse


def test_variables_may_come_from_the_env_file(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text(f'POD_KEY=k\nMCP_SERVERS={{"{PODS}": {{"url": "http://p/mcp/$POD_KEY"}}}}\n')
    assert load_settings(env_file=env).mcp_entries[PODS].url == "http://p/mcp/k"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{", "it is no JSON"),
        ('{"mcpServers": []}', "it has no object of servers"),
        ("{}", "it has no object of servers"),
        ("/nowhere/.mcp.json", "/nowhere/.mcp.json cannot be read: No such file or directory"),
        (json.dumps({PODS: {"url": "$NOT_SET"}}), f"{PODS}: the variable NOT_SET is not set"),
        (json.dumps({PODS: {}}), f"{PODS}: give either command or url"),
        (json.dumps({PODS: {"url": "http://x", "command": "x"}}), "give either command or url"),
        (json.dumps({PODS: {"url": "http://x", "type": "stdio"}}), "type stdio needs command"),
        (json.dumps({PODS: {"url": 5}}), f"{PODS}: url"),
        (json.dumps({PODS: "http://x"}), f"{PODS}: "),
        (json.dumps({PODS: {"url": "http://x", "type": "pigeon"}}), f"{PODS}: type"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_by_name(given: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_of(given)
    assert "MCP_SERVERS" in caught.value.message
    assert said in caught.value.message


def test_a_name_that_is_nearly_one_of_ours_is_pointed_out() -> None:
    found = read_mcp_servers(json.dumps({"github": {"url": "$NOT_SET"}}), (PODS,), {})
    assert (found.wanted, found.others) == ({}, ("github",))
    (warning,) = settings_of(json.dumps({"computer_use": {"url": "http://x"}})).warnings
    assert "computer_use is used by nothing; computer-use may be meant" in warning


def test_no_secret_of_the_list_is_shown() -> None:
    listed = json.dumps(
        {PODS: {"url": "http://u:pw@x/mcp", "headers": {"Authorization": "Bearer z"}}}
    )
    settings = settings_of(listed)
    (pods,) = (server for server in mcp_servers(settings, "http://x") if server.name == PODS)
    assert pods.address == "http://x/mcp"
    told = [str(setting.value) for setting in shown(settings)] + [repr(pods), pods.shown]
    assert not [text for text in told if "Bearer z" in text]
    assert next(one.value for one in shown(settings) if one.name == "MCP_SERVERS") == "***"
