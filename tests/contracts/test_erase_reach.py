"""What waits, stands or is beside what an erased person said: found, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.adapters.postgres.erasing import PostgresErasing
from core.adapters.postgres.queries import Pool
from core.domain.errors import Refused
from core.domain.models import RunEvent, Usage
from core.domain.models.deliveries import Route
from core.domain.ports import Routes
from core.testing.determinism import counting_ids
from tests.support.erasing_rows import ROLES, change, erased, erasing_as, feedback, values
from tests.support.seeding import Row, put_all


@pytest.fixture(params=ROLES)
async def erasing(request: pytest.FixtureRequest, database: str) -> AsyncIterator[PostgresErasing]:
    async with erasing_as(request.param, database) as opened:
        yield opened


async def test_a_skill_stands_as_long_as_it_is_found_and_a_list_always(
    pool: Pool, erasing: PostgresErasing
) -> None:
    skill = {"tenant_id": "t", "kind": "SKILL"}
    await put_all(
        pool,
        feedback("f"),
        change("c-skill", "pay", kind="SKILL"),
        change("c-no-skill", "ship", kind="SKILL"),
        change("c-list", "a", kind="AGENT_SKILLS"),
        change("c-memory", "ship"),
        ("search_documents", skill | {"item_id": "pay"}),
        ("search_documents", skill | {"item_id": "ship", "tenant_id": "u"}),
        ("search_documents", skill | {"item_id": "ship", "kind": "MEMORY"}),
    )
    planned = await erasing.erase("kim", "t", "root", dry_run=True)
    assert {one.id for one in planned.left} == {"pay", "a"}
    assert planned.items == 2


async def test_what_was_only_begun_goes_and_what_is_told_is_emptied(
    pool: Pool, erasing: PostgresErasing
) -> None:
    told = {"tenant_id": "t", "payload": {"data": {"kind": "MEMORY", "text": "words"}}}
    await put_all(
        pool,
        feedback("f"),
        feedback("g", "lee"),
        change("c-begun", "m", status="prepared"),
        change("c-lee", "n", "g", status="prepared"),
        change(
            "c-void", "o", status="rejected", after=None, request=None, proposed={"content": "x"}
        ),
        change("c-asked", "o", status="rejected", after=None),
        ("deliveries", told | {"id": "d-f", "feedback_id": "f"}),
        ("deliveries", told | {"id": "d-g", "feedback_id": "g"}),
    )
    await erasing.erase("kim", "t", "root", dry_run=False)
    proposed = await values(pool, "changes", "id", "proposed")
    assert proposed == {"c-lee": None, "c-void": None, "c-asked": None}
    requests = await values(pool, "changes", "id", "request")
    assert [one for one, request in requests.items() if request] == ["c-lee"]
    payloads = await values(pool, "deliveries", "id", "payload")
    assert payloads["d-f"] == {"data": {"kind": "MEMORY"}}
    assert payloads["d-g"] == told["payload"]


@pytest.mark.parametrize(
    ("given", "is_beside"),
    [
        ({"thread": "x"}, True),
        ({"in_reply_to": "f"}, True),
        ({"in_reply_to": "src-f"}, True),
        ({"id": "before"}, True),
        ({"source_id": "before"}, True),
        ({"thread": "x", "pruned": True}, False),
        ({"thread": "y"}, False),
        ({"thread": "x", "tenant_id": "u"}, False),
        ({"in_reply_to": "other"}, False),
    ],
)
async def test_what_others_said_in_the_same_conversation_forgets_its_runs(
    pool: Pool, erasing: PostgresErasing, given: dict[str, object], is_beside: bool
) -> None:
    other = {"feedback_id": "other", "author": "lee", **given}
    other["feedback_id"] = other.pop("id", "other")
    await put_all(pool, feedback("f", thread="x", in_reply_to="before"), feedback(**other))  # type: ignore[arg-type]
    done = await erasing.erase("kim", "t", "root", dry_run=True)
    assert done.runs_of_others == int(is_beside)


@pytest.mark.parametrize(
    ("row", "is_refused"),
    [
        (feedback("h", "lee", thread="x", status="processing"), True),
        (feedback("h", "lee", thread="x", status="queued"), True),
        (feedback("h", "lee", thread="z", status="queued"), False),
        (change("c", "m", status="applying"), True),
        (change("c", "m", "g", status="applying"), False),
        (change("c", "m"), False),
        (("procrastinate_jobs", {"status": "doing", "args": {"feedback_id": "f"}}), True),
        (("procrastinate_jobs", {"status": "doing", "args": {"feedback_id": "g"}}), False),
        (("procrastinate_jobs", {"status": "todo", "args": {"feedback_id": "f"}}), False),
    ],
)
async def test_nothing_is_erased_while_a_worker_is_at_it(
    pool: Pool, erasing: PostgresErasing, row: Row, is_refused: bool
) -> None:
    if row[0] == "procrastinate_jobs":
        row[1].update({"task_name": "x", "queue_name": "x"})
    await put_all(pool, feedback("f", thread="x"), feedback("g", "lee"), row)
    if is_refused:
        with pytest.raises(Refused):
            await erasing.erase("kim", "t", "root", dry_run=False)
    else:
        await erasing.erase("kim", "t", "root", dry_run=False)
    assert bool(await erased(pool, "feedback", "id", "content")) is not is_refused


HELD = {"status": "held", "held": ["why"]}


async def test_what_waits_is_found_with_the_lessons_that_quote_it(
    pool: Pool, erasing: PostgresErasing
) -> None:
    proposed = {"tenant_id": "t", "key": "lesson", "change_id": "c-lesson"}
    await put_all(
        pool,
        change("c-own", "a", **HELD),
        change("c-stale", "b", **{**HELD, "status": "stale"}),
        change("c-applied", "c"),
        change("c-done", "e", held=["why"]),
        change("c-not", "f", status="stale"),
        change("c-lee", "d", "g", **HELD),
        change("c-lesson", "l", None, **HELD),
        change("c-foreign", "l", None, **{**HELD, "tenant_id": "u"}),
        change("c-another", "m", None, **HELD),
        ("lesson_evidence", {"tenant_id": "t", "id": "e", "key": "lesson", "kind": "rejected",
                             "feedback_id": "f"}),
        ("lesson_evidence", {"tenant_id": "t", "id": "e2", "key": "another", "kind": "rejected",
                             "feedback_id": "g"}),
        ("lesson_proposals", proposed),
        ("lesson_proposals", proposed | {"tenant_id": "u", "change_id": "c-foreign"}),
        ("lesson_proposals", proposed | {"key": "another", "change_id": "c-another"}),
    )  # fmt: skip
    assert sorted(await erasing.held(["f"])) == ["c-lesson", "c-own", "c-stale"]
    assert await erasing.held([]) == []


async def test_a_token_of_their_name_is_told(pool: Pool, erasing: PostgresErasing) -> None:
    await put_all(
        pool,
        ("access_tokens", {"name": "kim", "kind": "session", "hash": "1"}),
        ("access_tokens", {"name": "lee", "kind": "token", "hash": "2"}),
    )
    assert await erasing.token("kim") is None
    assert await erasing.token("lee") == "lee"


async def test_what_nobody_was_told_of_is_told_when_it_is_erased_again(pool: Pool) -> None:
    whose = {"tenant_id": "t", "status": "applied", "feedback_id": "f", "feedback_content": "words"}
    sent = {"tenant_id": "t", "target": "us", "subject": "x"}
    await put_all(
        pool, feedback("f"), *(change(f"c-{one}", one) for one in ("told", "other", "never")),
        *(("history", whose | {"change_id": f"c-{one}"}) for one in ("told", "other")),
    )  # fmt: skip
    events: list[tuple[str, str | None]] = []
    ids = counting_ids("erasure")

    def erasing_with(routes: Routes) -> PostgresErasing:
        def note(event: RunEvent, _: Usage) -> None:
            events.append((event.name, event.change_id))

        return PostgresErasing(pool, ids, note, routes)

    await erasing_with(lambda _: ()).erase("kim", "t", "root", dry_run=False)
    assert sorted(events) == [("change.erased", "c-other"), ("change.erased", "c-told")]
    await put_all(
        pool, ("deliveries", sent | {"event": "change.erased", "change_id": "c-told"}),
        ("deliveries", sent | {"event": "change.applied", "change_id": "c-other"}),
    )  # fmt: skip
    events.clear()
    await erasing_with(lambda _: ()).erase("kim", "t", "root", dry_run=False)
    assert events == []
    route = Route("us", "change.erased", "x")
    await erasing_with(lambda _: (route,)).erase("kim", "t", "root", dry_run=False)
    assert events == [("change.erased", "c-other")]


async def test_files_that_nothing_else_has_go(pool: Pool, erasing: PostgresErasing) -> None:
    def files(*names: str) -> dict[str, object]:
        return {"content": "x", "files": {name: {"sha256": name} for name in names}}

    def history(change_id: str, column: str, name: str) -> Row:
        row = {"tenant_id": "t", "change_id": change_id, "status": "applied"}
        return "history", row | {column: {name: {"sha256": name}}}

    hashes = ("own", "before", "proposed", "of-lee", "was-lee", "may-lee", "told", "old", "pub")
    own = files(*hashes[3:], "own")
    await put_all(
        pool,
        feedback("f"),
        change("c", "own", after=own, before=files("before"), proposed=files("proposed")),
        change("l1", "m", "g", after=files("of-lee"), before=files("was-lee")),
        change("l2", "n", "g", proposed=files("may-lee"), request={"published": files("pub")}),
        history("l1", "new_files", "told"),
        history("l2", "previous_files", "old"),
        *(("blobs", {"sha256": one, "tenant_id": "t"}) for one in hashes),
        ("blobs", {"sha256": "never-ours", "tenant_id": "t"}),
        ("blobs", {"sha256": "own", "tenant_id": "u"}),
        change("l3", "o", "h", tenant_id="u", after=files("own", "before")),
    )
    await erasing.erase("kim", "t", "root", dry_run=False)
    left = await values(pool, "blobs", "sha256", "tenant_id")
    assert left == dict.fromkeys([*hashes[3:], "never-ours"], "t") | {"own": "u"}
