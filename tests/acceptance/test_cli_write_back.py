"""`deliveries backfill`, and what the doctor says of the platform's tables."""

from __future__ import annotations

import pytest

from tests.support.home import Home
from tests.support.postgrest_server import KEY


@pytest.fixture
def with_platform(home: Home) -> Home:
    """A home where something was learnt before its platform was set."""
    home.bring(id="m1", kind="MEMORY", content="Ms. Kim wants amounts in KRW")
    home.monkeypatch.setenv("SUPABASE_URL", "http://127.0.0.1:9")
    home.monkeypatch.setenv("SUPABASE_KEY", KEY)
    return home


def test_what_was_learnt_before_goes_out_on_request(with_platform: Home) -> None:
    home = with_platform
    assert home.items("deliveries", "list") == []
    ask = ("deliveries", "backfill")
    assert home.ask(*ask, "--dry-run") == {"changes": 1, "without_uuid": 1, "dry_run": True}
    assert home.ask(*ask, "--tenant", "other")["changes"] == 0
    assert home.ask(*ask, "--since", "2999-01-01")["changes"] == 0
    assert home.ask(*ask, "--tenant", "t")["changes"] == 1
    assert home.ask(*ask)["changes"] == 0
    (waiting,) = home.items("deliveries", "list", "--to", "platform")
    assert (waiting["status"], waiting["event"]) == ("waiting", "change.applied")
    home.bring(id="m2", kind="MEMORY", content="Mr. Lee writes invoices in English")
    assert len(home.items("deliveries", "list")) == 2  # by itself from now on
    home.monkeypatch.setenv("PLATFORM_WRITE_BACK", "false")
    home.bring(id="m3", kind="MEMORY", content="Parcels go out on Mondays")
    assert len(home.items("deliveries", "list")) == 2
    assert "PLATFORM_WRITE_BACK" in str(home.fails(*ask, code=4)["hint"])


def test_what_the_platform_has_no_place_for_is_skipped_not_written(with_platform: Home) -> None:
    home = with_platform  # whose agent has the id `a`, and whose platform does not answer
    code, out, err = home.call("deliveries", "backfill")
    assert (code, err) == (0, "")
    assert "1 of them will be skipped" in out
    home.call("run", "--once", "--offline")
    assert not home.items("deliveries", "list", "--status", "delivered")
    (left,) = home.items("deliveries", "list", "--status", "skipped")
    assert "agent 'a': its id is no UUID" in str(left["error"])
    code, out, err = home.call("deliveries", "show", str(left["id"]))
    assert "written  " not in out
    assert "its id is no UUID" in out
    assert "skipped" in out


def test_a_hook_cannot_be_called_as_the_platform_is(with_platform: Home) -> None:
    home = with_platform
    file = home.path / "ours.yaml"
    file.write_text("hooks: [{name: platform, event: change.applied, python: 'a:b'}]\n")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(file))
    assert "platform" in str(home.fails("deliveries", "list", code=4)["message"])
    file.write_text("platform:\n  users: {columns: {skils: names, id: null}}\n")
    assert "skils" in str(home.fails("deliveries", "list", code=4)["message"])
