"""`knowledge list --archived`: what a person put away is listed, and comes back."""

from __future__ import annotations

import psycopg

from tests.support.home import Home

TEXT = "Greetings are two lines at most"


def propose(home: Home, item_id: str) -> str:
    """Propose to archive a memory of the agent `a`."""
    with psycopg.connect(home.database) as conn:
        row = conn.execute(
            "INSERT INTO proposals (tenant_id, agent_id, kind, item_id, action, created_at)"
            " VALUES ('t', 'a', 'MEMORY', %s, 'archive', now()) RETURNING id",
            (item_id,),
        ).fetchone()
    assert row is not None
    return str(row[0])


def test_what_was_archived_is_listed_until_it_is_brought_back(home: Home) -> None:
    home.bring(id="m1", kind="MEMORY", content=TEXT)
    home.bring(id="m2", kind="MEMORY", content="Amounts are in KRW")
    archived = ("knowledge", "list", "--archived", "--agent", "a")
    assert "nothing is archived" in home.call(*archived)[2]
    home.ask("knowledge", "effect", "--accept", propose(home, "m1"))
    (one,) = home.items(*archived)
    assert (one["id"], one["name"], one["excerpt"]) == ("m1", TEXT, TEXT)
    code, out, err = home.call(*archived)
    assert (code, str(one["change_id"]) in out) == (0, True)
    assert "changes revert" in err
    assert [item["id"] for item in home.items("knowledge", "list")] == ["m2"]
    found = home.items("knowledge", "search", "two lines greetings", "--agent", "a")
    assert "m1" not in [hit["id"] for hit in found]
    (change, *_) = home.items("changes", "list")
    assert "archived by" in str(change["reason"])
    assert home.call("knowledge", "restore", "m1", "--to", "1")[0] == 0
    assert home.items(*archived) == []
    home.ask("knowledge", "effect", "--accept", propose(home, "m1"))
    assert [item["id"] for item in home.items(*archived)] == ["m1"]
    assert home.fails(*archived, "--expired", code=2)["kind"]
    assert home.fails("knowledge", "list", "--archived", "--agent", "zz", code=5)["kind"]
