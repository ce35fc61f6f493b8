"""What becomes of an item that source and target say differently, by the origin of both."""

from __future__ import annotations

import pytest

from core.changes.promotion.plan import Origin, Standing, Step, decide, hash_of, request_of
from core.changes.three_way_merge import State
from core.domain.models import Kind, MemoryRequest, Operation, Reach, Scope, SkillFile, SkillRequest
from tests.support.rules import learnt, row

HEAD = "---\nname: s\ndescription: d\n---\n"


def memory(text: str, **reach: object) -> State:
    return State(text, text[:10], reach=Reach.model_validate(reach))


def skill(body: str, **files: str) -> State:
    return State(
        HEAD + body, "s", {path: SkillFile(data=text.encode()) for path, text in files.items()}
    )


def table(*cells: tuple[str, str]) -> State:
    return State(learnt(*(row(test, outcome) for test, outcome in cells)).xml, "t")


def decided(kind: Kind, ours: State, there: State | None, origin: Origin) -> Step:
    step = Step(kind, "x", "x", Standing.SAME, hash_of(ours), there, there)
    return decide(step, ours, origin)


def since(state: State | None) -> Origin:
    return Origin(state, is_known=True)


A, B, C = memory("a\n"), memory("b\n"), memory("c\n")


@pytest.mark.parametrize(
    ("there", "origin", "standing", "after"),
    [
        (None, since(None), Standing.NEW, B),
        (A, since(A), Standing.CHANGED, B),
        (C, since(B), Standing.KEPT, C),
        (None, since(B), Standing.KEPT, None),
        (None, since(A), Standing.CONFLICT, B),
        (C, since(A), Standing.CONFLICT, B),
        (C, since(None), Standing.CONFLICT, B),
        (C, Origin(), Standing.CONFLICT, B),
        (None, Origin(), Standing.CONFLICT, B),
    ],
)
def test_what_only_one_side_has_changed_stands(
    there: State | None, origin: Origin, standing: Standing, after: State | None
) -> None:
    made = decided(Kind.MEMORY, B, there, origin)
    assert (made.standing, made.after) == (standing, after)
    assert bool(made.why) == (standing not in {Standing.NEW, Standing.CHANGED})


def test_lines_rows_files_and_reach_of_both_sides_are_merged() -> None:
    until = memory("one\ntwo\nthree\n", scope=Scope.TENANT)
    made = decided(Kind.MEMORY, until, memory("one\ntwo\n3\n"), since(memory("one\ntwo\nthree\n")))
    assert made.standing is Standing.MERGED
    assert made.after is not None
    assert (made.after.text, made.after.reach.scope) == ("one\ntwo\n3\n", Scope.TENANT)
    rows = [("> 10", "팀장"), ("<= 10", "없음")]
    edited = table(("> 10", "이사"), rows[1])
    there = table(rows[0], ("<= 10", "본인"))
    both = decided(Kind.DMN_RULE, edited, there, since(table(*rows)))
    assert both.standing is Standing.MERGED
    assert both.after is not None
    assert "이사" in both.after.text
    assert "본인" in both.after.text
    folder = decided(
        Kind.SKILL,
        skill("x\n", **{"a.md": "1"}),
        skill("x\n", **{"b.md": "2"}),
        since(skill("x\n")),
    )
    assert folder.after == skill("x\n", **{"a.md": "1", "b.md": "2"})


def test_the_same_row_or_file_changed_on_both_sides_is_a_conflict() -> None:
    rows = [("> 10", "팀장"), ("<= 10", "없음")]
    ours, there = table(("> 10", "이사"), rows[1]), table(("> 10", "사장"), rows[1])
    assert decided(Kind.DMN_RULE, ours, there, since(table(*rows))).standing is Standing.CONFLICT
    gone = decided(
        Kind.SKILL,
        skill("x\n", **{"a.md": "new"}),
        skill("x\n"),
        since(skill("x\n", **{"a.md": "old"})),
    )
    assert gone.standing is Standing.CONFLICT


def test_a_conflict_is_asked_for_with_why_it_must_wait() -> None:
    made = decided(Kind.MEMORY, B, C, since(A))
    asked = request_of(made, "r")
    assert isinstance(asked, MemoryRequest)
    assert (asked.operation, asked.content, asked.must_wait) == (Operation.UPDATE, "b\n", made.why)
    plain = request_of(decided(Kind.MEMORY, B, A, since(A)), "r")
    assert plain.must_wait == ""
    gone = Step(Kind.SKILL, "s", "s", Standing.ONLY_IN_TARGET, "absent", skill("x\n"), None)
    deletion = request_of(Step(**{**vars(gone), "is_deleted": True}), "r")
    assert isinstance(deletion, SkillRequest)
    assert deletion.operation is Operation.DELETE
