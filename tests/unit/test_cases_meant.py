"""Which older decision a correction is about, as the words of the feedback name it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue

from core.changes.cases.judging import Corrections
from core.changes.cases.proposed import (
    EVALS,
    asked_words,
    brought_words,
    cases_of_evals,
    derive,
    name_word,
    said_words,
)
from core.changes.cases.running import ItemState, judge
from core.decision_table import to_xml
from core.domain.hashing import sha256
from core.domain.models import (
    Change,
    DecisionRow,
    DecisionTable,
    FileRef,
    InputColumn,
    Kind,
    OutputColumn,
    Snapshot,
)
from core.domain.models.cases import CaseBody, CaseOrigin, Check
from tests.support.react import item_change
from tests.unit.test_case_bodies import BASE, body, covers, decides, older, rule

OUT = '"3 days"'


def table(*cells: str, column: str = "region") -> Snapshot:
    made = DecisionTable(
        name="delivery",
        inputs=(InputColumn(name=column), InputColumn(name="weight", type="number")),
        outputs=(OutputColumn(name="takes"),),
        rows=tuple(
            DecisionRow(id=f"r{n}", inputs=(f'"{cell}"' if cell else "-", "-"), outputs=(OUT,))
            for n, cell in enumerate(cells)
        ),
    )
    return Snapshot(content=to_xml(made, decision_id="d"), name="delivery")


def change(said: str, candidate: str = "", *, before: Snapshot | None = None) -> Change:
    made = item_change(Kind.DMN_RULE, "m", "m", "")
    states = {"before": before or table("Busan", "Jeju", ""), "after": table("Busan", "Jeju")}
    return made.model_copy(
        update={**states, "feedback_content": said, "candidate_content": candidate}
    )


def corrects(made: Change, inputs: Mapping[str, JsonValue]) -> bool:
    """Whether a stated case corrects an older one that asks the same and expects otherwise."""
    stated = older(decides(inputs, {"takes": "5 days"}), CaseOrigin.MODEL, kind=Kind.DMN_RULE)
    known = older(decides(inputs, {"takes": "3 days"}), CaseOrigin.PERSON, kind=Kind.DMN_RULE)
    return Corrections(made, [stated]).cover(known)


BUSAN = {"region": "Busan", "weight": 3}


@pytest.mark.parametrize(
    ("said", "candidate", "inputs", "is_meant"),
    [
        ("Busan takes five days", "", BUSAN, True),
        ("it takes five days", "", BUSAN, True),
        ("", "", BUSAN, True),
        ("Busan and Jeju take five days", "", BUSAN, True),
        ("Jeju takes five days", "", BUSAN, False),
        # What a candidate says counts, not the whole of the feedback.
        ("Jeju takes five days", "five days in Busan", BUSAN, True),
        ("Busan takes five days", "five days in Jeju", BUSAN, False),
        # Only words in the columns of the table name a value.
        ("Seoul takes five days", "", BUSAN, True),
        ("Jeju takes five days", "", {"region": "", "weight": 3}, True),
        ("Jeju takes five days", "", {"weight": 3}, True),
        ("Jeju takes five days", "", {"region": 7, "weight": 3}, True),
    ],
)
def test_a_correction_is_about_the_value_that_the_feedback_names(
    said: str, candidate: str, inputs: Mapping[str, JsonValue], is_meant: bool
) -> None:
    assert corrects(change(said, candidate), inputs) is is_meant


@pytest.mark.parametrize(
    ("said", "is_meant"),
    [("일요일에는 쉰다", True), ("토요일에는 쉰다", False), ("평일에는 쉰다", True)],
)
def test_a_value_of_one_syllable_begins_the_word_that_names_it(said: str, is_meant: bool) -> None:
    made = change(said, before=table("일", "토", column="day"))
    assert corrects(made, {"day": "일", "weight": 1}) is is_meant


def test_an_older_case_of_text_is_meant_whatever_is_named() -> None:
    made = change("Jeju takes five days")
    said = older(body("silence", "Busan"), CaseOrigin.MODEL, kind=Kind.DMN_RULE)
    known = older(body("recall", "Busan"), CaseOrigin.MODEL, kind=Kind.DMN_RULE)
    assert Corrections(made, [said]).cover(known)
    new = made.model_copy(update={"before": None})
    assert corrects(new, BUSAN)


def evals(text: str) -> Sequence[tuple[str, tuple[str, ...]]]:
    data = text.encode()
    refs = {EVALS: FileRef(sha256=sha256(data), size=len(data))}
    after = Snapshot(content="---\nname: s\ndescription: d\n---\n", name="s", files=refs)
    found = cases_of_evals(after, {sha256(data): data})
    assert {one.check for one in found} <= {Check.BEHAVIOUR}
    return [(one.text, one.must) for one in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"evals": [{"prompt": "p", "expected_output": "x"}]}', [("p", ("judge: x",))]),
        (
            '{"evals": [1, {"prompt": "p", "expectations": ["x", "/y+/", " ", 3]}]}',
            [("p", ("judge: x", "/y+/"))],
        ),
        ('{"evals": [{"prompt": "p", "expectations": "x"}]}', [("p", ("judge: x",))]),
        # What cannot be read or run is none, and keeps no other out.
        (
            '{"evals": [{"prompt": 7}, {"prompt": "p"}, {"prompt": "q", "expected_output": "x"},'
            ' {"prompt": "r", "expected_output": "x", "runs": 999}]}',
            [("q", ("judge: x",))],
        ),
        ('{"evals": {"prompt": "p"}}', []),
        ('[{"prompt": "p"}]', []),
        ("no JSON", []),
        (
            json.dumps({"evals": [{"prompt": f"p{n}", "expectations": ["x"]} for n in range(7)]}),
            [(f"p{n}", ("judge: x",)) for n in range(5)],
        ),
    ],
)
def test_evals_of_a_skill_are_cases_as_far_as_they_can_be_run(
    text: str, found: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert [*evals(text)] == found


def test_evals_say_how_often_they_run_and_how_often_they_must_hold() -> None:
    data = b'{"evals": [{"prompt": "p", "expected_output": "x", "runs": 3, "at_least": 0.5}]}'
    refs = {EVALS: FileRef(sha256=sha256(data), size=len(data))}
    after = Snapshot(content="", name="s", files=refs)
    (one,) = cases_of_evals(after, {sha256(data): data})
    assert (one.runs, one.at_least) == (3, 0.5)
    assert cases_of_evals(after, {}) == ()
    assert cases_of_evals(Snapshot(content="", name="s"), {}) == ()
    made = item_change(Kind.SKILL, "s", "s", "").model_copy(update={"after": after})
    assert one in derive(made, {sha256(data): data})


def memory(before: str | None, after: str | None, kind: Kind = Kind.MEMORY) -> Change:
    states = {
        name: Snapshot(content=text, name="n") if text is not None else None
        for name, text in (("before", before), ("after", after))
    }
    return item_change(kind, "pay-bills", "n", "").model_copy(update=states)


def test_a_change_brings_the_words_that_its_item_did_not_have() -> None:
    assert {*brought_words(memory("pay the carrier", "pay the harbour"))} == {"harbour"}
    assert brought_words(memory("pay", None)) == ()
    assert "harbour" in brought_words(memory(None, "harbour"))
    # Words that nearly every text has are no way to find one.
    assert "the" not in said_words(Kind.MEMORY, Snapshot(content="the harbour", name="n"))
    many = " ".join(f"word{n}x" for n in range(600))
    assert len(brought_words(memory(None, many))) == 400


def test_only_cases_in_words_are_found_by_words() -> None:
    assert asked_words(body("recall", "who pays the harbour")) != ()
    assert asked_words(decides({"amount": 1})) == ()
    assert asked_words(body("stands", "call the harbour")) == ()
    unreadable = Snapshot(content="<harbour", name="n")
    assert "harbour" in said_words(Kind.DMN_RULE, unreadable)
    rows = table("Busan")
    assert {"busan", "deliveri"} & {*said_words(Kind.DMN_RULE, rows)}
    assert "decis" not in said_words(Kind.DMN_RULE, rows)  # of XML only what people wrote
    assert said_words(Kind.MEMORY, None) == {}


def test_a_skill_is_mentioned_by_its_name_once_it_is_there() -> None:
    assert name_word(memory("x", "y", Kind.SKILL)) == name_word(memory("x", None, Kind.SKILL))
    assert str(name_word(memory("x", "y", Kind.SKILL))).startswith("paybil")
    assert name_word(memory(None, "y", Kind.SKILL)) is None
    assert name_word(memory("x", "y")) is None


def test_a_row_that_decides_as_it_did_moves_no_case_that_failed_before() -> None:
    moved = rule({"r1": ("> 200", '"lead"'), "r2": ("<= 200", '"clerk"')})
    failed = older(decides({"amount": 500}, '"clerk"'), CaseOrigin.MODEL, kind=Kind.DMN_RULE)
    assert not covers(moved, failed, decides({"amount": 600}, '"lead"'))


@pytest.mark.parametrize(
    ("amount", "must", "found"), [(500, ("r2",), "r1"), (5, ("r1",), "r2"), (None, ("r1",), "")]
)
def test_rows_that_matched_instead_are_named(
    amount: int | None, must: tuple[str, ...], found: str
) -> None:
    asked = CaseBody.model_validate(
        {"check": "decision", "inputs": {"amount": amount}, "must": must, "must_not": ("r9",)}
    )
    content = rule(BASE).after
    assert content is not None
    ended = judge(older(asked, kind=Kind.DMN_RULE), ItemState(content.content))
    assert ended.passed is False
    assert ended.why.code == "case.rows_otherwise"  # type: ignore[attr-defined]
    said = ended.why.parameters  # type: ignore[attr-defined]
    assert said["wanted"] == f"{must[0]}, !r9"
    assert getattr(said["found"], "code", said["found"]) == (found or "learn.no_row")
