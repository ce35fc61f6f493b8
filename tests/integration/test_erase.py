"""What a person said is in no table any more once they are erased, and the record verifies."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import psycopg
from psycopg import sql
from pydantic import JsonValue

from tests.support.home import Home

AUTHOR, WORD = "kim.canary", "Zanzibarcode"
OWN = "For me, {0} reports must come as a PDF"
WAITS = "Invoices of {0} are paid within 14 days"
DIGEST = "d16e57"  # of what was learnt, by which a guess at it could be told to be right
LEARNT = "Ms. Park of {0} wants amounts without decimals"


def say(
    home: Home, text: str, *, author: str = AUTHOR, policy: str = "auto", thread: int = 1
) -> str:
    """Give feedback, and learn from it under a policy unless that is ""; return its id."""
    given: dict[str, JsonValue] = {
        "agent_ids": ["a"],
        "tenant_id": "t",
        "author": author,
        "content": text,
        "thread": f"thread {thread}",
    }
    if author == AUTHOR:
        given |= {"task": f"about {WORD}", "output": f"{WORD} 2.50", "events": [{"tool": WORD}]}
    file = home.path / "said.jsonl"
    file.write_text(json.dumps(given), encoding="utf-8")
    (added,) = home.items("feedback", "add", str(file))
    if author == AUTHOR:  # as if the call had a trace context, which may say anything
        with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
            state = json.dumps({"traceparent": "", "tracestate": f"they={WORD}"})
            conn.execute("UPDATE feedback SET trace = %s WHERE id = %s", (state, added["id"]))
    if policy:
        home.policy(policy)
        assert home.call("run", "--once", "--offline")[0] == 0
    return str(added["id"])


def tables_with(*words: str) -> Mapping[str, list[str]]:
    """Return the rows of all tables that have one of the words, as text or as bytes."""
    looked_for = [*words, *(word.encode().hex() for word in words)]
    found: dict[str, list[str]] = {}
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        names = conn.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = current_schema()::regnamespace"
        ).fetchall()
        for (name,) in names:
            query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name))
            rows = [row for (row,) in conn.execute(query) if any(w in row for w in looked_for)]
            if rows:
                found[name] = rows
    return found


def report_outcome(feedback_id: str) -> None:
    """Let agents report tasks: one used what the feedback taught, one has nothing to do with it."""
    outcome = "INSERT INTO outcomes (tenant_id, agent_id, at, success, note)"
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        values = "VALUES ('t', 'a', now(), true, %s) RETURNING id"
        ((used,),) = conn.execute(f"{outcome} {values}", (f"{WORD} paid",)).fetchall()
        conn.execute(f"{outcome} {values}", ("nothing of them",))
        conn.execute(
            "INSERT INTO outcome_items SELECT %s, 't', target_id FROM changes"
            " WHERE feedback_id = %s",
            (used, feedback_id),
        )
        conn.execute(
            "INSERT INTO uses SELECT 't', 'a', kind, target_id, 1, %s, 'recalled', current_date,"
            " 1, now(), now() FROM changes WHERE feedback_id = %s",
            (DIGEST, feedback_id),
        )


def erased(home: Home, *more: str) -> dict[str, JsonValue]:
    (tenant,) = home.ask("feedback", "erase", "--author", AUTHOR, *more)["tenants"]  # type: ignore[misc]
    assert isinstance(tenant, dict)
    return tenant


def test_nothing_of_an_erased_person_is_in_any_table(home: Home) -> None:
    learnt = say(home, LEARNT.format(WORD))
    say(home, "Thank you!", author="lee")
    say(home, OWN.format(WORD), thread=2)
    say(home, WAITS.format(WORD), policy="all", thread=3)
    say(home, f"{WORD} is late", policy="", thread=4)
    report_outcome(learnt)
    before = tables_with(WORD, AUTHOR)
    assert {"outcomes", "feedback", "changes", "history", "run_events", "checkpoint_blobs"} <= set(
        before
    )
    would = erased(home, "--dry-run")
    assert tables_with(WORD, AUTHOR) == before
    done = erased(home)
    kept = {"feedback", "ended", "rejected", "left"}
    assert {key: would[key] for key in kept} == {key: done[key] for key in kept}
    assert (done["feedback"], done["ended"], done["rejected"]) == (4, 1, 1)
    (left,) = done["left"]  # type: ignore[misc]
    assert isinstance(left, dict)
    assert (left["feedback_ids"], left["by_others"]) == ([learnt], False)
    assert set(tables_with(AUTHOR)) == set()
    assert tables_with("nothing of them").keys() == {"outcomes"}
    # What was learnt stays until it is retracted, and a second time erases the rest.
    assert set(tables_with(WORD)) <= {
        "knowledge_versions",
        "search_documents",
        "changes",
        "history",
    }
    assert home.call("retract", learnt)[0] == 0
    assert tables_with(DIGEST).keys() == {"uses"}
    assert erased(home)["left"] == []
    assert tables_with(DIGEST) == {}
    assert tables_with(WORD, AUTHOR) == {}
    verified = home.ask("history", "verify")
    assert verified["problems"] == []
    assert verified["erased"]
    code, out, err = home.call("knowledge", "restore", str(left["id"]), "--to", "1")
    assert (code, "was erased" in out + err) == (1, True), out + err
    again = erased(home)
    assert (again["feedback"], again["history"], again["left"]) == (0, 0, [])


def test_feedback_that_a_worker_is_at_is_ended_first_and_erased_later(home: Home) -> None:
    added = say(home, OWN.format(WORD), policy="")
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        conn.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    failure = home.fails("feedback", "erase", "--author", AUTHOR, code=1)
    assert added in str(failure["message"])
    assert home.ask("feedback", "show", added)["status"] == "cancelled"
    assert "feedback" in tables_with(WORD)
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        conn.execute("UPDATE procrastinate_jobs SET status = 'failed'")
    assert erased(home)["feedback"] == 1
    assert tables_with(WORD, AUTHOR) == {}


def test_erasing_nobody_says_so(home: Home) -> None:
    assert home.fails("feedback", "erase", "--author", "nobody", code=5)["kind"] == "not_found"


def test_the_answer_says_what_is_sent_and_what_others_may_have(home: Home) -> None:
    say(home, LEARNT.format(WORD))
    ask = ("feedback", "erase", "--author", AUTHOR)
    code, out, err = home.call(*ask, "--dry-run")
    assert (code, "sent" in out) == (0, False)
    assert "nothing is written back to a platform from here" in err
    home.monkeypatch.setenv("SUPABASE_URL", "http://127.0.0.1:9")
    home.monkeypatch.setenv("SUPABASE_KEY", "a key")
    assert erased(home, "--dry-run")["sent"] == {"platform": 1}
    assert home.items("deliveries", "list") == []
    code, out, err = home.call(*ask)
    assert (code, "sent to platform: that the records of 1 changes are emptied" in out) == (0, True)
    assert "todolist" in err
    assert [one["event"] for one in home.items("deliveries", "list")] == ["change.erased"]
