"""Tokens as operators create, list and revoke them on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.home import Home

SECRET = r"swk_[A-Za-z0-9_-]{43}"


def test_a_token_is_made_listed_and_revoked(home: Home) -> None:
    code, out, err = home.call(
        "tokens", "add", "--name", "ci", "--tenant", "t", "--role", "submit", "--role", "read"
    )
    assert (code, "not shown again" in err) == (0, True)
    assert re.fullmatch(f"{SECRET}\n", out)
    (listed,) = home.items("tokens", "list")
    assert (listed["name"], listed["tenant_id"]) == ("ci", "t")
    assert (listed["roles"], listed["expires_at"]) == (["submit", "read"], None)
    table = home.call("tokens", "list")[1]
    assert re.search(r"ci +t +submit, read .* never", table)
    assert out.strip() not in table
    assert home.ask("tokens", "revoke", "ci")["id"] == listed["id"]
    assert home.items("tokens", "list") == []
    assert home.fails("tokens", "revoke", "ci", code=5)["kind"] == "not_found"


def test_a_token_is_revoked_by_its_id_too(home: Home) -> None:
    made = home.ask("tokens", "add", "--name", "ci", "--role", "read")
    assert re.fullmatch(SECRET, str(made["secret"]))
    token = made["token"]
    assert isinstance(token, dict)
    assert "hash" not in token
    code, out, _ = home.call("tokens", "revoke", str(token["id"]))
    assert (code, out) == (0, f"revoked {token['id']} (ci)\n")


def test_a_token_may_be_an_agent_s_own(home: Home) -> None:
    of_a = ("--role", "read", "--tenant", "t", "--agent")
    home.ask("tokens", "add", "--name", "a's", *of_a, "a")
    (listed,) = home.items("tokens", "list")
    assert (listed["tenant_id"], listed["agent_id"]) == ("t", "a")
    assert re.search(r"TENANT +AGENT.*\n\S+ +a's +t +a ", home.call("tokens", "list")[1])
    error = home.fails("tokens", "add", "--name", "b's", *of_a, "b", code=5)
    assert error["kind"] == "not_found"


def test_a_token_may_end_by_itself(home: Home) -> None:
    home.ask("tokens", "add", "--name", "ci", "--role", "read", "--expires-days", "30")
    (listed,) = home.items("tokens", "list")
    left = datetime.fromisoformat(str(listed["expires_at"])) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < left < timedelta(days=30, hours=1)


def test_two_live_tokens_never_share_a_name(home: Home) -> None:
    home.ask("tokens", "add", "--name", "ci", "--role", "read")
    error = home.fails("tokens", "add", "--name", "ci", "--role", "read", code=1)
    assert (error["kind"], "tokens revoke" in str(error["hint"])) == ("refused", True)
    home.ask("tokens", "revoke", "ci")
    home.ask("tokens", "add", "--name", "ci", "--role", "read")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--name", "x"), "--role"),
        (("--name", "x", "--role", "root"), "--role 'root'"),
        (("--name", " ", "--role", "read"), "--name"),
        (("--name", "x", "--role", "read", "--tenant", ""), "--tenant"),
        (("--name", "x", "--role", "read", "--agent", "a"), "--agent"),
        (("--name", "x", "--role", "review", "--tenant", "t", "--agent", "a"), "--role"),
        (("--name", "x", "--role", "read", "--expires-days", "0"), "--expires-days"),
        (("--name", "x", "--role", "read", "--expires-days", "99999999"), "--expires-days"),
    ],
)
def test_a_wrong_option_is_named(home: Home, arguments: tuple[str, ...], named: str) -> None:
    error = home.fails("tokens", "add", *arguments, code=2)
    assert (error["kind"], named in str(error["message"])) == ("usage", True)
    assert home.items("tokens", "list") == []


def test_a_link_leads_to_the_entry_of_the_console(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = home.call("tokens", "link", "--tenant", "t", "--role", "review")
    assert code == 0
    assert re.fullmatch(rf"http://127\.0\.0\.1:8720/console/enter\?key={SECRET}\n", out)
    linked = home.ask("tokens", "link", "--url", "https://console.example/base/")
    assert re.fullmatch(
        rf"https://console\.example/base/console/enter\?key={SECRET}", str(linked["link"])
    )
    left = datetime.fromisoformat(str(linked["expires_at"])) - datetime.now(UTC)
    assert timedelta(minutes=8) < left <= timedelta(minutes=10)
    assert home.fails("tokens", "link", "--url", "console.example", code=2)["kind"] == "usage"
    assert home.items("tokens", "list") == []
    monkeypatch.setenv("HEALTH_HOST", "0.0.0.0")
    monkeypatch.setenv("HEALTH_PORT", "9000")
    assert home.call("tokens", "link")[1].startswith("http://127.0.0.1:9000/console/enter?key=")


def test_without_a_token_the_list_says_how_to_make_one(home: Home) -> None:
    code, _, err = home.call("tokens", "list")
    assert (code, "skill-worker tokens add" in err) == (0, True)


def test_sessions_are_listed_and_ended_by_those_who_run_the_worker(home: Home) -> None:
    assert home.items("tokens", "sessions") == []
    assert home.fails("tokens", "end", "kim", code=5)["kind"] == "not_found"
