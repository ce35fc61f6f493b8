"""What is put beside what an item knows by now: rows, lines and sections, each as it was meant."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.changes.merging import NotMergeable, folder_onto, overriding, rows_onto
from core.changes.three_way_merge import State
from core.decision_table import to_xml
from core.domain.models import (
    SKILL_MD,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
    RowEdit,
    RuleDraft,
    SkillFile,
)

Rows = Mapping[str, tuple[str, str, str]]
BASE: Rows = {"r1": ("> 100", '"lead"', "large"), "r2": ("<= 100", '"clerk"', "small")}


def table(
    rows: Rows, name: str = "approval", policy: HitPolicy = HitPolicy.UNIQUE, more: str = ""
) -> str:
    """Return a table of rows: a condition, an outcome and a remark."""
    inputs = [InputColumn(name="amount", type="number")]
    inputs += [InputColumn(name=more)] if more else []
    made = tuple(
        DecisionRow(
            id=row_id, inputs=(test, '"x"')[: len(inputs)], outputs=(out,), annotation=remark
        )
        for row_id, (test, out, remark) in rows.items()
    )
    outputs = (OutputColumn(name="who"),)
    return to_xml(
        DecisionTable(
            name=name, hit_policy=policy, inputs=tuple(inputs), outputs=outputs, rows=made
        ),
        decision_id="d",
    )


def onto(before: Rows | None, after: Rows, now: Rows) -> tuple[RuleDraft, list[str]]:
    draft, clashing = rows_onto(
        table(before) if before is not None else None, table(after), table(now)
    )
    return draft, list(clashing)


def edit(row_id: str | None, test: str = "", out: str = "", remark: str = "") -> RowEdit:
    return RowEdit(
        id=row_id,
        inputs={"amount": test} if test else {},
        outputs={"who": out} if out else {},
        annotation=remark,
    )


def test_a_cell_that_was_edited_goes_onto_the_row_as_it_is_now() -> None:
    after = {**BASE, "r1": ("> 100", '"boss"', "large")}
    now = {**BASE, "r1": ("> 200", '"lead"', "large")}
    draft, clashing = onto(BASE, after, now)
    assert draft == RuleDraft(rows=(edit("r1", "", '"boss"', "large"),))
    assert clashing == []


@pytest.mark.parametrize(
    ("mine", "theirs", "made", "clashes"),
    [
        # Who has set the outcome has also said why.
        (("> 100", '"boss"', "mine"), ("> 100", '"lead"', "theirs"), ("", '"boss"', "mine"), False),
        (
            ("> 300", '"lead"', "mine"),
            ("> 100", '"lead"', "theirs"),
            ("> 300", "", "theirs"),
            False,
        ),
        (("> 300", '"lead"', "mine"), ("> 100", '"lead"', "large"), ("> 300", "", "mine"), False),
        # What says something else by now is overridden, and named.
        (("> 100", '"boss"', "mine"), ("> 100", '"board"', "x"), ("", '"boss"', "mine"), True),
        (("> 300", '"lead"', "mine"), ("> 200", '"lead"', "x"), ("> 300", "", "x"), True),
        # What says the same by now needs no edit.
        (("> 100", '"boss"', "mine"), ("> 100", '"boss"', "x"), None, False),
    ],
)
def test_an_edit_of_a_row_meets_another_edit_of_it(
    mine: tuple[str, str, str],
    theirs: tuple[str, str, str],
    made: tuple[str, str, str] | None,
    clashes: bool,
) -> None:
    draft, clashing = onto(BASE, {**BASE, "r1": mine}, {**BASE, "r1": theirs})
    assert draft.rows == (() if made is None else (edit("r1", *made),))
    assert clashing == (["r1"] if clashes else [])


def test_a_row_that_somebody_removed_is_said_anew_and_named() -> None:
    after = {**BASE, "r1": ("> 100", '"boss"', "mine")}
    draft, clashing = onto(BASE, after, {"r2": BASE["r2"]})
    assert draft.rows == (edit(None, "> 100", '"boss"', "mine"),)
    assert clashing == ["r1"]


@pytest.mark.parametrize(
    ("now", "removed", "clashing"),
    [
        (BASE, ("r1",), []),
        ({**BASE, "r1": ("> 100", '"board"', "large")}, ("r1",), ["r1"]),
        ({"r2": BASE["r2"]}, (), []),
    ],
)
def test_a_row_is_removed_where_it_still_stands(
    now: Rows, removed: tuple[str, ...], clashing: list[str]
) -> None:
    draft, named = onto(BASE, {"r2": BASE["r2"]}, now)
    assert (draft.rows, draft.remove_rows, named) == ((), removed, clashing)


@pytest.mark.parametrize("before", [None, {}])
def test_rows_of_another_table_are_put_beside_those_that_are_there(before: Rows | None) -> None:
    new = {
        "n1": ("> 100", '"lead"', "the same"),
        "n2": ("<=100", '"boss"', "otherwise"),
        "n3": ("= 500", '"board"', "an exception"),
    }
    draft, clashing = onto(before, new, BASE)
    assert draft.rows == (
        edit("r2", "", '"boss"', "otherwise"),
        edit(None, "= 500", '"board"', "an exception"),
    )
    assert (draft.name, draft.inputs, draft.remove_rows) == ("", (), ())
    assert clashing == ["r2"]


def test_columns_that_a_table_lacks_come_along() -> None:
    draft, _ = rows_onto(None, table({"n": ("= 7", '"a"', "")}, more="region"), table(BASE))
    assert [column.name for column in draft.inputs] == ["region"]
    assert draft.outputs == ()
    assert draft.rows[0].inputs == {"amount": "= 7", "region": '"x"'}


def test_the_name_and_the_way_to_decide_are_set_where_an_edit_set_them() -> None:
    draft, _ = rows_onto(table(BASE), table(BASE, "orders", HitPolicy.ANY), table(BASE, "other"))
    assert (draft.name, draft.hit_policy, draft.rows) == ("orders", HitPolicy.ANY, ())
    same, _ = rows_onto(table(BASE), table(BASE), table(BASE, "other", HitPolicy.ANY))
    assert (same.name, same.hit_policy) == ("", None)


def test_two_tables_that_decide_in_different_ways_are_not_put_together() -> None:
    with pytest.raises(NotMergeable):
        rows_onto(None, table(BASE, policy=HitPolicy.ANY), table(BASE))


KRW, USD = "Ms. Kim wants amounts in KRW", "Ms. Kim wants amounts in USD"
OTHER = "Reports are sent on Mondays"


@pytest.mark.parametrize(
    ("new", "known", "judged", "made"),
    [
        (OTHER, KRW, (), ""),
        (f"{KRW}", f"{OTHER}\n{OTHER} too", (), ""),
        ("Reports are never sent on Mondays", OTHER, (), "Reports are never sent on Mondays"),
        (
            "Reports are never sent on Mondays", f"{KRW}\n{OTHER}\n{USD}", (),
            f"{KRW}\nReports are never sent on Mondays\n{USD}",
        ),
        ("Reports are never sent on Mondays", f"{OTHER}\n{KRW}\n{OTHER}.", (),
         f"Reports are never sent on Mondays\n{KRW}"),
        ("Reports are never sent on Mondays", OTHER, (OTHER,), ""),
        ("Reports are never sent on Mondays", f"{KRW}\n{OTHER}", (OTHER,), ""),
    ],
)  # fmt: skip
def test_a_text_takes_the_place_of_the_lines_that_it_contradicts(
    new: str, known: str, judged: tuple[str, ...], made: str
) -> None:
    text, why = overriding(new, known, judged)
    assert text == made
    assert bool(why) is bool(made)


HEAD = "---\nname: refund\ndescription: Refunds\n---\n"


def skill(body: str, **files: str) -> State:
    found = {f"{name}.md": SkillFile(data=text.encode()) for name, text in files.items()}
    return State(HEAD + body, "refund", found, runs=True)


def united(new: State, now: State) -> tuple[str, dict[str, str]]:
    made = dict(folder_onto(new, now))
    document = made.pop(SKILL_MD)
    assert document.executable
    text = document.data.decode()
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD), {path: file.data.decode() for path, file in made.items()}


def test_a_skill_gets_the_sections_and_files_that_it_lacks() -> None:
    new = skill("# Another\n\n## Steps\n\nLook.\n\n## Later\n\nCall.\n", a="# A\n", b="# B\n")
    now = skill("# Refund\n\n## Steps\n\nLook.\n", a="# A\n", c="# C\n")
    body, files = united(new, now)
    assert body == "# Refund\n\n## Steps\n\nLook.\n\n## Later\n\nCall.\n"
    assert files == {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}


def test_what_is_known_already_adds_nothing() -> None:
    now = skill("# Refund\n\nIntro.\n\n## Steps\n\nLook.\n")
    assert united(skill("# R\n\nIntro.\n## Steps\nLook.\n"), now)[0] == now.text.removeprefix(HEAD)


def test_sections_of_a_common_file_are_put_together_too() -> None:
    new, now = skill("# R\n", a="# A\n\n## Two\n\n2\n"), skill("# R\n", a="# A\n\n## One\n\n1\n")
    assert united(new, now)[1] == {"a.md": "# A\n\n## One\n\n1\n\n## Two\n\n2\n"}


def test_subsections_of_one_name_under_two_headings_are_two() -> None:
    now = skill("## A\n\n### Steps\n\nLook.\n\n## B\n\n### Steps\n\nCall.\n")
    new = skill("## B\n\n### Steps\n\nCall.\n\n## C\n\n### Steps\n\nWait.\n")
    body, _ = united(new, now)
    assert body.count("### Steps") == 3
    assert body.endswith("## C\n\n### Steps\n\nWait.\n")


@pytest.mark.parametrize(
    ("new", "now"),
    [
        (skill("## Steps\n\nLook.\n"), skill("## Steps\n\nCall.\n")),
        (skill("# R\n\nIntro.\n"), skill("# R\n\nAnother.\n")),
        (skill("# R\n", a="## A\n\n1\n"), skill("# R\n", a="## A\n\n2\n")),
    ],
)
def test_what_says_something_else_in_one_place_is_not_put_together(new: State, now: State) -> None:
    with pytest.raises(NotMergeable):
        folder_onto(new, now)


@pytest.mark.parametrize("path", ["a.py", "b.md"])
def test_files_that_are_no_texts_are_not_put_together(path: str) -> None:
    one, other = ({path: SkillFile(data=data)} for data in (b"\xff1", b"\xff2"))
    with pytest.raises(NotMergeable):
        folder_onto(State(HEAD, "refund", one), State(HEAD, "refund", other))
    same = folder_onto(State(HEAD, "refund", one), State(HEAD, "refund", one))
    assert same[path].data == b"\xff1"
