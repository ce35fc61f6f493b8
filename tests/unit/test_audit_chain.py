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
