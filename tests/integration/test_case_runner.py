"""Cases run on what would be known after a change, by the searches of agents, over PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.adapters.embedded.local_pods import LocalPods
from core.adapters.embedded.sandbox import PlainProcess
from core.adapters.postgres.case_runner import PostgresCaseRunner
from core.adapters.postgres.queries import connection
from core.adapters.postgres.search import SearchIndex
from core.app.bootstrap.stores import utc_now
from core.changes.cases.running import WithScripts
from core.decision_table import read_xml
from core.domain.errors import Stale
from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, FileRef, Kind, Operation, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseRole, CaseStatus, Check
from core.knowledge.context.selection import ask_task, ask_tasks
from core.knowledge.search.ranking import ask, ask_all
from tests.support.api import Api, opened_api
from tests.support.learning import Teacher
from tests.support.sandboxes import bubblewrap

REFUND = "Refunds of damaged parcels are paid within 3 days by Ms. Kim of the harbour office."
ASKS_REFUND = "who pays for damaged parcels"


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, review_policy="auto") as opened:
        yield opened


@pytest.fixture
def teacher(api: Api) -> Teacher:
    return Teacher(api.app)


@pytest.fixture
def runner(api: Api) -> PostgresCaseRunner:
    return PostgresCaseRunner(api.app.stores.pool, utc_now)


def case(
    item: str, check: Check, text: str = "", *, kind: Kind = Kind.MEMORY, **more: object
) -> Case:
    known = {"id", "change_id", "status"} & more.keys()
    body = {key: value for key, value in more.items() if key not in known}
    return Case.model_validate(
        {
            "id": f"{item} {check} {text}",
            "tenant_id": "t",
            "agent_id": "a",
            "kind": kind,
            "item_id": item,
            "role": CaseRole.REGRESSION,
            "origin": CaseOrigin.DERIVED,
            "body": CaseBody.model_validate({"check": check, "text": text, **body}),
            **{key: more[key] for key in known},
        }
    )


def change(
    after: str | None, *, before: str | None = None, item: str = "new", kind: Kind = Kind.MEMORY
) -> Change:
    was = None if before is None else Snapshot(content=before, name=item)
    return Change(
        id="c1",
        key="k",
        digest="d",
        tenant_id="t",
        agent_id="a",
        kind=kind,
        target_id=item,
        target_name=item,
        operation=Operation.UPDATE if before else Operation.CREATE,
        before=was,
        after=None if after is None else Snapshot(content=after, name=after[:40]),
        base_hash=state_hash(was),
        status=ChangeStatus.PREPARED,
    )


async def ended(runner: PostgresCaseRunner, made: Change, *cases: Case) -> list[tuple[object, ...]]:
    found = await runner.before_and_after(made, {}, cases)
    return [(before, one.passed) for before, one in found]


async def test_a_new_memory_is_found_only_in_the_state_that_would_be(
    runner: PostgresCaseRunner,
) -> None:
    made = change(REFUND)
    asked = case("new", Check.RECALL, ASKS_REFUND, change_id="c1")
    assert await ended(runner, made, asked) == [(False, True)]
    (still,) = await runner.now([asked])
    assert still.passed is False


async def test_of_what_a_trial_writes_nothing_stays(
    runner: PostgresCaseRunner, api: Api, teacher: Teacher
) -> None:
    known = await teacher.memory(REFUND)
    made = change("Nobody pays anything.", before=REFUND, item=str(known.target_id))
    for _ in range(2):
        await ended(runner, made, case(str(known.target_id), Check.UNSAID, "3 days"))
    item = await api.app.stores.knowledge.get(Kind.MEMORY, "t", str(known.target_id))
    assert item is not None
    assert item.content == REFUND
    hits = await api.app.stores.search.search(
        "nobody anything", tenant_id="t", agent_id="a", kind=None, limit=5
    )
    assert not hits


async def test_a_memory_that_hides_another_breaks_its_question(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    known = str((await teacher.memory(REFUND)).target_id)
    for place in ["Busan", "Ulsan", "Jeju", "Mokpo"]:
        await teacher.memory(f"{place}: who pays for damaged parcels.")
    older = case(known, Check.RECALL, ASKS_REFUND, status=CaseStatus.GREEN)
    harmless = change("The canteen opens at noon.")
    assert await ended(runner, harmless, older) == [(None, True)]
    hiding = change("Who pays for damaged parcels: damaged parcels are what nobody pays for.")
    assert await ended(runner, hiding, older) == [(True, False)]
    ((_, told),) = await runner.before_and_after(hiding, {}, [older])
    assert "does not bring it up" in told.why


async def test_an_old_value_must_no_longer_be_said(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    known = str((await teacher.memory(REFUND)).target_id)
    unsaid = case(known, Check.UNSAID, "3 days", change_id="c1")
    for text, passes in (("within 5 days", True), ("within 13 days", True), ("in 3  Days", False)):
        made = change(f"Refunds are paid {text}.", before=REFUND, item=known)
        assert await ended(runner, made, unsaid) == [(False, passes)]


async def test_a_target_that_moved_on_is_stale(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    known = str((await teacher.memory(REFUND)).target_id)
    made = change("Refunds take a week.", before="another text", item=known)
    with pytest.raises(Stale):
        await ended(runner, made, case(known, Check.UNSAID, "3 days"))


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ({"outputs": {"approver": "manager"}}, True),
        ({"outputs": "manager"}, True),
        ({"outputs": {"approver": "clerk"}}, False),
        ({"must": ["2"]}, True),
        ({"must_not": ["2"]}, False),
        ({}, False),
    ],
)
async def test_a_table_is_asked_for_outputs_and_rows(
    runner: PostgresCaseRunner,
    api: Api,
    teacher: Teacher,
    given: dict[str, JsonValue],
    passes: bool,
) -> None:
    known = str((await teacher.rule(("< 100", "clerk"), (">= 100", "manager"))).target_id)
    item = await api.app.stores.knowledge.get(Kind.DMN_RULE, "t", known)
    assert item is not None
    rows = [row.id for row in read_xml(item.content).rows]
    body = {key: [rows[1]] if isinstance(value, list) else value for key, value in given.items()}
    asked = case(known, Check.DECISION, kind=Kind.DMN_RULE, inputs={"amount": 150}, **body)
    (one,) = await runner.now([asked])
    assert one.passed is passes, one.why


SCRIPT = b"import sys\nprint(sys.stdin.read().upper())\n"


async def test_a_script_is_run_on_what_the_skill_would_be(api: Api, teacher: Teacher) -> None:
    bubblewrap()
    await teacher.skill("shout", "# Shout\n\nRun scripts/shout.py.\n", {"scripts/shout.py": SCRIPT})
    given = {"kind": Kind.SKILL, "input": "hi", "output": "HI\n"}
    asked = case("shout", Check.SCRIPT, "scripts/shout.py", **given)  # type: ignore[arg-type]
    missing = case("shout", Check.SCRIPT, "scripts/gone.py", kind=Kind.SKILL)
    runner = api.app.stores.case_runner
    first, second = await runner.now([asked, missing])
    assert first.passed, first.why
    assert second.passed is False
    item = await api.app.stores.knowledge.get(Kind.SKILL, "t", "shout")
    assert item is not None
    quiet = b"print('hi')\n"
    ref = FileRef(sha256=sha256(quiet).hexdigest(), size=len(quiet))
    made = change(item.content, before=item.content, item="shout", kind=Kind.SKILL)
    assert made.after is not None
    after = made.after.model_copy(update={"files": {"scripts/shout.py": ref}})
    edited = made.model_copy(update={"after": after})
    ((before, one),) = await runner.before_and_after(edited, {ref.sha256: quiet}, [asked])
    assert (before, one.passed) == (True, False)
    assert "wrote 'hi'" in one.why


async def test_a_script_without_a_sandbox_has_no_result(api: Api, teacher: Teacher) -> None:
    await teacher.skill("shout", "# Shout\n\nRun scripts/shout.py.\n", {"scripts/shout.py": SCRIPT})
    stores = api.app.stores
    pods = LocalPods(PlainProcess("a test says so"))
    walless = WithScripts(PostgresCaseRunner(stores.pool, utc_now), stores.skills, pods)
    (one,) = await walless.now([case("shout", Check.SCRIPT, "scripts/shout.py", kind=Kind.SKILL)])
    assert one.passed is None
    assert "sandbox" in one.why


async def test_a_skill_is_chosen_among_those_on_the_list(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    await teacher.skill("money-back", "# Refunds\n\nReconcile partial refunds of parcels.\n")
    older = case(
        "money-back",
        Check.CHOSEN,
        "reconcile a partial refund of parcels",
        kind=Kind.SKILL,
        status=CaseStatus.GREEN,
    )
    (now,) = await runner.now([older])
    assert now.passed, now.why
    text = "---\nname: {}\ndescription: {}\n---\n# X\n\n{}\n"
    hiding = text.format("other", "reconcile a partial refund of parcels", "partial refund parcels")
    made = change(hiding, item="other", kind=Kind.SKILL)
    assert await ended(runner, made, older) == [(True, False)]
    aside = change(text.format("canteen", "The menu.", "Lunch."), item="canteen", kind=Kind.SKILL)
    assert await ended(runner, aside, older) == [(None, True)]


async def test_a_skill_is_no_longer_chosen_by_the_words_it_loses(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    await teacher.skill("money-back", "# Refunds\n\nReconcile partial refunds of parcels.\n")
    older = case(
        "money-back",
        Check.CHOSEN,
        "reconcile a partial refund of parcels",
        kind=Kind.SKILL,
        status=CaseStatus.GREEN,
    )
    lunch = "---\nname: money-back\ndescription: The menu.\n---\n# X\n\nLunch.\n"
    made = change(lunch, before="as it was", item="money-back", kind=Kind.SKILL)
    assert await ended(runner, made, older) == [(True, False)]


async def test_a_skill_that_names_others_comes_later_though_it_has_more_words(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    await teacher.skill(
        "money-back",
        "# Refunds\n\nReconcile a partial refund of parcels for Keller and the Derby.\n",
    )
    asked = "reconcile a partial refund of parcels"
    older = case("money-back", Check.CHOSEN, asked, kind=Kind.SKILL, status=CaseStatus.GREEN)
    text = "---\nname: general\ndescription: Reconcile what is a partial refund.\n---\n"
    made = change(f"{text}{'Count the boxes again. ' * 9}", item="general", kind=Kind.SKILL)
    assert await ended(runner, made, older) == [(True, False)]


async def test_a_section_must_say_what_it_said(
    runner: PostgresCaseRunner, teacher: Teacher
) -> None:
    await teacher.skill(
        "pack", "# Pack\n\n## Steps\n\n1. **Weigh** the parcel.\n\n## Notes\n\nNone.\n"
    )
    named = {"kind": Kind.SKILL, "section": "Steps"}
    asked = [
        case("pack", Check.STANDS, "weigh the parcel", **named),  # type: ignore[arg-type]
        case("pack", Check.STANDS, "weigh the parcel", kind=Kind.SKILL, section="Notes"),
        case("pack", Check.WITHDRAWN, "weigh the parcel", **named),  # type: ignore[arg-type]
        case("pack", Check.STANDS, "weigh the parcel", kind=Kind.SKILL, section="Nowhere"),
    ]
    assert [one.passed for one in await runner.now(asked)] == [True, False, False, False]


async def test_questions_weighed_together_weigh_as_alone(api: Api, teacher: Teacher) -> None:
    await teacher.memory(REFUND)
    await teacher.memory("환불 승인은 100만 원부터 김 부장이 한다.")
    texts = [ASKS_REFUND, "환불은 누가 승인하나요", "refnuds of parcels", "", "harbour-office"]
    async with connection(api.app.stores.pool) as conn:
        index = SearchIndex(conn, "t")
        assert await ask_all(texts, index) == [await ask(text, index) for text in texts]
        first, *others = texts
        assert (await ask_all(texts, index, rough=others))[0] == await ask(first, index)
        assert await ask_tasks(texts, index) == [await ask_task(text, index) for text in texts]
