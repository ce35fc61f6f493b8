"""How changes that wait concern each other: one item, the same subject, or a contradiction."""

from __future__ import annotations

import pytest

from core.changes.gate.siblings import Relation, relative_to, relatives
from core.domain.models import Change, Kind, Snapshot
from tests.support.react import item_change
from tests.unit.test_merging import Rows, table

TOUCHES, RESEMBLES, CONTRADICTS = Relation.TOUCHES, Relation.RESEMBLES, Relation.CONTRADICTS
NOTE = "Invoices are due in 30 days"
GLOSSARY = Kind("GLOSSARY")
ROW, OTHER = ("> 100", '"lead"', "large"), ("<= 100", '"clerk"', "small")


def skill(name: str, description: str, *steps: str) -> str:
    body = "\n".join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


REFUND = skill("refund", "Refund a late parcel", "Read the order", "Pay the customer back")
REFUNDS = skill("money-back", "Refund a late parcel", "Open the ledger", "Call the carrier")
DEPLOY = skill("deploy", "Roll out a database migration", "Stop the workers", "Run it")


def made(kind: Kind, item_id: str, content: str | None, **given: object) -> Change:
    """Return a change to what an item says, or its deletion."""
    change = item_change(kind, item_id, item_id, content or "")
    states = {"id": f"c-{item_id}", "after": change.after if content is not None else None}
    return change.model_copy(update={**states, **given})


def was(content: str, name: str = "n") -> dict[str, object]:
    return {"before": Snapshot(content=content, name=name)}


def note(item_id: str, content: str | None, **given: object) -> Change:
    return made(Kind.MEMORY, item_id, content, **given)


def rows(item_id: str, rows: Rows, name: str = "approval", **given: object) -> Change:
    return made(Kind.DMN_RULE, item_id, table(rows, name), **given)


def folder(name: str, document: str) -> Change:
    return made(Kind.SKILL, name, document)


def term(item_id: str, name: str, content: str) -> Change:
    return made(GLOSSARY, item_id, content, after=Snapshot(content=content, name=name))


def listing(agent: str, after: str, before: str = "") -> Change:
    return made(Kind.AGENT_SKILLS, agent, after, **was(before))


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        # Two changes of one item, whatever they say, unless they contradict each other.
        (note("m", NOTE), note("m", "The office has plants"), TOUCHES),
        (note("m", NOTE), note("m", None), TOUCHES),
        (note("m", None), note("m", NOTE), TOUCHES),
        (note("m", None), note("n", None), None),
        (note("m", NOTE), note("m", "Invoices are due in 14 days"), CONTRADICTS),
        # Items of their own.
        (note("m", NOTE), note("n", "Invoices are due in 14 days"), CONTRADICTS),
        (note("m", NOTE), note("n", NOTE), RESEMBLES),
        (note("m", NOTE), note("n", "The office has plants"), None),
        (note("m", "Ms. Kim wants KRW"), note("n", "Ms. Park wants KRW"), RESEMBLES),
        (note("m", NOTE), made(Kind.DMN_RULE, "m", table({"r": ROW})), None),
        # What both say since they stand on one text is no likeness of theirs.
        (
            note("m", f"{NOTE}\nAmounts are in KRW", **was(NOTE)),
            note("n", f"{NOTE}\nThe office has plants", **was(NOTE)),
            None,
        ),
        (note("m", NOTE, **was(NOTE)), note("n", NOTE), RESEMBLES),
        # Rows for one case with another outcome, or tables of one name.
        (rows("t", {"r": ROW}), rows("u", {"s": (ROW[0], '"boss"', "x")}, "other"), CONTRADICTS),
        (rows("t", {"r": ROW}), rows("u", {"s": OTHER}), RESEMBLES),
        (rows("t", {"r": ROW}), rows("u", {"s": ROW}), RESEMBLES),
        (rows("t", {"r": ROW}), made(Kind.DMN_RULE, "u", "<broken"), None),
        (rows("t", {"r": ROW}), made(Kind.DMN_RULE, "t", "<broken"), TOUCHES),
        (
            rows("t", {"r": ROW, "x": OTHER}, **was(table({"r": ROW}))),
            rows("t", {"r": ROW, "y": ("= 7", '"x"', "z")}, **was(table({"r": ROW}))),
            TOUCHES,
        ),
        (
            rows("t", {"r": ROW}, **was(table({"r": (ROW[0], '"clerk"', "")}))),
            rows("t", {"r": (ROW[0], '"boss"', "y")}, **was(table({"r": (ROW[0], '"clerk"', "")}))),
            CONTRADICTS,
        ),
        # Skills of one name, or for one purpose.
        (folder("refund", REFUND), folder("refund", DEPLOY), TOUCHES),
        (folder("refund", REFUND), folder("money-back", REFUNDS), RESEMBLES),
        (folder("refund", REFUND), folder("deploy", DEPLOY), None),
        # Too short to be compared in their words, but the same but for the name.
        (folder("a", skill("a", "Pay")), folder("b", skill("b", "Pay")), RESEMBLES),
        # A list of the skill's own agent, or one that has the skill or had it.
        (folder("refund", REFUND), listing("a1", "deploy"), TOUCHES),
        (folder("refund", REFUND), listing("zed", "deploy\nrefund"), TOUCHES),
        (folder("refund", REFUND), listing("zed", "deploy", "refund"), TOUCHES),
        (folder("refund", REFUND), listing("zed", "deploy"), None),
        (listing("a", "deploy"), listing("a", "refund"), TOUCHES),
        (listing("a", "deploy"), listing("zed", "deploy"), None),
        (listing("a", "deploy"), folder("refund", REFUND), None),
        # What a package brings: two items of one name say one thing, or another.
        (term("g1", "SLA", "4 hours"), term("g2", "sla", "4 hours"), RESEMBLES),
        (term("g1", "SLA", "4 hours"), term("g2", "sla", "8 hours"), CONTRADICTS),
        (term("g1", "SLA", "4 hours"), term("g2", "SLO", "4 hours"), None),
        (term("g1", "SLA", "4 hours"), term("g1", "SLO", "4 hours"), TOUCHES),
    ],
)
def test_a_change_that_waits_concerns_another(
    one: Change, other: Change, relation: Relation | None
) -> None:
    found = relative_to(one, other)
    assert (found and found.relation) == relation
    if found is not None:
        assert found.change is other


def test_why_two_changes_concern_each_other_is_told() -> None:
    def why(one: Change, other: Change) -> str:
        found = relative_to(one, other)
        assert found is not None
        return found.why

    fourteen = note("n", "Invoices are due in 14 days")
    assert "30" in why(note("m", NOTE), fourteen)
    assert "14" in why(note("m", NOTE), fourteen)
    assert why(note("m", NOTE), note("n", NOTE)) != ""
    assert "same request" in why(folder("refund", REFUND), folder("money-back", REFUNDS))
    # Of rows by what explains them, else by their ids.
    boss = rows("u", {"s": (ROW[0], '"boss"', "why not"), "t": (OTHER[0], '"x"', "")})
    assert why(rows("t", {"r": ROW, "q": OTHER}), boss) == "why not; t"
    assert "sla" in why(term("g1", "SLA", "4 hours"), term("g2", "sla", "8 hours"))
    assert why(note("m", NOTE), note("m", None)) == ""


def test_contradictions_come_first_and_what_concerns_nothing_is_left_out() -> None:
    near, same = note("n1", NOTE), note("m", "The office has plants")
    against, other = note("n2", "Invoices are due in 14 days"), note("n3", "The sky is blue")
    found = relatives(note("m", NOTE), [near, other, same, against])
    assert [(one.change.target_id, one.relation) for one in found] == [
        ("n2", CONTRADICTS),
        ("m", TOUCHES),
        ("n1", RESEMBLES),
    ]
