"""The history of one target, replayed without some of its steps."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.changes.retraction.replay import Standing, followed, without
from core.changes.steps import Step
from core.changes.three_way_merge import State
from core.domain.models import Kind, Snapshot
from tests.support.react import item_change
from tests.support.rules import learnt, plain, row

XML = learnt(row("> 100", "team lead"), name="approval").xml
WIDER = plain(XML, row("[10..20]", "director"))
CLASHING = plain(XML, row("> 50", "director"))
SKILL = "---\nname: refund\ndescription: How to refund. Use it.\n---\n# Refund\n"


def step(
    number: int, kind: Kind, before: str | None, after: str | None, *, is_ours: bool = True
) -> Step:
    """Return a step of change `c<number>` from one text to another, None where there is none."""
    change = item_change(kind, "item", "item", after or "").model_copy(
        update={"id": f"c{number}", "merge_mode": None, "relationship": None}
    )
    old, new = (None if text is None else _state(kind, text) for text in (before, after))
    return Step(change, old, new, is_ours)


def _state(kind: Kind, text: str) -> State:
    return State(text, "item", {} if kind is Kind.SKILL else None)


def replayed(kind: Kind, texts: list[str | None], *gone: int, outside: int = -1) -> str | None:
    """Return the last of a line of texts without some of the steps between them."""
    steps = [
        step(number, kind, *ends, is_ours=number != outside)
        for number, ends in enumerate(pairwise(texts))
    ]
    found = without(kind, steps, lambda change: change.id in {f"c{number}" for number in gone})
    assert not isinstance(found, Standing), found.why
    return None if found is None else found.text


def test_what_is_kept_stays_as_it_was_written() -> None:
    names = [None, "b\na", "b\na\nc"]
    assert replayed(Kind.AGENT_SKILLS, names) == "b\na\nc"
    assert replayed(Kind.AGENT_SKILLS, names, 0) == "c"


def test_what_is_left_is_named_after_what_it_says() -> None:
    def name_of(kind: Kind, *texts: str | None) -> str:
        steps = [step(number, kind, *ends) for number, ends in enumerate(pairwise(texts))]
        found = without(kind, steps, lambda change: change.id == "c1")
        assert isinstance(found, State)
        return found.name

    assert name_of(Kind.MEMORY, None, "one\n", "one\ntwo\n") == "one"
    assert name_of(Kind.DMN_RULE, None, XML, WIDER) == "approval"
    assert name_of(Kind.AGENT_SKILLS, None, "b", "b\na") == "item"


def test_what_a_list_has_come_to_since_is_a_step_of_others() -> None:
    steps = [step(0, Kind.AGENT_SKILLS, None, "b")]
    assert followed(steps, Snapshot(content="b", name="item")) == steps
    (_, gone) = followed(steps, None)
    assert (gone.before, gone.after, gone.is_ours) == (steps[0].after, None, False)


def test_an_edit_past_the_worker_is_no_part_of_what_is_taken_back() -> None:
    texts = [None, "one\n", "one\ntwo\n", "one\ntwo\nthree\n"]
    assert replayed(Kind.MEMORY, texts, 2, outside=1) == "one\ntwo\n"
    assert replayed(Kind.MEMORY, texts, 1, 2, outside=1) == "one\ntwo\n"


def test_a_table_whose_creation_is_taken_back_keeps_later_rows_alone() -> None:
    found = replayed(Kind.DMN_RULE, [None, XML, WIDER], 0)
    assert found is not None
    assert "director" in found
    assert "team lead" not in found
    assert replayed(Kind.DMN_RULE, [None, XML], 0) is None


def test_a_deletion_and_a_creation_taken_back_leave_what_was_there() -> None:
    assert replayed(Kind.DMN_RULE, [None, XML, None, WIDER], 1, 2) == XML


@pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
def test_what_was_deleted_later_stays_deleted(kind: Kind) -> None:
    assert replayed(kind, [None, SKILL, SKILL + "more\n", None], 1) is None


def test_a_row_that_only_fits_beside_another_stands_in_the_way() -> None:
    apart = plain(XML, row("<= 100", "team lead"))
    steps = [
        step(0, Kind.DMN_RULE, None, CLASHING),
        step(1, Kind.DMN_RULE, CLASHING, apart),
        step(2, Kind.DMN_RULE, apart, plain(apart, row("null", "nobody"))),
    ]
    found = without(Kind.DMN_RULE, steps, lambda change: change.id == "c1")
    assert isinstance(found, Standing)
    assert found.change.id == "c2"
    assert found.why.startswith("without what is taken back, rows ")
