"""How a case ends by what its item says or what a search finds, and how that is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue

from core.changes.cases.proposed import claimed, takes_over
from core.changes.cases.running import (
    Found,
    ItemState,
    chosen,
    gone,
    judge,
    recalled,
    scripted,
    section_of,
)
from core.changes.cases.wording import MOST_TOLD, all_broken, broken_words, case_words, told_of
from core.decision_table import to_xml
from core.domain.models import (
    Change,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    Kind,
    OutputColumn,
    Snapshot,
)
from core.domain.models.cases import Case, CaseBody, CaseResult
from tests.support.react import item_change
from tests.support.seeding import AT

DOCUMENT = """---
name: refund
description: Refunds
---
# Refund

## Steps

1. Look up the **order**.

### Later

Call Ms. Kim.

## Usage

Run it.
"""
TABLE = to_xml(
    DecisionTable(
        name="approval",
        hit_policy=HitPolicy.COLLECT,
        inputs=(InputColumn(name="amount", type="number"),),
        outputs=(OutputColumn(name="who"),),
        rows=tuple(
            DecisionRow(id=row_id, inputs=(test,), outputs=(out,))
            for row_id, test, out in (("r1", "> 100", '"lead"'), ("r2", "> 500", '"board"'))
        ),
    ),
    decision_id="d",
)


def case(check: str, text: str = "", kind: Kind = Kind.MEMORY, **more: object) -> Case:
    asked = {key: more.pop(key) for key in [*more] if key in CaseBody.model_fields}
    known: dict[str, object] = {
        "id": "k", "tenant_id": "t", "agent_id": "a", "kind": kind, "item_id": "m",
        "item_name": "the name", "role": "proof", "origin": "model",
        "body": {"check": check, "text": text, **asked},
    }  # fmt: skip
    return Case.model_validate(known | more)


def why(result: CaseResult) -> str | None:
    """Return the code of why a case did not pass; None if it did."""
    if result.passed:
        assert result.why == ""
        return None
    return str(result.why.code)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("asked", "content", "said"),
    [
        (case("unsaid", "3 days"), "It takes 3 days", "case.still_says"),
        (case("unsaid", "3 days"), "It takes 13 days", None),
        (case("stands", "Look up the order."), DOCUMENT, None),
        (case("stands", "Look it up."), DOCUMENT, "case.no_longer_says"),
        (case("stands", "Look up the order", section="Steps"), DOCUMENT, None),
        (case("stands", "Call Ms. Kim", section="Steps"), DOCUMENT, None),
        (case("stands", "Call Ms. Kim", section="Later"), DOCUMENT, None),
        (case("stands", "Run it", section="Steps"), DOCUMENT, "case.section_lacks"),
        (case("stands", "Run it", section="Nowhere"), DOCUMENT, "case.no_section"),
        (case("withdrawn", "Run it"), DOCUMENT, "case.still_says"),
        (case("withdrawn", "Run it", section="Steps"), DOCUMENT, None),
        (case("withdrawn", "Run it", section="Nowhere"), DOCUMENT, None),
        (case("behaviour", "do it"), "x", "case.needs_model"),
        (case("script", "a.py"), "x", "case.needs_sandbox"),
    ],
)
def test_a_case_ends_by_what_its_item_says(asked: Case, content: str, said: str | None) -> None:
    result = judge(asked, ItemState(content))
    assert why(result) == said
    is_not_run = said in {"case.needs_model", "case.needs_sandbox"}
    assert result.passed is (None if is_not_run else said is None)
    assert result.case == asked


def test_of_a_table_what_people_wrote_in_it_is_what_it_says() -> None:
    assert why(judge(case("unsaid", "board", Kind.DMN_RULE), ItemState(TABLE))) == "case.still_says"
    assert why(judge(case("unsaid", "informationItem", Kind.DMN_RULE), ItemState(TABLE))) is None
    broken = judge(case("unsaid", "board", Kind.DMN_RULE), ItemState("< board"))
    assert why(broken) == "case.still_says"


@pytest.mark.parametrize(
    ("inputs", "asked", "said"),
    [
        ({"amount": 200}, {"outputs": [{"who": "lead"}]}, None),
        ({"amount": 200}, {"outputs": [{"who": "board"}]}, "case.decided_otherwise"),
        ({"amount": 600}, {"outputs": [{"who": "lead"}, {"who": "board"}]}, None),
        ({"amount": 50}, {"outputs": [{"who": "lead"}]}, "case.decided_otherwise"),
        ({"amount": 200}, {}, "case.decided_otherwise"),
        ({"amount": 200}, {"must": ["r1"]}, None),
        ({"amount": 600}, {"must": ["r1", "r2"]}, None),
        ({"amount": 200}, {"must": ["r1", "r2"]}, "case.rows_otherwise"),
        ({"amount": 200}, {"must_not": ["r2"]}, None),
        ({"amount": 600}, {"must_not": ["r2"]}, "case.rows_otherwise"),
        (
            {"amount": 200},
            {"must": ["r1"], "outputs": [{"who": "board"}]},
            "case.decided_otherwise",
        ),
        ({"amount": 200}, {"must": ["r1"], "outputs": [{"who": "lead"}]}, None),
        ({"other": 1}, {"must": ["r1"]}, "case.undecided"),
    ],
)
def test_a_decision_ends_by_its_outcome_and_the_rows_that_match(
    inputs: Mapping[str, JsonValue], asked: Mapping[str, object], said: str | None
) -> None:
    result = judge(case("decision", kind=Kind.DMN_RULE, inputs=inputs, **asked), ItemState(TABLE))
    assert why(result) == said
    assert result.passed is (said is None)


def test_a_table_that_cannot_be_read_decides_nothing() -> None:
    asked = case("decision", kind=Kind.DMN_RULE, inputs={"amount": 1})
    assert why(judge(asked, ItemState("<"))) == "case.undecided"
    told = judge(case("decision", kind=Kind.DMN_RULE, inputs={"amount": 200}), ItemState(TABLE))
    assert "200" in told.why
    assert "r1" in told.why


@pytest.mark.parametrize(
    ("check", "passes"),
    [
        ("silence", True), ("not_chosen", True), ("unsaid", True), ("withdrawn", True),
        ("recall", False), ("chosen", False), ("stands", False), ("decision", False),
        ("script", False), ("behaviour", False),
    ],
)  # fmt: skip
def test_of_an_item_that_is_gone_nothing_is_found_or_said(check: str, passes: bool) -> None:
    for result in (gone(case(check, "x")), judge(case(check, "x"), None)):
        assert result.passed is passes
        assert why(result) == (None if passes else "case.item_gone")


MINE, OTHER = Found("m", "mine"), Found("n", "other  one")


@pytest.mark.parametrize(
    ("check", "found", "said"),
    [
        ("recall", [OTHER, MINE], None), ("recall", [OTHER], "case.not_found"),
        ("recall", [], "case.nothing_found"), ("silence", [OTHER, MINE], "case.is_found"),
        ("silence", [OTHER], None), ("silence", [], None),
    ],
)  # fmt: skip
def test_a_question_brings_its_item_up_or_must_not(
    check: str, found: Sequence[Found], said: str | None
) -> None:
    result = recalled(case(check, "who  pays?"), found)
    assert why(result) == said
    assert result.found == tuple(one.id for one in found)
    if said is not None:
        assert "who pays?" in result.why
    if said == "case.not_found":
        assert "'other one'" in result.why


@pytest.mark.parametrize(
    ("check", "first", "said"),
    [
        ("chosen", "m", None), ("chosen", "n", "case.other_chosen"),
        ("chosen", None, "case.none_chosen"), ("not_chosen", "m", "case.is_chosen"),
        ("not_chosen", "n", None), ("not_chosen", None, None),
    ],
)  # fmt: skip
def test_a_request_chooses_its_skill_first_or_must_not(
    check: str, first: str | None, said: str | None
) -> None:
    result = chosen(case(check, "refund it", Kind.SKILL), first)
    assert (why(result), result.found) == (said, (first,) if first else ())


@pytest.mark.parametrize(
    ("status", "output", "said"),
    [
        (0, "a\nb", None), (None, "a\nb", None), (0, "a \r\nb\t\n\n", None),
        (0, "\na\nb", "case.script_wrote"),
        (0, "a\nc", "case.script_wrote"), (0, "a  b", "case.script_wrote"),
        (1, "a\nb", "case.script_failed"), (124, "", "case.script_failed"),
    ],
)  # fmt: skip
def test_a_script_ends_by_its_status_and_what_it_writes(
    status: int | None, output: str, said: str | None
) -> None:
    result = scripted(case("script", "a.py", Kind.SKILL, output="a\nb\n"), status, output)
    assert why(result) == said
    if said == "case.script_failed":
        assert str(status) in result.why


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Later", "\nCall Ms. Kim.\n\n"),
        ("Usage", "\nRun it.\n"),
        ("usage", None),
        ("Steps", "\n1. Look up the **order**.\n\n### Later\n\nCall Ms. Kim.\n\n"),
        ("Nowhere", None),
    ],
)
def test_a_section_ends_where_the_next_of_its_level_begins(asked: str, text: str | None) -> None:
    assert section_of(DOCUMENT, asked) == text


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (case("recall", "x"), "case.recall"), (case("silence", "x"), "case.silence"),
        (case("unsaid", "x"), "case.unsaid"), (case("chosen", "x"), "case.chosen"),
        (case("not_chosen", "x"), "case.not_chosen"), (case("stands", "x"), "case.stands"),
        (case("stands", "x", section="A"), "case.stands_in"),
        (case("withdrawn", "x"), "case.withdrawn"),
        (case("withdrawn", "x", section="A"), "case.withdrawn_in"),
        (case("stands", "x", of="pay"), "case.relies"),
        (case("withdrawn", "x", of="pay", section="A"), "case.relies"),
        (case("behaviour", "x"), "case.behaviour"),
        (case("recall", "x", section="A"), "case.recall"),
        (case("script", "x", input="in", output="out"), "case.script"),
    ],
)  # fmt: skip
def test_a_case_is_told_by_what_it_asks(asked: Case, code: str) -> None:
    said = case_words(asked.body)
    assert said.code == code
    assert "x" in said
    assert asked.body.section in said or code in {"case.relies", "case.recall"}
    assert asked.body.of in said
    assert asked.body.output in said


def test_a_decision_is_told_by_its_inputs_and_outputs() -> None:
    body = case("decision", inputs={"amount": 7}, outputs="lead").body
    said = case_words(body)
    assert said.code == "case.decision"
    assert '"amount":7' in said.replace(" ", "")
    assert "lead" in said


def failed(**more: object) -> CaseResult:
    return CaseResult(case=case("recall", "who?", since=AT, **more), passed=False, why="the why")


def test_a_broken_case_is_told_with_who_made_it() -> None:
    plain = broken_words(failed())
    assert plain.code == "case.breaks"
    for text in ("who?", "the why", "'m'"):
        assert text in plain
    assert "f7" in broken_words(failed(feedback_id="f7", by="kim"))
    assert "kim" in broken_words(failed(by="kim"))
    assert "the name" in broken_words(failed(kind=Kind.SKILL))
    assert "the name" not in plain
    own = CaseResult(case=case("recall", "who?", change_id="c"), passed=False, why="the why")
    assert broken_words(own).code == "case.own_fails"
    assert broken_words(failed(change_id="c")).code == "case.breaks"


def test_of_many_broken_cases_ten_are_told() -> None:
    many = [failed(id=f"k{n}") for n in range(MOST_TOLD + 2)]
    said = all_broken(many)
    assert said.count("the why") == MOST_TOLD
    assert "2" in said.rpartition("the why")[2]
    assert all_broken(many[:MOST_TOLD]).count("the why") == MOST_TOLD
    assert str(all_broken(many[:1])) == str(broken_words(many[0]))


def test_an_event_about_a_case_names_its_item_and_cause() -> None:
    event = told_of("case.failed", case("recall", feedback_id="f", change_id="c"), case="k")
    assert (event.name, event.tenant_id, event.feedback_id, event.change_id) == (
        "case.failed", "t", "f", "c",
    )  # fmt: skip
    assert event.data == {"kind": "MEMORY", "target_id": "m", "case": "k"}


def change(content: str, before: str | None = None, kind: Kind = Kind.MEMORY) -> Change:
    state = Snapshot(content=before, name="new") if before is not None else None
    made = item_change(kind, "new", "new", content)
    return made.model_copy(update={"tenant_id": "t", "before": state})


QUESTION = "weekly report recipient office"
ALL = "The weekly report recipient is the harbour office"


@pytest.mark.parametrize(
    ("content", "before", "given", "is_claimed"),
    [
        (ALL, None, {}, True),
        ("The weekly report recipient", None, {}, False),
        (ALL, "weekly report recipient", {}, True),
        (ALL, ALL, {}, False),
        (ALL, None, {"origin": "derived"}, False),
        (ALL, None, {"item_id": "new"}, False),
        (ALL, None, {"role": "regression"}, False),
        (ALL, None, {"body": {"check": "silence", "text": QUESTION}}, False),
        ("The report", None, {"body": {"check": "recall", "text": "report"}}, False),
    ],
)
def test_a_question_is_claimed_by_what_says_all_its_words(
    content: str, before: str | None, given: dict[str, object], is_claimed: bool
) -> None:
    asked = case("recall", QUESTION).model_dump(mode="json") | given
    passed = CaseResult(case=Case.model_validate(asked), passed=True, found=("new", "m"))
    found = claimed(change(content, before), [passed])
    assert bool(found) is is_claimed
    for one in found:
        assert (one.passed, why(one)) == (False, "case.claimed")
    second = passed.model_copy(update={"found": ("m", "new")})
    assert claimed(change(content, before), [second]) == []
    lost = passed.model_copy(update={"passed": False})
    assert claimed(change(content, before), [lost]) == []


def test_a_question_that_never_found_its_item_may_be_taken_over() -> None:
    result = CaseResult(case=case("recall", QUESTION), passed=False, why="x")
    assert takes_over(change(ALL), result)
    assert not takes_over(change("The weekly lunch"), result)
    derived = result.model_copy(update={"case": case("recall", QUESTION, origin="derived")})
    assert not takes_over(change(ALL), derived)
