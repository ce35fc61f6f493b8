"""Which cases can be run, when two ask the same, and what a change corrects by its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue

from core.changes.cases.judging import Corrections
from core.changes.cases.proposed import (
    MOST,
    MOST_CHARS,
    asks,
    can_prove,
    expects,
    own_cases,
    pattern_in,
    problem_in,
    refuse_unfit,
)
from core.decision_table import to_xml
from core.domain.errors import Refused
from core.domain.models import (
    Change,
    DecisionRow,
    DecisionTable,
    InputColumn,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    OutputColumn,
    RestoreRequest,
    RowEdit,
    RuleDraft,
    RuleRequest,
    Snapshot,
)
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseRole
from tests.support.react import item_change


def body(check: str = "recall", text: str = "", **more: object) -> CaseBody:
    return CaseBody.model_validate({"check": check, "text": text, **more})


@pytest.mark.parametrize(
    ("asked", "kind", "code"),
    [
        (body(text="who?"), "MEMORY", None),
        (body("silence", "who?"), "MEMORY", None),
        (body("unsaid", "x"), "MEMORY", None),
        (body("behaviour", "do it", must=["x"]), "MEMORY", None),
        (body("decision", inputs={"a": 1}), "MEMORY", "case.unfit"),
        (body("stands", "x"), "MEMORY", "case.unfit"),
        (body("decision", inputs={"a": 1}), "DMN_RULE", None),
        (body("decision"), "DMN_RULE", "case.no_inputs"),
        (body("recall", "x"), "DMN_RULE", None),
        (body("unsaid", "x"), "DMN_RULE", "case.unfit"),
        (body("stands", "x"), "SKILL", None),
        (body("stands", "x", of="pay"), "SKILL", None),
        (body("withdrawn", "x", of="pay"), "SKILL", None),
        (body("chosen", "x", of="pay"), "SKILL", "case.unfit_of"),
        (body("recall", "x", of="pay"), "MEMORY", "case.unfit_of"),
        (body("script", "scripts/a.py"), "SKILL", None),
        (body("recall", "x"), "SKILL", "case.unfit"),
        (body(text="  "), "MEMORY", "case.no_text"),
        (body("behaviour", " ", must=["x"]), "MEMORY", "case.no_text"),
        (body(text="x" * MOST_CHARS), "MEMORY", None),
        (body(text="x" * (MOST_CHARS + 1)), "MEMORY", "case.too_long"),
        (body("behaviour", "do it"), "MEMORY", "case.no_assertion"),
        (body("behaviour", "do it", must=[" "], must_not=[""]), "MEMORY", "case.no_assertion"),
        (body("behaviour", "do it", must_not=["x"]), "MEMORY", None),
        (body("behaviour", "do it", must=["x" * MOST_CHARS]), "MEMORY", None),
        (body("behaviour", "do it", must=["x" * (MOST_CHARS + 1)]), "MEMORY", "case.too_long"),
        (body("behaviour", "do it", must=["x", "/(/"]), "MEMORY", "case.pattern_wrong"),
        (body("behaviour", "do it", must=["/a+/"]), "MEMORY", None),
        (body("recall", "do it", must=["/(/"]), "MEMORY", None),
    ],
)
def test_a_case_that_cannot_be_run_says_what_is_wrong(
    asked: CaseBody, kind: str, code: str | None
) -> None:
    found = problem_in(asked, Kind(kind))
    assert (found.code if found is not None else None) == code


@pytest.mark.parametrize(
    ("text", "pattern"), [("/a/", "a"), ("//", None), ("/a", None), ("a/", None), ("/a b/", "a b")]
)
def test_a_pattern_stands_between_slashes(text: str, pattern: str | None) -> None:
    assert pattern_in(text) == pattern


def remembered(*cases: CaseBody) -> MemoryRequest:
    return MemoryRequest(operation=Operation.CREATE, content="x", reason="r", cases=cases)


def test_a_request_is_refused_for_the_first_case_that_cannot_be_run() -> None:
    refuse_unfit(remembered(*[body(text=f"{n}?") for n in range(MOST)]))
    refuse_unfit(remembered())
    with pytest.raises(Refused) as many:
        refuse_unfit(remembered(*[body(text=f"{n}?") for n in range(MOST + 1)]))
    with pytest.raises(Refused) as wrong:
        refuse_unfit(remembered(body(text="who?"), body("stands", "x")))
    assert many.value.message.code == "case.too_many"  # type: ignore[attr-defined]
    assert wrong.value.message.code == "case.wrong"  # type: ignore[attr-defined]
    assert "2" in wrong.value.message


@pytest.mark.parametrize(
    ("one", "other", "asks_same", "expects_same"),
    [
        (body(text="Who pays?"), body(text="who  PAYS?"), True, True),
        (body(text="who pays?"), body("silence", "who pays?"), True, False),
        (body("stands", "x"), body("withdrawn", "x"), True, False),
        (body("chosen", "x"), body("not_chosen", "x"), True, False),
        (body(text="who pays?"), body(text="who asks?"), False, True),
        (body("stands", "x", section="A"), body("stands", "x", section="B"), False, True),
        (body("stands", "x", section="A"), body("stands", "x", section=" a "), True, True),
        (body("stands", "x", of="pay"), body("stands", "x"), False, True),
        (body("script", "a.py", input="1"), body("script", "a.py", input="2"), False, True),
        (body("script", "a.py", output="1"), body("script", "a.py", output="2"), True, False),
        (
            body("decision", inputs={"a": 1, "b": 2}, outputs="x"),
            body("decision", inputs={"b": 2, "a": 1}, outputs="x"), True, True,
        ),
        (
            body("decision", inputs={"a": 1}, outputs={"x": 1, "y": 2}),
            body("decision", inputs={"a": 1}, outputs={"y": 2, "x": 1}), True, True,
        ),
        (
            body("decision", inputs={"a": 1}, outputs="x"),
            body("decision", inputs={"a": 1}, outputs="y"), True, False,
        ),
        (body("decision", inputs={"a": 1}), body("decision", inputs={"a": 2}), False, True),
        (
            body("decision", "one", inputs={"a": 1}), body("decision", "two", inputs={"a": 1}),
            True, True,
        ),
    ],
)  # fmt: skip
def test_two_cases_ask_the_same_or_expect_the_same(
    one: CaseBody, other: CaseBody, asks_same: bool, expects_same: bool
) -> None:
    assert (asks(one) == asks(other)) is asks_same
    assert (expects(one) == expects(other)) is expects_same
    assert len(asks(one)) == 16


def test_cases_of_a_request_come_before_those_that_code_derives() -> None:
    change = item_change(Kind.MEMORY, "m", "name", "text").model_copy(
        update={"request": remembered(body(text="who?")), "feedback_id": "f"}
    )
    derived = [body(text="WHO?"), body("unsaid", "x")]
    made = own_cases(change, derived)
    assert [(one.body.text, one.origin) for one in made] == [
        ("who?", CaseOrigin.MODEL), ("x", CaseOrigin.DERIVED),
    ]  # fmt: skip
    assert [one.id for one in own_cases(change, derived)] == [one.id for one in made]
    assert len({one.id for one in made}) == 2
    first = made[0]
    assert (first.tenant_id, first.agent_id) == (change.tenant_id, change.agent_id)
    assert (first.kind, first.item_id, first.item_name) == (Kind.MEMORY, "m", "name")
    assert (first.change_id, first.feedback_id, first.role) == (change.id, "f", "regression")
    assert first.status == "unproved"
    by_hand = own_cases(change.model_copy(update={"feedback_id": None}), derived)
    assert [one.origin for one in by_hand] == [CaseOrigin.PERSON, CaseOrigin.DERIVED]
    without = own_cases(change.model_copy(update={"request": None}), derived)
    assert [one.origin for one in without] == [CaseOrigin.DERIVED] * 2


@pytest.mark.parametrize(
    ("asked", "said", "proves"),
    [
        (body(text="weekly report recipient"), "Ms. Kim gets the weekly mail", True),
        (body(text="weekly report"), "Ms. Kim gets the weekly mail", True),
        (body(text="weekly report"), "Ms. Kim gets the weekly report", False),
        (body(text="weekly report recipient"), "Ms. Kim gets the weekly report", False),
        (body("silence", "weekly report"), "Ms. Kim gets the weekly report", True),
        (body(text="weekly report"), None, True),
    ],
)
def test_a_question_in_the_words_of_the_answer_proves_nothing(
    asked: CaseBody, said: str | None, proves: bool
) -> None:
    change = item_change(Kind.MEMORY, "m", "name", said or "")
    (case,) = own_cases(change.model_copy(update={"request": None}), [asked])
    gone = change.model_copy(update={"after": None})
    assert can_prove(case, gone if said is None else change) is proves


Rows = Mapping[str, tuple[str, str]]
BASE: Rows = {"r1": ("> 100", '"lead"'), "r2": ("<= 100", '"clerk"')}


def table(rows: Rows) -> Snapshot:
    made = DecisionTable(
        name="approval",
        inputs=(InputColumn(name="amount", type="number"),),
        outputs=(OutputColumn(name="who"),),
        rows=tuple(
            DecisionRow(id=row_id, inputs=(test,), outputs=(out,))
            for row_id, (test, out) in rows.items()
        ),
    )
    return Snapshot(content=to_xml(made, decision_id="d"), name="approval")


def older(asked: CaseBody, origin: CaseOrigin = CaseOrigin.DERIVED, **more: object) -> Case:
    known: dict[str, object] = {
        "id": "old", "tenant_id": "t", "agent_id": "a", "kind": Kind.MEMORY, "item_id": "m",
        "body": asked, "role": CaseRole.REGRESSION, "origin": origin,
    }  # fmt: skip
    return Case.model_validate(known | more)


def decides(inputs: Mapping[str, JsonValue], outputs: JsonValue = None) -> CaseBody:
    return CaseBody.model_validate({"check": "decision", "inputs": inputs, "outputs": outputs})


def covers(
    change: Change, old: Case, *stated: CaseBody, origin: CaseOrigin = CaseOrigin.MODEL
) -> bool:
    own = [older(one, origin) for one in stated]
    return Corrections(change, own).cover(old)


def memory(request: MemoryRequest | RestoreRequest | None = None, said: str = "") -> Change:
    given = {"request": request, "candidate_content": said, "operation": Operation.UPDATE}
    return item_change(Kind.MEMORY, "m", "m", "text").model_copy(update=given)


def rule(
    now: Rows, *edits: RowEdit, said: str = "", removed: Sequence[str] = (), **more: object
) -> Change:
    draft = RuleDraft(rows=edits, remove_rows=tuple(removed))
    asked: dict[str, object] = {"operation": Operation.UPDATE, "target_id": "m", "rule": draft}
    given = {
        "request": RuleRequest.model_validate({**asked, "reason": "r", **more}),
        "candidate_content": said,
        "before": table(BASE),
        "after": table(now),
        "operation": Operation.UPDATE,
    }
    return item_change(Kind.DMN_RULE, "m", "m", "").model_copy(update=given)


RECALL, UNSAID = body(text="who pays?"), body("unsaid", "by card")


def update(content: str = "x", **more: object) -> MemoryRequest:
    asked = {"operation": Operation.UPDATE, "target_id": "m", "content": content, "reason": "r"}
    return MemoryRequest.model_validate(asked | more)


def test_a_case_that_says_otherwise_corrects_one_that_asks_the_same() -> None:
    change = memory(update())
    assert covers(change, older(RECALL, CaseOrigin.MODEL), body("silence", "who pays?"))
    assert not covers(change, older(RECALL, CaseOrigin.MODEL), RECALL)
    assert not covers(change, older(RECALL, CaseOrigin.MODEL))
    silence = body("silence", "who pays?")
    derived = covers(change, older(RECALL), silence, origin=CaseOrigin.DERIVED)
    assert not derived  # what code derives follows from any change, also a wrong one
    for elsewhere in ({"item_id": "n"}, {"kind": Kind.DMN_RULE}):
        assert not covers(change, older(RECALL, **elsewhere), silence)


def test_a_person_who_restores_a_state_brings_back_its_cases() -> None:
    restored = RestoreRequest(
        target_kind=Kind.MEMORY,
        operation=Operation.UPDATE,
        target_id="m",
        state=Snapshot(content="x", name="m"),
        expected_hash="",
        reason="r",
    )
    assert covers(memory(restored), older(UNSAID, CaseOrigin.PERSON))
    assert not covers(memory(update()), older(UNSAID, CaseOrigin.PERSON))


@pytest.mark.parametrize(
    ("said", "content", "taken_back", "gives_way"),
    [
        ("It is card now, cash is over.", "Pay by card.", "in cash", True),
        ("It is a cheque now, cash is over.", "Pay by card.", "in cash", False),
        ("", "Pay by card.", "in cash", False),
        ("It is card now, cash is over.", "Pay by card.", "by cheque", False),
        ("It is card now, cash is over.", "Pay by cheque.", "in cash", False),
    ],
)
def test_what_was_not_to_be_said_is_said_by_who_takes_back_the_rest(
    said: str, content: str, taken_back: str, gives_way: bool
) -> None:
    known = Snapshot(content="Pay by bank, in cash.", name="m")
    change = memory(update(content), said).model_copy(update={"before": known})
    old = older(UNSAID, CaseOrigin.MODEL)
    assert covers(change, old, body("unsaid", taken_back)) is gives_way
    assert not covers(change, old, body("unsaid", taken_back), origin=CaseOrigin.DERIVED)
    assert not covers(memory(update(content), said), old, body("unsaid", taken_back))


@pytest.mark.parametrize(
    ("request_", "old", "origin", "gives_way"),
    [
        (update(valid_until="2030-01-01T00:00:00Z"), RECALL, CaseOrigin.DERIVED, True),
        (update(valid_until="2030-01-01T00:00:00Z"), RECALL, CaseOrigin.MODEL, False),
        (update(valid_until="2030-01-01T00:00:00Z"), UNSAID, CaseOrigin.DERIVED, False),
        (update(), RECALL, CaseOrigin.DERIVED, False),
        (update("Pay by card again"), UNSAID, CaseOrigin.DERIVED, True),
        (update("Pay by card again"), UNSAID, CaseOrigin.PERSON, False),
        (update("Pay by card", merge_mode=MergeMode.EXTEND), UNSAID, CaseOrigin.DERIVED, False),
        (update("Pay by card", merge_mode=MergeMode.REPLACE), UNSAID, CaseOrigin.DERIVED, True),
        (update("Pay in cash"), UNSAID, CaseOrigin.DERIVED, False),
        (update("who pays?"), RECALL, CaseOrigin.DERIVED, False),
    ],
)
def test_what_code_derived_gives_way_to_the_words_of_a_memory(
    request_: MemoryRequest, old: CaseBody, origin: CaseOrigin, gives_way: bool
) -> None:
    assert covers(memory(request_), older(old, origin)) is gives_way


@pytest.mark.parametrize(
    ("old", "stated", "gives_way"),
    [
        (body("stands", "Call Ms. Kim first."), body("withdrawn", "call Ms. Kim"), True),
        (body("stands", "Call first.", section="A"), body("withdrawn", "call first"), True),
        (body("stands", "Call first.", section="A"), body("withdrawn", "call", section="a"), True),
        (body("stands", "Call first.", section="A"), body("withdrawn", "call", section="B"), False),
        (body("stands", "Call first."), body("withdrawn", "write"), False),
        (body("stands", "Call first."), body("stands", "call"), False),
        (body("chosen", "Call first."), body("withdrawn", "call first"), False),
    ],
)
def test_a_statement_is_withdrawn_by_words_in_it(
    old: CaseBody, stated: CaseBody, gives_way: bool
) -> None:
    change = memory().model_copy(update={"kind": Kind.SKILL})
    assert covers(change, older(old, CaseOrigin.MODEL, kind=Kind.SKILL), stated) is gives_way


LIMIT: Rows = {"r1": ("> 200", '"lead"'), "r2": ("<= 200", '"clerk"')}
OF_RULE = {"kind": Kind.DMN_RULE}


@pytest.mark.parametrize(
    ("now", "amount", "origin", "stated", "gives_way"),
    [
        (LIMIT, 150, CaseOrigin.MODEL, [({"amount": 180}, '"clerk"')], True),
        (LIMIT, 150, CaseOrigin.DERIVED, [({"amount": 180}, '"clerk"')], True),
        (LIMIT, 150, CaseOrigin.PERSON, [({"amount": 180}, '"clerk"')], False),
        (LIMIT, 150, CaseOrigin.MODEL, [({"amount": 500}, '"lead"')], False),
        (LIMIT, 150, CaseOrigin.MODEL, [], False),
        (LIMIT, 500, CaseOrigin.MODEL, [({"amount": 180}, '"clerk"')], False),
        # The outcome of a row is another now: no limit is moved.
        (
            {"r1": ("> 200", '"boss"'), "r2": LIMIT["r2"]}, 150, CaseOrigin.MODEL,
            [({"amount": 180}, '"clerk"')], False,
        ),
        (
            {"r1": LIMIT["r1"], "r2": ("<= 200", '"boss"')}, 150, CaseOrigin.MODEL,
            [({"amount": 180}, '"boss"')], False,
        ),
        # Nothing answers any more.
        ({"r1": LIMIT["r1"]}, 150, CaseOrigin.MODEL, [({"amount": 180}, None)], False),
    ],
)  # fmt: skip
def test_a_limit_that_is_moved_moves_the_older_cases_between(
    now: Rows, amount: int, origin: CaseOrigin,
    stated: Sequence[tuple[Mapping[str, JsonValue], JsonValue]], gives_way: bool,
) -> None:  # fmt: skip
    own = [decides(*one) for one in stated]
    old = older(decides({"amount": amount}, "x"), origin, **OF_RULE)
    assert covers(rule(now), old, *own) is gives_way


def edit(row_id: str | None, **more: object) -> RowEdit:
    return RowEdit(id=row_id, inputs={}, outputs={}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "amount", "origin", "gives_way"),
    [
        (rule(BASE, edit("r1")), 150, CaseOrigin.DERIVED, True),
        (rule(BASE, edit("r1")), 50, CaseOrigin.DERIVED, False),
        (rule(BASE, edit("r1")), 150, CaseOrigin.MODEL, False),
        (rule(BASE, edit(None)), 150, CaseOrigin.DERIVED, False),
        (rule(BASE, removed=["r2"]), 50, CaseOrigin.DERIVED, True),
        (rule(BASE, edit("r1"), merge_mode="REPLACE"), 150, CaseOrigin.DERIVED, False),
        (rule(BASE, edit("r1"), document="<x/>"), 150, CaseOrigin.DERIVED, False),
        (
            rule(BASE, edit("r1")).model_copy(update={"before": None}),
            150,
            CaseOrigin.DERIVED,
            False,
        ),
        (
            rule(BASE, edit("r1")).model_copy(update={"request": None}),
            150,
            CaseOrigin.DERIVED,
            False,
        ),
    ],
)
def test_a_row_that_is_edited_by_its_id_decides_anew(
    change: Change, amount: int, origin: CaseOrigin, gives_way: bool
) -> None:
    old = older(decides({"amount": amount}, "x"), origin, **OF_RULE)
    assert covers(change, old) is gives_way


def test_only_decisions_are_covered_by_the_rows_that_decide_them() -> None:
    old = older(body(text="who pays?"), **OF_RULE)
    assert not covers(rule(BASE, edit("r1"), edit("r2")), old)
    unread = older(decides({"other": 1}, "x"), **OF_RULE)
    assert not covers(rule(BASE, edit("r1"), edit("r2")), unread)
