"""How a request becomes a change, how a change becomes a request again, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.changes.gate import drafts, records
from core.changes.three_way_merge import Clash, State, rebased
from core.domain.errors import InvalidInput, Refused, Repeated, Stale
from core.domain.hashing import ABSENT, state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeStatus,
    Edited,
    Fence,
    Kind,
    KindRequest,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    Prepared,
    Reach,
    Relationship,
    RestoreRequest,
    RuleRequest,
    Scope,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.cases import Case, CaseBody, CasesTried
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.requests import Lister
from core.domain.ports import ChangeLog
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.support.react import item_change
from tests.support.seeding import AT

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
CONTEXT = SubmitContext(
    key="k", tenant_id="t", agent_id="a", feedback_id="f", feedback_content="said",
    candidate_content="of it", fence=Fence(candidate_id="c", epoch=3), said_at=AT, heard_at=AT,
    author="kim", source="slack", roles=frozenset({"lead"}),
)  # fmt: skip


def memory(operation: Operation = UPDATE, **given: object) -> MemoryRequest:
    known = {"operation": operation, "target_id": "m", "content": "x", "reason": "why"}
    return MemoryRequest.model_validate(known | given)


PAY = SkillRequest(operation=UPDATE, target_id="pay", reason="r")


def drafted(request: object, context: SubmitContext = CONTEXT) -> Change:
    return drafts.draft(request, context, digest="d", attempt=2, change_id="c1")  # type: ignore[arg-type]


def test_a_draft_has_what_is_known_before_it_is_prepared() -> None:
    made = drafted(memory())
    assert (made.id, made.key, made.digest, made.attempt) == ("c1", "k", "d", 2)
    assert (made.tenant_id, made.agent_id, made.kind) == ("t", "a", Kind.MEMORY)
    assert (made.target_id, made.target_name, made.operation) == ("m", "m", UPDATE)
    assert (made.before, made.after, made.base_hash) == (None, None, ABSENT)
    assert (made.status, made.reason, made.origin) == (ChangeStatus.PREPARED, "why", Origin.AGENT)
    assert (made.feedback_id, made.feedback_content, made.candidate_content) == (
        "f",
        "said",
        "of it",
    )
    assert (made.candidate_id, made.epoch, made.said_at, made.heard_at) == ("c", 3, AT, AT)
    assert made.asker is not None
    assert (made.asker.author, made.asker.source) == ("kim", "slack")
    assert made.request == memory()
    alone = drafted(
        memory(target_id=None), CONTEXT.model_copy(update={"fence": None, "source": None})
    )
    assert (alone.target_id, alone.candidate_id, alone.epoch, alone.asker) == ("", None, None, None)
    assert drafted(memory(is_import=True)).origin is Origin.IMPORT
    listed = drafted(SkillListRequest(skill_ids=("pay",)))
    assert (listed.kind, listed.target_id) == (Kind.AGENT_SKILLS, "a")


@pytest.mark.parametrize(
    ("request_", "relationship"),
    [
        (memory(), "SUPERSEDES"),
        (memory(part="some words"), None),
        (memory(part="some words", merge_mode="REPLACE"), "SUPERSEDES"),
        (memory(merge_mode="EXTEND"), None),
        (memory(merge_mode="REPLACE"), "SUPERSEDES"),
        (memory(relationship="CONFLICTS"), "CONFLICTS"),
        (memory(CREATE), None),
        (memory(DELETE), None),
        (PAY, None),
        (PAY.model_copy(update={"merge_mode": MergeMode.REPLACE}), "SUPERSEDES"),
    ],
)  # fmt: skip
def test_what_replaces_a_whole_supersedes_it(request_: object, relationship: str | None) -> None:
    assert drafted(request_).relationship == relationship


def test_files_of_a_request_are_stored_with_its_state_alone() -> None:
    files = {SKILL_MD: SkillFile(data=b"x")}
    asked = SkillRequest(operation=CREATE, folder=files, reason="r")
    assert drafted(asked).request == asked.model_copy(update={"folder": {}})
    bare = SkillRequest(operation=CREATE, reason="r")
    assert drafted(bare).request == bare


STATE, OTHER = Snapshot(content="x", name="n"), Snapshot(content="y", name="n")


def prepared(kind: Kind = Kind.MEMORY, **given: object) -> Prepared:
    known: dict[str, object] = {
        "kind": kind, "target_id": "m2", "target_name": "named", "operation": UPDATE,
        "before": STATE, "after": OTHER, "base_hash": "h", "warnings": ("w",), "seen": 7,
        "reverts": "r", "retracts": ("c0",),
    }  # fmt: skip
    return Prepared.model_validate(known | given)


def test_a_draft_is_filled_with_what_was_prepared() -> None:
    made = drafts.filled(drafted(memory()), prepared())
    assert (made.target_id, made.target_name, made.base_hash) == ("m2", "named", "h")
    assert (made.before, made.after, made.warnings, made.seen) == (STATE, OTHER, ("w",), 7)
    assert (made.reverts, made.retracts, made.reason) == ("r", ("c0",), "why")
    other = drafts.filled(drafted(memory()), prepared(after=STATE))
    assert made.content_hash
    assert made.content_hash != other.content_hash


def test_a_deletion_of_what_others_list_says_so() -> None:
    asked = SkillRequest(operation=DELETE, target_id="pay", reason="unused")
    listed = prepared(Kind.AGENT_SKILLS, listed_by=(Lister(id="b", name="b"),))
    made = drafts.filled(drafted(asked), listed)
    assert (made.kind, made.listed_by) == (Kind.AGENT_SKILLS, (Lister(id="b", name="b"),))
    assert "unused" in made.reason
    assert "pay" in made.reason
    assert "b" in made.reason
    whole = drafts.filled(drafted(asked), prepared(Kind.SKILL))
    assert whole.reason == "unused"


@pytest.mark.parametrize(
    ("request_", "feedback_id", "is_all"),
    [
        (memory(CREATE), "f", True), (memory(merge_mode="REPLACE"), "f", True),
        (memory(merge_mode="EXTEND"), "f", False), (memory(), "f", False),
        (memory(CREATE), None, False), (None, "f", False),
    ],
)  # fmt: skip
def test_feedback_says_all_of_what_it_creates_or_replaces(
    request_: MemoryRequest | None, feedback_id: str | None, is_all: bool
) -> None:
    given = {"request": request_, "feedback_id": feedback_id}
    assert (
        drafts.says_all(item_change(Kind.MEMORY, "m", "m", "x").model_copy(update=given)) is is_all
    )


def test_a_change_prepared_again_is_undecided_and_keeps_its_cases() -> None:
    case = CaseBody.model_validate({"check": "recall", "text": "who?"})
    known = drafted(memory(cases=(case,))).model_copy(
        update={"status": ChangeStatus.STALE, "decision": "no", "decided_by": "kim",
                "decided_at": AT, "error": "x", "relationship": Relationship.EXTENDS}
    )  # fmt: skip
    made = drafts.again(known, memory(content="new"), prepared())
    assert (made.status, made.decision) == (ChangeStatus.HELD, "")
    assert (made.decided_by, made.decided_at, made.error) == (None, None, None)
    assert (made.relationship, made.after) == (Relationship.EXTENDS, OTHER)
    assert made.request is not None
    assert made.request.cases == (case,)
    another = CaseBody.model_validate({"check": "recall", "text": "what?"})
    own = drafts.again(known, memory(cases=(another,)), prepared())
    assert own.request is not None
    assert own.request.cases == (another,)


def test_the_context_of_a_change_is_that_of_its_request() -> None:
    found = drafts.context_of(drafted(memory()))
    same = {"fence": None, "author": None, "source": None, "roles": frozenset()}
    assert found == CONTEXT.model_copy(update=same)
    repeated = drafts.behind(CONTEXT, Repeated("near", item_id="n"))
    assert repeated.unjudged == {"n"}
    assert drafts.behind(repeated, Repeated("near", item_id="o")).unjudged == {"n", "o"}
    assert drafts.behind(CONTEXT, Stale("moved")) == CONTEXT


@pytest.mark.parametrize(("of", "inverse"), [(CREATE, DELETE), (DELETE, CREATE), (UPDATE, UPDATE)])
def test_a_revert_asks_for_what_stood_before(of: Operation, inverse: Operation) -> None:
    change = item_change(Kind.MEMORY, "m", "n", "x").model_copy(
        update={"operation": of, "before": OTHER, "feedback_id": "f", "feedback_content": "said"}
    )
    asked = drafts.revert_of(change, "wrong")
    assert (asked.operation, asked.target_kind, asked.target_id) == (inverse, Kind.MEMORY, "m")
    assert (asked.state, asked.expected_hash) == (OTHER, state_hash(change.after))
    assert (asked.reverts, asked.reason) == (change.id, "wrong")
    context = drafts.revert_context(change)
    assert (context.key, context.origin) == (f"revert:{change.id}", Origin.PERSON)
    assert (context.tenant_id, context.agent_id) == (change.tenant_id, change.agent_id)
    assert (context.feedback_id, context.feedback_content) == ("f", "said")
    made = drafts.restored(asked, change.after, {"h": b"x"})
    assert (made.before, made.after, made.target_name) == (change.after, OTHER, "n")
    assert (made.kind, made.target_id, made.operation) == (Kind.MEMORY, "m", inverse)
    assert (made.base_hash, made.blobs, made.reverts) == (
        asked.expected_hash,
        {"h": b"x"},
        change.id,
    )
    gone = asked.model_copy(update={"state": None, "retracts": ("c",)})
    assert drafts.restored(gone, change.after, {}).target_name == "n"
    assert drafts.restored(gone, change.after, {}).retracts == ("c",)
    assert drafts.restored(gone, None, {}).target_name == "m"


def test_a_failed_attempt_is_on_record_without_content() -> None:
    change = item_change(Kind.MEMORY, "", "", "x")
    made = drafts.without_content(change, STATE)
    assert made.target_id == made.target_name == f"unnamed-{change.id}"
    assert made.before == STATE
    named = drafts.without_content(item_change(Kind.MEMORY, "m", "n", "x"), None)
    assert (named.target_id, named.target_name, named.before) == ("m", "m", None)


@pytest.fixture
def log() -> ChangeLog:
    return MemoryChangeLog(MemoryKnowledge())


def held(kind: Kind, content: str = "x", **given: object) -> Change:
    made = item_change(kind, "m", "n", content)
    return made.model_copy(update={"operation": UPDATE, "reason": "why", **given})


USER = Reach(scope=Scope.USER, user="kim", valid_until=AT)


async def test_what_a_person_edited_is_asked_for_whole(log: ChangeLog) -> None:
    reached = Snapshot(content="x", name="n", reach=USER)
    asked = await drafts.edit_request(held(Kind.MEMORY, after=reached), Edited(content="new"), log)
    assert isinstance(asked, MemoryRequest)
    assert (asked.content, asked.merge_mode, asked.is_import) == ("new", MergeMode.REPLACE, True)
    assert (asked.operation, asked.target_id, asked.reason) == (UPDATE, "m", "why")
    assert (asked.scope, asked.user, asked.valid_until, asked.endless) == (
        Scope.USER,
        "kim",
        AT,
        False,
    )
    kept = await drafts.edit_request(held(Kind.MEMORY), Edited(reach=USER), log)
    assert isinstance(kept, MemoryRequest)
    assert (kept.content, kept.scope) == ("x", Scope.USER)
    endless = await drafts.edit_request(held(Kind.MEMORY), Edited(content="new"), log)
    assert isinstance(endless, MemoryRequest)
    assert endless.endless
    new = await drafts.edit_request(held(Kind.MEMORY, operation=CREATE), Edited(content="y"), log)
    assert new.merge_mode is None
    names = await drafts.edit_request(held(Kind.AGENT_SKILLS), Edited(content=" pay \n\nship"), log)
    assert isinstance(names, SkillListRequest)
    assert (names.skill_ids, names.edit, names.reason) == (("pay", "ship"), ListEdit.SET, "why")
    rule = await drafts.edit_request(held(Kind.DMN_RULE), Edited(content="<x/>"), log)
    assert isinstance(rule, RuleRequest)
    assert rule.document == "<x/>"
    files = {SKILL_MD: SkillFile(data=b"old"), "a.md": SkillFile(data=b"a")}
    skill = await drafts.edit_request(held(Kind.SKILL), Edited(files=files, content="new"), log)
    assert isinstance(skill, SkillRequest)
    assert skill.folder == {**files, SKILL_MD: SkillFile(data=b"new")}


@pytest.mark.parametrize(
    ("change", "edited", "error"),
    [
        (held(Kind.MEMORY, after=None), Edited(content="x"), Refused),
        (
            held(Kind.MEMORY, request=drafts.revert_of(held(Kind.MEMORY), "r")),
            Edited(content="x"), Refused,
        ),
        (held(Kind.MEMORY), Edited(files={}), InvalidInput),
        (held(Kind.DMN_RULE), Edited(reach=USER), InvalidInput),
        (held(Kind.MEMORY), Edited(), InvalidInput),
    ],
)  # fmt: skip
async def test_what_cannot_be_edited_is_refused(
    log: ChangeLog, change: Change, edited: Edited, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await drafts.edit_request(change, edited, log)


async def test_both_of_two_can_be_kept_where_they_are_no_table(log: ChangeLog) -> None:
    reached = Snapshot(content="x", name="n", reach=USER)
    asked = await drafts.apart_request(held(Kind.MEMORY, after=reached), log)
    assert isinstance(asked, MemoryRequest)
    assert (asked.operation, asked.relationship) == (CREATE, Relationship.UNRELATED)
    assert (asked.content, asked.user, asked.is_import) == ("x", "kim", True)
    skill = await drafts.apart_request(held(Kind.SKILL), log)
    assert isinstance(skill, SkillRequest)
    for change in (held(Kind.DMN_RULE), held(Kind.MEMORY, after=None)):
        with pytest.raises(Refused):
            await drafts.apart_request(change, log)


def told(**given: object) -> Mapping[str, object]:
    return records.event("change.applied", held(Kind.MEMORY, **given)).data


def test_an_event_tells_of_a_change_without_its_content() -> None:
    made = records.event("change.held", held(Kind.MEMORY, feedback_id="f"), because=["why"])
    assert (made.name, made.feedback_id, made.change_id) == ("change.held", "f", "made-m")
    assert made.candidate_id == held(Kind.MEMORY).candidate_id
    assert made.data == {
        "kind": "MEMORY", "operation": "UPDATE", "target_id": "m", "target_name": "n",
        "because": ["why"],
    }  # fmt: skip
    assert told(agent_id=WORKER_AGENT)["lesson"] is True
    assert told(warnings=("a", "b"))["warnings"] == 2
    wants = {"before": Snapshot(content="Ms. Kim wants KRW", name="n")}
    assert "differs" not in told(**wants)
    paid = Snapshot(content="Refunds are paid within 3 days", name="n")
    late = Snapshot(content="Refunds are paid within 9 days", name="n")
    assert told(before=paid, after=late)["differs"] is True
    assert "differs" not in told(before=paid, after=paid)
    assert "differs" not in told(before=paid, after=None)
    failed = records.event("change.failed", held(Kind.MEMORY), Message("platform.no_list"))
    assert failed.data["error"] == str(Message("platform.no_list"))


def case(case_id: str) -> Case:
    return Case.model_validate(
        {"id": case_id, "tenant_id": "t", "agent_id": "a", "kind": "MEMORY", "item_id": "m",
         "body": {"check": "recall", "text": "who?"}, "role": "proof", "origin": "model"}
    )  # fmt: skip


def test_what_becomes_of_cases_is_told_with_the_change() -> None:
    change = held(Kind.MEMORY, cases=(case("k1"), case("k2")), retires=("k2", "k3"))
    events = records.case_events(change)
    assert [(one.name, one.data["cases"]) for one in events] == [
        ("case.added", ["k1"]), ("case.retired", ["k2", "k3"]),
    ]  # fmt: skip
    assert records.case_events(held(Kind.MEMORY, tried=CasesTried(seen=()))) == []
    approved = records.approved(held(Kind.MEMORY, retires=("k1",), decision="yes"), "kim")
    assert (approved.data["by"], approved.data["retired"]) == ("kim", ["k1"])
    assert "retired" not in records.approved(held(Kind.MEMORY, retires=("k1",)), "kim").data


def test_a_refused_request_is_told_with_its_reason() -> None:
    said = Message("platform.no_list")
    made = records.refused_event(memory(target_id="mem-0123456789abcdef"), CONTEXT, Refused(said))
    assert (made.name, made.tenant_id, made.feedback_id) == ("change.refused", "t", "f")
    assert (made.candidate_id, made.data["kind"]) == ("c", "MEMORY")
    assert made.data["target_id"] == "mem-0123456789abcdef"
    assert (made.data["operation"], made.data["error"]) == ("UPDATE", str(said))
    alone = CONTEXT.model_copy(update={"fence": None})
    assert records.refused_event(memory(), alone, Refused("no")).candidate_id is None


def test_the_history_of_a_failure_keeps_what_was_to_be() -> None:
    made = records.failed(held(Kind.MEMORY), "h1", Refused("no"))
    assert (made.id, made.status, made.error, made.new_content) == ("h1", "failed", "no", "x")
    skill = records.failed(held(Kind.SKILL, "doc"), "h1", Refused("a --> b"))
    assert skill.new_content is not None
    assert skill.new_content.startswith("doc\n<!-- ")
    assert skill.new_content.count("-->") == 1
    gone = records.failed(held(Kind.MEMORY, after=None), "h1", Refused("no"))
    assert gone.new_content is None
    assert records.applied(held(Kind.MEMORY), "h2").status == "applied"
    assert records.applied(held(Kind.MEMORY, reverts="c"), "h2").status == "reverted"


def folder(text: str, runs: bool = False, **files: str | bytes) -> State:
    made = {
        f"{name}.md": SkillFile(data=data if isinstance(data, bytes) else data.encode())
        for name, data in files.items()
    }
    return State(text, "n", made, runs)


def test_an_edit_of_a_folder_is_made_on_another_state_of_it() -> None:
    before = folder("1\n2\n3\n", a="a\n", b="b\n", gone="x\n", same="s\n")
    after = folder("1\n2\n9\n", True, a="A\n", b="b\nB\n", new="n\n", same="s\n")
    onto = folder("0\n2\n3\n", a="A\n", b="0\nb\n", gone="x\n", same="S\n", other="o\n")
    made = rebased(Kind.SKILL, before, after, onto)
    assert (made.text, made.runs) == ("0\n2\n9\n", True)
    assert {path: file.data.decode() for path, file in (made.files or {}).items()} == {
        "a.md": "A\n", "b.md": "0\nb\nB\n", "new.md": "n\n", "same.md": "S\n", "other.md": "o\n",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "onto"),
    [
        (folder("", a="a\n"), folder("", a="b\n"), folder("", a="c\n")),
        (folder("", a="a\n"), folder("", a="b\n"), folder("")),
        (folder("", a=b"\xff1"), folder("", a=b"\xff2"), folder("", a=b"\xff3")),
        (folder("a\n"), folder("b\n"), folder("c\n")),
    ],
)
def test_an_edit_that_does_not_fit_clashes(before: State, after: State, onto: State) -> None:
    with pytest.raises(Clash):
        rebased(Kind.SKILL, before, after, onto)


def test_names_reach_and_lists_are_merged_each_by_itself() -> None:
    plain, named = State("a\nb", "n"), State("a\nb", "new name", reach=USER)
    there = State("a\nb\nc", "theirs", reach=Reach(scope=Scope.TENANT))
    assert rebased(Kind.MEMORY, plain, named, there) == State("a\nb\nc", "new name", reach=USER)
    assert rebased(Kind.MEMORY, plain, plain, there) == there
    listed = rebased(Kind.AGENT_SKILLS, State("a\nb", "n"), State("b\nd", "n"), State("c\na", "n"))
    assert listed.text == "c\nd"
    ended = rebased(Kind.MEMORY, State("a", "n"), State("a\nb\n", "n"), State("0\na", "n"))
    assert ended.text == "0\na\nb\n"


def test_a_kind_of_a_package_is_asked_for_by_its_kind() -> None:
    asked = KindRequest(
        target_kind=Kind.MEMORY, operation=UPDATE, target_id="m", text="x", reason="r"
    )
    assert drafts.kind_of(asked) is Kind.MEMORY
    assert drafts.kind_of(memory()) is Kind.MEMORY
    restore = drafts.revert_of(held(Kind.SKILL), "r")
    assert isinstance(restore, RestoreRequest)
    assert drafts.kind_of(restore) is Kind.SKILL
