"""Erasing a person empties their own rows, and leaves those of others as they are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from core.adapters.postgres.erasing import PostgresErasing
from core.adapters.postgres.queries import Pool, connection
from tests.support.erasing_rows import (
    GONE,
    ROLES,
    change,
    erased,
    erasing_as,
    feedback,
    item,
    values,
)
from tests.support.seeding import Row, put_all


@pytest.fixture(params=ROLES)
async def erasing(request: pytest.FixtureRequest, database: str) -> AsyncIterator[PostgresErasing]:
    async with erasing_as(request.param, database) as opened:
        yield opened


# What becomes of what kim taught in t: `own` no longer stands, `left` does, `both` others taught
# too, `mine` is for kim alone; everything of the same ids is there of others as well.
WORLD: list[Row] = [
    feedback("f", task="task", thread="x", output=Jsonb("out"), error="err", trace="{}"),
    feedback("g", "lee", thread="y"),
    feedback("h", "lee", thread="x"),
    feedback("u", tenant_id="u"),
    change("c-own", "own"),
    change("c-left", "left"),
    change("c-void", "left", status="rejected", reason="", decided_by="kim", error="err"),
    change("c-both", "both"),
    change("c-lee", "both", "g", edited_by="kim", decided_by="lee"),
    change("c-other", "other", "g"),
    change("c-mine", "mine", "g"),
    change("c-table", "own", "g", kind="DMN_RULE"),
    change("c-foreign", "own", "u", tenant_id="u", decided_by="kim"),
    item("own", stands=False),
    item("left"),
    item("both", stands=False),
    item("other"),
    item("mine", scope="user", scope_user="kim"),
    item("own", kind="DMN_RULE", name_key="table"),
    item("own", tenant_id="u"),
    ("lesson_evidence", {"id": "e", "tenant_id": "u", "key": "k", "kind": "rejected",
                         "feedback_id": "f"}),
    ("lesson_proposals", {"tenant_id": "u", "key": "k", "item_id": "other"}),
    ("lesson_evidence", {"id": "g", "tenant_id": "t", "key": "l", "kind": "rejected",
                         "feedback_id": "g"}),
    ("lesson_proposals", {"tenant_id": "t", "key": "l", "item_id": "other"}),
]  # fmt: skip
ERASED_WORDS = {"c-own", "c-left", "c-void", "c-both", "c-mine"}


async def test_it_is_told_what_is_erased_and_what_is_left(
    pool: Pool, erasing: PostgresErasing
) -> None:
    await put_all(pool, *WORLD)
    assert await erasing.tenants("kim", None) == ["t", "u"]
    assert await erasing.tenants("kim", "t") == ["t"]
    assert await erasing.tenants("lee", "u") == []
    assert [(one.id, one.is_named) for one in await erasing.said("kim", "t")] == [("f", True)]
    planned = await erasing.erase("kim", "t", "root", dry_run=True)
    assert (planned.feedback, planned.changes, planned.items) == (1, 5, 2)
    assert not await erased(pool, "feedback", "id", "content")
    done = await erasing.erase("kim", "t", "root", dry_run=False)
    assert (done.feedback, done.changes, done.items, done.runs_of_others) == (1, 5, 2, 1)
    assert [(one.id, one.by_others, one.feedback_ids) for one in done.left] == [
        ("left", False, ("f",)), ("both", True, ("f",)),
    ]  # fmt: skip
    again = await erasing.erase("kim", "t", "root", dry_run=False)
    assert (again.feedback, again.history, again.names) == (0, 0, 0)
    assert [(one.id, one.is_named) for one in await erasing.said("kim", "t")] == [("f", False)]
    assert await erasing.tenants("kim", None) == ["t", "u"]
    authors = await values(pool, "feedback", "id", "author")
    assert (authors["g"], authors["u"]) == ("lee", "kim")
    assert str(authors["f"]).startswith("erased:")


async def test_words_go_and_what_stands_keeps_its_state(
    pool: Pool, erasing: PostgresErasing
) -> None:
    await put_all(pool, *WORLD)
    await erasing.erase("kim", "t", "root", dry_run=False)
    assert await erased(pool, "feedback", "id", "content") == {"f"}
    assert (await values(pool, "feedback", "id", "task"))["f"] == ""
    assert (await values(pool, "feedback", "id", "error"))["f"] == GONE
    for column in ("thread", "output", "trace"):
        assert (await values(pool, "feedback", "id", column))["f"] is None
    assert (await values(pool, "feedback", "id", "thread"))["h"] == "x"
    assert await erased(pool, "changes", "id", "feedback_content") == ERASED_WORDS
    assert await erased(pool, "changes", "id", "candidate_content") == ERASED_WORDS
    assert await erased(pool, "changes", "id", "reason") == ERASED_WORDS - {"c-void"}
    assert await erased(pool, "changes", "id", "error") == {"c-void"}
    assert await erased(pool, "changes", "id", "target_name") == {"c-own", "c-mine", "c-void"}
    assert await erased(pool, "changes", "id", "decided_by") == {"c-void"}
    assert await erased(pool, "changes", "id", "edited_by") == {"c-lee"}
    deciders = await values(pool, "changes", "id", "decided_by")
    assert (deciders["c-lee"], deciders["c-foreign"]) == ("lee", "kim")
    states = await values(pool, "changes", "id", "after")
    emptied = {one for one, state in states.items() if state == {"content": GONE, "name": GONE}}
    assert emptied == {"c-own", "c-mine", "c-void"}
    requests = await values(pool, "changes", "id", "request")
    assert {one for one, request in requests.items() if request is None} == emptied
    assert requests["c-left"] == {"reason": GONE, "content": "text"}
    assert requests["c-lee"] == {"reason": "because", "content": "text"}
    status = await values(pool, "changes", "id", "status")
    assert {one for one, now in status.items() if now == "reverted"} == {"c-own", "c-mine"}
    assert status["c-void"] == "rejected"
    texts = await values(pool, "knowledge_versions", "content", "scope_user")
    assert texts[GONE] in {None, GONE}
    assert {"text of left", "text of both", "text of other", "text of own"} <= texts.keys()
    assert "text of mine" not in texts


async def test_no_row_of_another_change_person_or_tenant_is_touched(
    pool: Pool, erasing: PostgresErasing
) -> None:
    ids = ("c-own", "c-left", "c-both", "c-lee", "c-other", "c-table", "c-foreign")
    said = {"c-foreign": "u", "c-own": "f", "c-left": "f", "c-both": "f"}
    tenants = {"c-foreign": "u"}
    rows: list[Row] = []
    for one in ids:
        tenant = tenants.get(one, "t")
        whose = {"tenant_id": tenant, "change_id": one}
        rows += [
            ("decisions", whose | {"reason": "why", "decided_by": "lee"}),
            ("history", whose | {"id": f"h-{one}", "status": "applied", "feedback_content": "words",
                                 "knowledge_name": "name", "new_content": "text", "error": "err"}),
            ("history", whose | {"id": f"p-{one}", "status": "failed", "feedback_content": "words",
                                 "knowledge_name": "name", "previous_content": "was"}),
            ("run_events", whose | {"name": "change.applied", "data": {}}),
            ("run_events", whose | {"name": "change.erased", "data": {}}),
            ("change_messages", whose | {"said": {}}),
            ("cases", whose | {"id": f"k-{one}", "role": "proof", "origin": "derived",
                               "status": "green", "made_by": "lee"}),
            ("deliveries", whose | {
                "id": f"d-{one}", "feedback_id": said.get(one), "error": "err",
                "payload": {"data": {"kind": "MEMORY", "text": "words"},
                            "state": {"change": {"target_name": "n", "held": [], "id": one}}}}),
            ("delivery_attempts", whose | {"delivery_id": f"d-{one}", "error": "err"}),
        ]  # fmt: skip
        rows[-1][1].pop("change_id")
    await put_all(pool, *WORLD, *rows)
    done = await erasing.erase("kim", "t", "root", dry_run=False)
    own = {"c-own", "c-left", "c-both"}
    assert done.history == 6
    assert await erased(pool, "decisions", "change_id", "reason") == own
    assert await erased(pool, "history", "change_id", "feedback_content") == own
    assert await erased(pool, "history", "id", "error") == {f"h-{one}" for one in own}
    assert await erased(pool, "history", "change_id", "knowledge_name") == {"c-own"}
    assert await erased(pool, "history", "id", "new_content") == {"h-c-own"}
    assert await erased(pool, "history", "id", "previous_content") == {"p-c-own"}
    assert (await values(pool, "change_messages", "change_id", "said")).keys() == {*ids} - own
    assert (await values(pool, "cases", "change_id", "id")).keys() == {*ids} - own
    assert await erased(pool, "deliveries", "change_id", "error") == own
    assert await erased(pool, "delivery_attempts", "delivery_id", "error") == {
        f"d-{one}" for one in own
    }
    payloads = await values(pool, "deliveries", "change_id", "payload")
    for one in ids:
        payload = payloads[one]
        assert isinstance(payload, dict)
        whole = {"kind": "MEMORY", "text": "words"}
        assert payload["data"] == ({"kind": "MEMORY"} if one in own else whole)
        left = {"id": one} if one in own else {"id": one, "target_name": "n", "held": []}
        assert payload["state"] == {"change": left}
    async with connection(pool) as conn:
        events = await (await conn.execute(b"SELECT name, change_id FROM run_events")).fetchall()
    applied = {row["change_id"] for row in events if row["name"] == "change.applied"}
    assert applied == {*ids} - own
    told = [row["change_id"] for row in events if row["name"] == "change.erased"]
    assert sorted(told) == sorted([*ids, *own])


async def test_their_name_goes_wherever_it_stands_in_the_tenant(
    pool: Pool, erasing: PostgresErasing
) -> None:
    named: list[tuple[str, str, dict[str, object]]] = [
        ("decisions", "decided_by", {"change_id": "c-other"}),
        ("calls", "caller", {"via": "api", "token_id": "tok"}),
        ("proposals", "decided_by", {"kind": "MEMORY", "action": "archive", "status": "accepted"}),
        ("run_tags", "tagged_by", {"feedback_id": "g"}),
        ("run_forks", "forked_by", {"feedback_id": "g"}),
        ("cases", "made_by", {"role": "proof", "origin": "person", "status": "green"}),
    ]
    rows: list[Row] = []
    for table, column, more in named:
        for tenant, name in (("t", "kim"), ("t", "lee"), ("u", "kim")):
            row = {**more, column: name, "tenant_id": tenant}
            if table in {"run_tags", "run_forks"}:
                row["run"] = f"{tenant} {name}"
            rows.append((table, row))
    for tenant, name in (("t", "kim"), ("t", "lee"), ("u", "kim")):
        row = {"tenant_id": tenant, "name": "change.approved", "data": {"by": name},
               "state": {"change": {"decided_by": name}}}  # fmt: skip
        rows.append(("run_events", row))
        payload = {"data": {"by": name}, "state": {"change": {"decided_by": name, "id": "c"}}}
        rows.append(("deliveries", {"tenant_id": tenant, "payload": payload}))
    rows.append(("erasures", {"tenant_id": "v", "author_digest": "another"}))
    await put_all(pool, feedback("g", "lee"), *rows)
    assert await erasing.tenants("kim", None) == ["t", "u"]
    done = await erasing.erase("kim", "t", "root", dry_run=False)
    assert done.names == len(named) + 2
    for table, column, _ in named:
        async with connection(pool) as conn:
            query = sql.SQL("SELECT tenant_id || ' ' || {} AS who FROM {}").format(
                sql.Identifier(column), sql.Identifier(table)
            )
            found = sorted(row["who"] for row in await (await conn.execute(query)).fetchall())
        assert found == sorted([f"t {GONE}", "t lee", "u kim"]), table
    async with connection(pool) as conn:
        events = await (await conn.execute(b"SELECT * FROM run_events")).fetchall()
        sent = await (await conn.execute(b"SELECT * FROM deliveries")).fetchall()
    by = sorted((one["tenant_id"], one["data"]["by"]) for one in events)
    assert by == [("t", GONE), ("t", "lee"), ("u", "kim")]
    deciders = sorted((one["tenant_id"], one["state"]["change"]["decided_by"]) for one in events)
    assert deciders == by
    left = [one["payload"] for one in sent if one["tenant_id"] == "t"]
    assert {"data": {}, "state": {"change": {"id": "c"}}} in left
    assert {"data": {"by": "lee"}, "state": {"change": {"decided_by": "lee", "id": "c"}}} in left
    assert await erasing.tenants("kim", None) == ["t", "u"]  # t by what was erased there


async def test_what_is_kept_of_gone_items_goes_with_them(
    pool: Pool, erasing: PostgresErasing
) -> None:
    items = [
        ("t", "MEMORY", "own"), ("t", "MEMORY", "mine"), ("t", "MEMORY", "left"),
        ("t", "MEMORY", "both"), ("t", "DMN_RULE", "own"), ("u", "MEMORY", "own"),
    ]  # fmt: skip
    rows: list[Row] = []
    for number, (tenant, kind, item_id) in enumerate(items, 1):
        whose = {"tenant_id": tenant, "kind": kind, "item_id": item_id}
        rows += [
            ("uses", whose | {"way": "shown"}),
            ("search_documents", whose),
            ("cases", whose | {"role": "proof", "origin": "person", "status": "green"}),
            ("outcomes", {"id": number, "tenant_id": tenant, "note": f"by {item_id}"}),
            ("outcome_items", {"tenant_id": tenant, "item_id": item_id, "outcome_id": number}),
        ]
    rows += [
        ("outcomes", {"id": 20, "tenant_id": "t", "note": "kim asked for it"}),
        ("outcomes", {"id": 21, "tenant_id": "t", "note": "lee asked for it"}),
        ("outcomes", {"id": 22, "tenant_id": "u", "note": "kim asked for it"}),
        ("outcome_items", {"tenant_id": "t", "item_id": "other", "outcome_id": 21}),
    ]
    await put_all(pool, *WORLD, *rows)
    await erasing.erase("kim", "t", "root", dry_run=False)
    stay = {("t", "MEMORY", "both"), ("t", "DMN_RULE", "own"), ("u", "MEMORY", "own")}
    stay.add(("t", "MEMORY", "left"))
    for table in ("uses", "search_documents", "cases"):
        async with connection(pool) as conn:
            query = sql.SQL("SELECT tenant_id, kind, item_id FROM {}").format(sql.Identifier(table))
            found = await (await conn.execute(query)).fetchall()
        assert {(row["tenant_id"], row["kind"], row["item_id"]) for row in found} == stay, table
    notes = await values(pool, "outcomes", "id", "note")
    # The words of an agent name what it used by its id alone, of whatever kind.
    assert {one for one, note in notes.items() if note == GONE} == {"1", "2", "3", "4", "5", "20"}
    assert (notes["6"], notes["21"], notes["22"]) == (
        "by own",
        "lee asked for it",
        "kim asked for it",
    )


async def test_what_was_kept_of_the_words_of_a_piece_goes(
    pool: Pool, erasing: PostgresErasing
) -> None:
    receipt = {"status": "applied", "message": "m", "change_id": "c", "kind": "MEMORY", "hint": "h"}
    verdict = {"status": "learnt", "reason": "why", "receipts": [receipt]}
    answer: dict[str, object] = {"owner": "o", "tenant_id": "t"}
    rows: list[Row] = []
    for one, tenant in (("say-f", "t"), ("say-g", "t"), ("say-u", "u")):
        whose = {"tenant_id": tenant, "feedback_id": one}
        rows += [
            ("candidates", whose | {"id": f"k-{one}", "content": "words", "verdict": verdict}),
            ("echoes", whose | {"units": [["a"]]}),
            ("echoes", whose | {"kind": "plain"}),
            ("lesson_evidence", whose | {"id": f"e-{one}", "kind": "rejected"}),
            (
                "idempotent_answers",
                answer | {"tenant_id": tenant, "key": one, "body": f'["{one}"]'},
            ),
        ]
    rows.append(("idempotent_answers", answer | {"key": "c", "body": '"the-change"'}))
    world = [
        feedback("say-f"), feedback("say-g", "lee"), feedback("say-u", tenant_id="u"),
        change("the-change", "left", "say-f"), item("left"),
    ]  # fmt: skip
    await put_all(pool, *world, *rows)
    await erasing.erase("kim", "t", "root", dry_run=False)
    assert await erased(pool, "candidates", "id", "content") == {"k-say-f"}
    verdicts = await values(pool, "candidates", "id", "verdict")
    assert verdicts["k-say-g"] == verdict
    assert verdicts["k-say-f"] == {"status": "learnt", "reason": GONE, "receipts": [
        {"status": "applied", "message": GONE, "change_id": "c", "kind": "MEMORY"}]}  # fmt: skip
    async with connection(pool) as conn:
        echoes = await (await conn.execute(b"SELECT feedback_id, kind FROM echoes")).fetchall()
    assert sorted((row["feedback_id"], row["kind"]) for row in echoes) == [
        ("say-f", "plain"), ("say-g", "plain"), ("say-g", "x"), ("say-u", "plain"), ("say-u", "x"),
    ]  # fmt: skip
    assert (await values(pool, "lesson_evidence", "id", "key")).keys() == {"e-say-g", "e-say-u"}
    assert (await values(pool, "idempotent_answers", "key", "body")).keys() == {"say-g", "say-u"}
