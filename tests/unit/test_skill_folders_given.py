"""Whole folders taken unchanged, edits of the current state, and documents of any size."""

from __future__ import annotations

import pytest

from core.agent.skill_author import SkillAuthorModel
from core.changes.gate.change_gate import ChangeGate
from core.domain.models import (
    SKILL_MD,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillFile,
    SkillRequest,
)
from core.learning_committers.base import CommitDeps
from core.learning_committers.skill_committer import commit_to_skill
from core.testing.scripted_model import ScriptedChatModel, calls
from core.testing.stores import MemoryReplies, MemoryRuns
from tests.support.breaker import SimpleBreaker
from tests.support.skills import REFUND, World

DOCUMENT = b"\xef\xbb\xbf---\r\nname: tax\r\ndescription: d\r\nhooks: {}\r\n---\r\n# T\r\n\r\nx"
FOLDER = {
    SKILL_MD: SkillFile(data=DOCUMENT),
    "LICENSE": SkillFile(data=b""),
    "assets/logo.png": SkillFile(data=b"\x89PNG\xff"),
    "tools/run": SkillFile(data=b"\x7fELF", executable=True),
}
Files = dict[str, SkillFile]


async def given(
    world: World, folder: Files, key: str = "k", *, target_id: str | None = None, **more: object
) -> Receipt:
    operation = Operation.UPDATE if more.pop("update", False) else Operation.CREATE
    request = SkillRequest.model_validate(
        {"operation": operation, "target_id": target_id, "folder": folder, **more}
    )
    deps: CommitDeps = world.deps(key)
    assert isinstance(deps.gate, ChangeGate)
    return await deps.gate.submit(request, deps.context)


async def test_a_folder_is_taken_as_it_is() -> None:
    world = World()
    receipt = await given(world, FOLDER)
    assert receipt.status is ReceiptStatus.APPLIED
    assert receipt.target_id == "tax"
    assert world.store.skills["t", "tax"].files == FOLDER
    assert not world.author.asked
    assert (await world.agents.get("t", "a")).skills == ("tax",)


async def test_a_taken_name_is_refused_and_an_update_replaces_the_whole_folder() -> None:
    world = World()
    await given(world, FOLDER)
    refused = await given(world, FOLDER | {"new": SkillFile(data=b"x")}, "2")
    assert refused.status is ReceiptStatus.REFUSED
    assert refused.hits[0].id == "tax"
    less = {SKILL_MD: FOLDER[SKILL_MD], "references/a.md": SkillFile(data=b"# A\n")}
    receipt = await given(world, less, "3", update=True, target_id="tax")
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.store.skills["t", "tax"].files == less
    assert any("binary files would be lost" in said for said in receipt.warnings)
    await world.gate.revert(receipt.change_id or "", "wrong folder")
    assert world.store.skills["t", "tax"].files == FOLDER


@pytest.mark.parametrize(
    ("folder", "target", "said"),
    [
        ({}, None, "no SKILL.md at the root"),
        ({SKILL_MD: SkillFile(data=b"no head")}, "tax", "frontmatter"),
        (FOLDER | {"../up": SkillFile(data=b"x")}, None, "leaves its folder"),
        (FOLDER, "other", "named 'tax', not 'other'"),
        ({SKILL_MD: SkillFile(data=DOCUMENT.replace(b"tax", b"Tax!"))}, None, "hyphen-case"),
    ],
)
async def test_a_folder_that_breaks_a_rule_is_refused(
    folder: Files, target: str | None, said: str
) -> None:
    world = World()
    receipt = await given(world, folder, target_id=target)
    assert receipt.status is ReceiptStatus.REFUSED
    assert said in receipt.message
    assert not world.store.skills


async def test_what_a_given_folder_points_to_in_vain_is_a_warning() -> None:
    folder = FOLDER | {"references/a.md": SkillFile(data=b"scripts/gone.py\n")}
    receipt = await given(World(), folder)
    assert receipt.status is ReceiptStatus.APPLIED
    assert "references/a.md:1 refers to 'scripts/gone.py', which does not exist" in receipt.warnings


def edit_call(heading: str) -> object:
    edit = {"op": "insert_section", "heading": heading, "text": "승인을 받는다"}
    return calls(("SkillEdits", {"edits": [edit]}))


async def test_edits_that_no_longer_fit_go_back_to_the_model_with_the_state() -> None:
    world = World()
    await world.create()
    model = ScriptedChatModel([edit_call("절차"), edit_call("순서")])  # type: ignore[list-item]
    replies = MemoryReplies()
    author = SkillAuthorModel(model, SimpleBreaker(), replies, MemoryRuns())
    renamed = World(store=world.store)
    write = author.write

    async def moved(*args: object, **given: object) -> object:
        answer = await write(*args, **given)  # type: ignore[arg-type]
        if len(model.seen) == 1:  # someone else renames the heading meanwhile
            bundle = world.store.skills["t", "partial-refund"]
            data = bundle.document.replace("## 절차", "## 순서").encode()
            files = {**bundle.files, SKILL_MD: SkillFile(data=data)}
            world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
        return answer

    renamed.author.write = moved  # type: ignore[method-assign,assignment]
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=renamed.deps("u")
    )
    assert receipt.status is ReceiptStatus.APPLIED
    assert len(model.seen) == 2
    assert "## 절차" in model.seen[0][1].text
    assert "## 순서" in model.seen[1][1].text
    assert len({key for key, _ in replies.stored}) == 2
    assert "## 순서\n\n1. 금액을 확인한다\n\n승인을 받는다\n" in renamed.files()[SKILL_MD].decode()


@pytest.mark.parametrize(
    "place", [SKILL_MD, pytest.param("references/big.md", marks=pytest.mark.nightly)]
)
async def test_two_million_characters_in_one_line_are_edited_around(place: str) -> None:
    line = "가나다 `code` [링크](references/fees.md) *굵게* " * 50_000
    text = f"# 큰 글\n\n{line}\n\n## 끝\n\n- 하나"
    world = World(
        [SkillEdits(edits=(SkillEdit(op="append_item", heading="끝", path=place, text="둘"),))]
    )
    await world.create()
    bundle = world.store.skills["t", "partial-refund"]
    head = bundle.document[: bundle.document.index("---\n", 4) + 4] if place == SKILL_MD else ""
    files = {**bundle.files, place: SkillFile(data=(head + text).encode())}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    receipt = await commit_to_skill(
        "a",
        operation=Operation.UPDATE,
        skill_id="partial-refund",
        merge_mode=MergeMode.EXTEND,
        deps=world.deps("u"),
    )
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    assert world.files()[place].decode() == f"{head}{text}\n- 둘\n"


LONG = "- a\n" * 500_000
TOO_LONG = "- a\n" * 20_000


async def with_long(place: str, text: str = LONG) -> World:
    world = World([SkillEdits(edits=(SkillEdit(op="insert_section", path=place, text="글"),))] * 3)
    await world.create()
    bundle = world.store.skills["t", "partial-refund"]
    head = bundle.document if place == SKILL_MD else ""
    files = {**bundle.files, place: SkillFile(data=(head + text).encode())}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    return world


@pytest.mark.parametrize(("place", "asked"), [(SKILL_MD, 0), ("references/big.md", 3)])
async def test_a_text_of_half_a_million_lines_is_refused_and_kept(place: str, asked: int) -> None:
    world = await with_long(place)
    before = world.files()
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("u")
    )
    assert receipt.status is not ReceiptStatus.APPLIED
    assert "more than 10,000 lines" in receipt.message
    assert world.files() == before
    assert len(world.author.asked) == asked


async def test_what_is_too_long_is_replaced_and_its_neighbours_are_edited() -> None:
    world = await with_long("references/big.md", TOO_LONG)
    world.author.answers = [
        SkillEdits(edits=(SkillEdit(op="insert_section", heading="절차", text="2. 승인"),))
    ]
    beside = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("u")
    )
    assert beside.status is ReceiptStatus.APPLIED, beside.message
    world = await with_long(SKILL_MD, TOO_LONG)
    whole = await commit_to_skill(
        "a", REFUND, Operation.UPDATE, "partial-refund", deps=world.deps("w")
    )
    assert whole.status is ReceiptStatus.APPLIED, whole.message
    assert any("was not compared" in said for said in whole.warnings)
