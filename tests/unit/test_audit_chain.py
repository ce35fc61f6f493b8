"""A chain of digests tells which row was changed, taken out, put in or moved."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from core.changes.audit import GENESIS, ChainCheck, exported
from core.domain.hashing import text_hash
from core.domain.models.audit import ERASED, ChainEntry, ChainHead, Fault, Verification

Spoil = Callable[[list[ChainEntry]], object]


def entry(seq: int, before: str, kind: str = "history", **more: object) -> ChainEntry:
    contents = {"new_content": f"text {seq}"}
    salts = {name: f"{seq}{name}" for name in contents}
    digests = {name: text_hash(salts[name] + text) for name, text in contents.items()}
    facts = {"kind": kind, "id": f"row-{seq}", "tenant_id": "t", "status": "applied", **more}
    body = json.dumps({**facts, "seq": seq, "digests": digests})
    return ChainEntry(
        tenant_id="t",
        seq=seq,
        kind=kind,
        subject=f"row-{seq}",
        body=body,
        digest=text_hash(before + body),
        salts=salts,
        facts=facts,
        contents=contents,
    )


def chain(length: int = 4) -> list[ChainEntry]:
    made: list[ChainEntry] = []
    for seq in range(1, length + 1):
        made.append(entry(seq, made[-1].digest if made else GENESIS))
    return made


def verified(entries: Sequence[ChainEntry], *known: ChainHead, rows: bool = True) -> Verification:
    check = ChainCheck(known, rows=rows)
    for one in entries:
        check.see(one)
    return check.end()


def put(entries: list[ChainEntry], at: int, **update: object) -> None:
    entries[at] = entries[at].model_copy(update=update)


def cut_out(entries: list[ChainEntry]) -> None:
    del entries[2]


def swap(entries: list[ChainEntry]) -> None:
    entries[1], entries[2] = entries[2], entries[1]


def swap_under_their_numbers(entries: list[ChainEntry]) -> None:
    entries[1], entries[2] = (
        entries[2].model_copy(update={"seq": 2}),
        entries[1].model_copy(update={"seq": 3}),
    )


def forge(entries: list[ChainEntry]) -> None:
    """Write an entry anew with a digest that fits it."""
    body = entries[1].body.replace("applied", "reverted")
    put(entries, 1, body=body, digest=text_hash(entries[0].digest + body))


def whole(_: list[ChainEntry]) -> None:
    pass


def of_row(**update: object) -> Spoil:
    return lambda entries: put(entries, 1, **update)


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (whole, set()),
        (of_row(facts=None, contents=None), {(Fault.MISSING, "row-2")}),
        (of_row(contents={"new_content": "another"}), {(Fault.CHANGED, "row-2")}),
        (of_row(contents={}), {(Fault.CHANGED, "row-2")}),
        (of_row(contents={"new_content": "text 2", "error": "x"}), {(Fault.CHANGED, "row-2")}),
        (of_row(contents={"new_content": ERASED}, salts={}), {(Fault.CHANGED, "row-2")}),
        (
            of_row(facts={"kind": "history", "id": "row-2", "tenant_id": "t", "status": "failed"}),
            {(Fault.CHANGED, "row-2")},
        ),
        (of_row(body="{}"), {(Fault.CHANGED, "row-2"), (Fault.REORDERED, "row-2")}),
        (of_row(body="no JSON"), {(Fault.CHANGED, "row-2")}),
        (cut_out, {(Fault.MISSING, "row-4")}),
        (swap, {(Fault.MISSING, "row-3"), (Fault.REORDERED, "row-2")}),
        (
            swap_under_their_numbers,
            {
                (Fault.CHANGED, "row-2"),
                (Fault.REORDERED, "row-2"),
                (Fault.CHANGED, "row-3"),
                (Fault.REORDERED, "row-3"),
                (Fault.CHANGED, "row-4"),
            },
        ),
        (forge, {(Fault.CHANGED, "row-2"), (Fault.CHANGED, "row-3")}),
    ],
)
def test_what_is_not_as_it_was_chained_is_named(
    spoil: Spoil, found: set[tuple[Fault, str]]
) -> None:
    entries = chain()
    spoil(entries)
    problems = verified(entries).problems
    assert {(problem.fault, problem.subject) for problem in problems} == found


def test_a_row_that_no_entry_is_about_was_inserted() -> None:
    check = ChainCheck(rows=True)
    check.insert("t", "history", "row-9")
    (problem,) = check.end().problems
    assert (problem.fault, problem.subject) == (Fault.INSERTED, "row-9")


def test_an_end_that_was_cut_off_shows_by_a_head_from_the_log() -> None:
    *kept, last = chain()
    head = ChainHead(tenant_id="t", seq=last.seq, digest=last.digest)
    (problem,) = verified(kept, head).problems
    assert (problem.fault, problem.seq) == (Fault.MISSING, 4)
    assert not verified([*kept, last], head).problems


def test_a_chain_that_was_written_anew_shows_by_a_head_from_the_log() -> None:
    head = ChainHead(tenant_id="t", seq=2, digest=text_hash("as it was"))
    (problem,) = verified(chain(), head).problems
    assert (problem.fault, problem.seq) == (Fault.CHANGED, 2)


def test_erased_contents_verify_where_an_erasure_covers_them() -> None:
    entries = chain(2)
    put(entries, 0, contents={"new_content": ERASED}, salts={})
    covers = {"history:row-1": ["new_content"]}
    erasure = entry(3, entries[-1].digest, "erasure", covers=covers)
    found = verified([*entries, erasure])
    assert not found.problems
    assert found.erased == 1


@pytest.mark.parametrize("contents", [True, False])
def test_an_exported_file_verifies_without_the_database(contents: bool) -> None:
    lines = [json.dumps(dict(exported(one, contents=contents))) for one in chain()]
    assert not verified(read(lines), rows=False).problems
    lines[1] = lines[1].replace("text 2", "text 3").replace("applied", "failed")
    (problem, *_) = verified(read(lines), rows=False).problems
    assert problem.subject == "row-2"


def read(lines: Sequence[str]) -> list[ChainEntry]:
    return [ChainEntry.model_validate_json(line) for line in lines]


def told(found: Verification) -> list[tuple[str, str, int | None, str, dict[str, object]]]:
    """Return what was found: fault, subject, place, and the message's code with its parameters."""
    return [
        (one.fault.value, one.subject, one.seq, one.message.code, dict(one.message.parameters))  # type: ignore[attr-defined]
        for one in found.problems
    ]


def of_tenant(tenant_id: str, length: int) -> list[ChainEntry]:
    made: list[ChainEntry] = []
    for one in chain(length):
        body = one.body.replace('"tenant_id": "t"', f'"tenant_id": "{tenant_id}"')
        before = made[-1].digest if made else GENESIS
        facts = {**(one.facts or {}), "tenant_id": tenant_id}
        update = {"tenant_id": tenant_id, "body": body, "facts": facts}
        made.append(one.model_copy(update=update | {"digest": text_hash(before + body)}))
    return made


def test_each_tenant_has_a_chain_of_its_own() -> None:
    one, other = of_tenant("t", 2), of_tenant("u", 3)
    known = [ChainHead(tenant_id=t, seq=n, digest="x") for t, n in (("v", 7), ("u", 9), ("a", 1))]
    found = verified([*one, *other], *known)
    assert (found.entries, found.erased) == (5, 0)
    assert [(head.tenant_id, head.seq, head.digest) for head in found.heads] == [
        ("t", 2, one[-1].digest),
        ("u", 3, other[-1].digest),
    ]
    # Of heads that no chain comes up to each is told, by tenant.
    assert [(problem.tenant_id, problem.seq) for problem in found.problems] == [
        ("a", 1),
        ("u", 9),
        ("v", 7),
    ]
    assert told(found) == [
        ("missing", "", 1, "audit.cut", {"seq": 1, "last": 0}),
        ("missing", "", 9, "audit.cut", {"seq": 9, "last": 3}),
        ("missing", "", 7, "audit.cut", {"seq": 7, "last": 0}),
    ]


def test_a_gap_and_what_came_back_are_told_with_their_numbers() -> None:
    first, _, third, fourth, fifth = chain(5)
    found = verified([first, fourth, third, fifth])
    assert told(found) == [
        ("missing", "row-4", 4, "audit.gap", {"first": 2, "last": 3}),
        ("reordered", "row-3", 3, "audit.behind", {"seq": 3, "last": 4}),
    ]
    assert [head.seq for head in found.heads] == [5]
    again = verified([first, first])
    assert [code for *_, code, _ in told(again)] == ["audit.behind"]


def test_each_fact_that_differs_is_named_in_order() -> None:
    entries = chain(2)
    facts = {"kind": "history", "id": "row-2", "tenant_id": "t", "more": 1}
    put(entries, 1, facts=facts)
    found = verified(entries)
    assert [(code, dict(said)) for *_, code, said in told(found)] == [
        ("audit.other_fact", {"field": "more"}),
        ("audit.other_fact", {"field": "status"}),
    ]
    assert [(one.tenant_id, one.kind) for one in found.problems] == [("t", "history")] * 2
    # A file has no rows to be compared with.
    assert not verified(entries, rows=False).problems


@pytest.mark.parametrize("wrong", ["seq", "kind", "id", "tenant_id"])
def test_an_entry_that_was_moved_is_told_whatever_its_row_says(wrong: str) -> None:
    (one,) = chain(1)
    body = json.dumps({**json.loads(one.body), wrong: "x"})
    found = verified([one.model_copy(update={"body": body, "digest": text_hash(GENESIS + body)})])
    assert told(found) == [("reordered", "row-1", 1, "audit.moved", {"seq": 1})]


@pytest.mark.parametrize(
    ("contents", "salts", "code"),
    [
        ({"new_content": "text 1"}, {"new_content": "1new_content"}, ""),
        ({"new_content": "text 2"}, {"new_content": "1new_content"}, "audit.other_fact"),
        ({"new_content": "text 1"}, {"new_content": "2"}, "audit.other_fact"),
        ({"new_content": "text 1"}, {}, "audit.other_fact"),
        ({"new_content": None}, {"new_content": "1new_content"}, "audit.other_fact"),
        # What is gone with its salt was erased, which an erasure has to say.
        ({"new_content": ERASED}, {}, "audit.erased_unsaid"),
        ({"new_content": ""}, {}, "audit.erased_unsaid"),
        ({"new_content": None}, {}, "audit.erased_unsaid"),
        ({}, {}, "audit.erased_unsaid"),
        ({"new_content": ERASED}, {"new_content": "1new_content"}, "audit.other_fact"),
        (None, {}, ""),
    ],
)
def test_a_content_is_as_it_was_or_erased(
    contents: dict[str, str | None] | None, salts: dict[str, str], code: str
) -> None:
    entries = chain(1)
    put(entries, 0, contents=contents, salts=salts)
    found = verified(entries)
    assert [one[3] for one in told(found)] == ([code] if code else [])
    assert found.erased == (code == "audit.erased_unsaid")
    if code:
        assert found.problems[0].fault is Fault.CHANGED
        assert {*told(found)[0][4].values()} == {"new_content"}


@pytest.mark.parametrize(
    ("covers", "is_covered"),
    [
        ({"history:row-1": ["new_content"]}, True),
        ({"history:row-1": ["error", "new_content"], "history:row-9": ["x"]}, True),
        ({"history:row-1": ["error"]}, False),
        ({"history:row-2": ["new_content"]}, False),
        ({"feedback:row-1": ["new_content"]}, False),
        (["history:row-1"], False),
        (None, False),
    ],
)
def test_an_erasure_covers_only_what_it_names(covers: object, is_covered: bool) -> None:
    entries = chain(1)
    put(entries, 0, contents={"new_content": ERASED}, salts={})
    erasure = entry(2, entries[-1].digest, "erasure", covers=covers)
    assert (verified([*entries, erasure]).problems == ()) is is_covered
    # Only an erasure covers anything.
    other = entry(2, entries[-1].digest, "history", covers=covers)
    assert verified([*entries, other]).problems


@pytest.mark.parametrize("body", ["[1]", "no JSON", '"x"'])
def test_a_body_that_cannot_be_read_is_compared_with_nothing(body: str) -> None:
    (one,) = chain(1)
    found = verified([one.model_copy(update={"body": body, "facts": None, "contents": {}})])
    assert told(found) == [("changed", "row-1", 1, "audit.unlinked", {"seq": 1})]


def test_an_exported_entry_has_its_contents_only_if_they_are_asked_for() -> None:
    (one,) = chain(1)
    named = {"tenant_id": "t", "seq": 1, "kind": "history", "subject": "row-1"}
    bare = {**named, "body": one.body, "digest": one.digest}
    assert dict(exported(one, contents=False)) == bare
    whole = {"contents": {"new_content": "text 1"}, "salts": {"new_content": "1new_content"}}
    assert dict(exported(one, contents=True)) == {**bare, **whole}
    put(entries := [one], 0, contents=None)
    assert dict(exported(entries[0], contents=True)) == bare
