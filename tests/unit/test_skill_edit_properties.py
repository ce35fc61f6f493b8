"""Any sequence of edits: what none of them names keeps its bytes, and a revert restores all."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import ArtifactInvalid
from core.domain.models import (
    SKILL_MD,
    Bundle,
    MergeMode,
    Operation,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillFile,
)
from core.learning_committers.skill_committer import commit_to_skill
from core.skills.document.edits import apply_edits
from core.skills.document.markdown import headings, lines_of
from tests.support.skills import World

HEADS = (
    "---\nname: partial-refund\ndescription: 환불\nallowed-tools: [Read, Bash]\n---\n",
    "\ufeff---\n# ours\nname: partial-refund\ndescription: >-\n  환불\n  정산\nmodel: opus\n"
    "hooks:\n  stop:\n    - run: x\nmetadata: {team: ops}\n---\n",
    '---\nname: partial-refund\ndescription: "환불: 정산"\ncontext: fork\npaths:\n  - a/**\n'
    "arguments: |\n  one\n  two\n---\n",
)
BLOCKS = (
    "한 문단이다.  \n두 번째 줄\t",
    "- 하나\n- 둘\n  - 안쪽",
    "1. 하나\n\n2. 둘",
    "```sh\n# 제목이 아니다\nrun --all\n```",
    "~~~\n## 아니다\n~~~",
    "<div>\n\n*html*\n\n</div>",
    "<!-- ## 아니다\n-->",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "> ## 인용\n> 글",
    "    들여 쓴 코드",
    "[링크](https://example.com) 와 `코드`",
    "- [ ] 할 일",
)
NEWLINES = ("\n", "\r\n", "\r")
BINARY = SkillFile(data=b"\x89PNG\r\n\x00\xff")
SCRIPT = SkillFile(data=b"#!/bin/sh\r\necho\n", executable=True)

sections = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.booleans(),
        st.lists(st.sampled_from(BLOCKS), max_size=3),
        st.sampled_from(NEWLINES),
    ),
    min_size=1,
    max_size=7,
)


def section(number: int, level: int, setext: bool, blocks: list[str], newline: str) -> str:
    title = f"{'단원' if number % 2 else 'Part'} {number}"
    heading = f"{'#' * level} {title}"
    if setext and level <= 2:
        heading = f"{title}\n{'=-'[level - 1] * 3}"
    return "\n\n".join([heading, *blocks, ""]).replace("\n", newline)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[str], list[int]]:
    """A head, sections and their levels; joined the parts are the document."""
    made = draw(sections)
    head = draw(st.sampled_from(HEADS))
    head = draw(st.sampled_from([head, head.replace("\n", "\r\n")]))
    parts = [section(number, *part) for number, part in enumerate(made)]
    if draw(st.booleans()):
        parts[-1] = parts[-1].rstrip("\r\n")
    return head, parts, [part[0] for part in made]


edits = st.lists(
    st.tuples(
        st.sampled_from(["replace_section", "insert_section", "append_item"]),
        st.integers(0, 6),
        st.sampled_from(BLOCKS),
    ),
    max_size=5,
)


def below(levels: list[int], number: int) -> set[int]:
    """A section and its subsections."""
    end = number + 1
    while end < len(levels) and levels[end] > levels[number]:
        end += 1
    return set(range(number, end))


def named(number: int) -> str:
    return f"{'단원' if number % 2 else 'Part'} {number}"


def of(document: str) -> Bundle:
    files = {SKILL_MD: SkillFile(data=document.encode()), "assets/a.png": BINARY}
    return Bundle(name="partial-refund", files={**files, "scripts/run.sh": SCRIPT})


@given(made=documents(), asked=edits)
def test_sections_and_files_that_no_edit_names_keep_their_bytes(
    made: tuple[str, list[str], list[int]], asked: list[tuple[str, int, str]]
) -> None:
    head, parts, levels = made
    bundle, touched = of(head + "".join(parts)), set[int]()
    for op, number, text in asked:
        number %= len(parts)
        edit = SkillEdit.model_validate({"op": op, "heading": named(number), "text": text})
        try:
            bundle = apply_edits(bundle, SkillEdits(edits=(edit,)))
        except ArtifactInvalid:
            continue  # refused: no such list, or gone with the section above; nothing changes
        touched |= below(levels, number) if op == "replace_section" else {number}
    after = bundle.document
    assert after.startswith(head)
    rest = after[len(head) :]
    for number, part in enumerate(parts):
        if number in touched:
            continue
        kept = part.rstrip("\r\n")
        place = rest.find(kept)
        assert place >= 0, (number, kept)
        rest = rest[place + len(kept) :]
    titles = [heading.text for heading in headings(after[len(head) :].lstrip("\ufeff"))]
    assert {named(number) for number in range(len(parts)) if number not in touched} <= set(titles)
    assert bundle.files["assets/a.png"] == BINARY
    assert bundle.files["scripts/run.sh"] == SCRIPT


@given(made=documents(), number=st.integers(0, 6), text=st.sampled_from(BLOCKS))
def test_a_replaced_section_keeps_every_byte_outside_it(
    made: tuple[str, list[str], list[int]], number: int, text: str
) -> None:
    head, parts, levels = made
    number %= len(parts)
    edit = SkillEdit(op="replace_section", heading=named(number), text=text)
    bundle = of(head + "".join(parts))
    try:
        after = apply_edits(bundle, SkillEdits(edits=(edit,))).files
    except ArtifactInvalid:
        return
    own = lines_of(parts[number])
    title = "".join(own[: headings(parts[number])[0].after]).rstrip("\r\n")
    above = "".join([head, *parts[:number], title])
    below_it = "".join(parts[max(below(levels, number)) + 1 :])
    changed = after[SKILL_MD].data.decode()
    assert changed.startswith(above)
    assert changed.endswith(below_it)
    assert len(changed) > len(above) + len(below_it)
    assert {**after, SKILL_MD: None} == {**bundle.files, SKILL_MD: None}


@given(made=documents(), number=st.integers(0, 6), text=st.sampled_from(BLOCKS))
def test_an_insertion_only_adds(
    made: tuple[str, list[str], list[int]], number: int, text: str
) -> None:
    head, parts, _ = made
    before = head + "".join(parts)
    edit = SkillEdit(op="insert_section", heading=named(number % len(parts)), text=text)
    try:
        after = apply_edits(of(before), SkillEdits(edits=(edit,))).document
    except ArtifactInvalid:
        return
    start = next(
        (index for index, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        len(before),
    )
    added = len(after) - len(before)
    assert any(
        after[:place] + after[place + added :] == before
        for place in range(max(0, start - added), start + 1)
    )


@given(made=documents(), asked=edits, drop=st.booleans())
def test_apply_and_revert_through_the_gate_restore_the_bytes(
    made: tuple[str, list[str], list[int]], asked: list[tuple[str, int, str]], drop: bool
) -> None:
    head, parts, _ = made
    base = of(head + "".join(parts))
    listed = [
        SkillEdit.model_validate({"op": op, "heading": named(number % len(parts)), "text": text})
        for op, number, text in asked
    ]
    listed.append(SkillEdit(op="put_file", path="scripts/run.sh", text="#!/bin/sh\nnew\n"))
    listed += [SkillEdit(op="delete_file", path="assets/a.png")] if drop else []
    asyncio.run(_applied_and_reverted(base, SkillEdits(edits=tuple(listed))))


async def _applied_and_reverted(base: Bundle, asked: SkillEdits) -> None:
    world = World([asked] * 3)
    world.store.skills["t", base.name] = base
    receipt = await commit_to_skill(
        "a",
        operation=Operation.UPDATE,
        skill_id=base.name,
        merge_mode=MergeMode.REPLACE,
        deps=world.deps("u"),
    )
    if receipt.status is not ReceiptStatus.APPLIED:
        assert world.store.skills["t", base.name] == base
        return
    assert world.store.skills["t", base.name] != base
    await world.gate.revert(receipt.change_id or "", "not wanted")
    assert world.store.skills["t", base.name] == base
