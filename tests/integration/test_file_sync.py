"""Syncing to a folder on disk: what is ours follows what is known, what is not stays."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.adapters.files.folder import DiskFolder
from core.delivery.files.layouts import LayoutName
from core.delivery.files.record import PATH
from core.domain.errors import InvalidInput, Refused
from core.domain.models import Agent, SkillFile
from tests.support.file_sync import CLAUDE, KNOWN, MEMORIES, Target, memory, skill

MAIN, RULE = "CLAUDE.md", ".claude/knowledge/orders/승인.md"
SKILL = ".claude/skills/refund/SKILL.md"
OTHER = Agent(id="returns", tenant_id="t", name="Returns")
NOTHING = replace(KNOWN, memories=(), tables=(), skills=())


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "shop")


async def test_the_same_knowledge_is_the_same_bytes(target: Target, tmp_path: Path) -> None:
    done = await target.sync()
    assert sorted(done.written) == sorted({*target.files()} - {PATH})
    before = {path: (target.root / path).stat().st_mtime_ns for path in target.files()}
    again = await target.sync()
    assert (again.written, again.removed, again.edits) == ([], [], [])
    assert before == {path: (target.root / path).stat().st_mtime_ns for path in target.files()}
    mixed = replace(KNOWN, memories=MEMORIES[::-1])
    other = Target(tmp_path / "other")
    await other.sync(mixed)
    assert other.files() == target.files()


async def test_hand_written_text_and_files_stay_beside_ours(target: Target) -> None:
    target.write(MAIN, "# Shop\n\nUse pnpm.\n")
    target.write(".claude/skills/mine/SKILL.md", "mine")
    await target.sync()
    assert target.text(MAIN).startswith("# Shop\n\nUse pnpm.\n\n<!-- skill-worker:begin claude ")
    target.write(MAIN, target.text(MAIN) + "\nAnd this.\n")
    target.write(".claude/skills/refund/notes.md", "mine too")
    done = await target.sync(replace(KNOWN, memories=(memory("m1", "달러로 적는다", 2),)))
    assert done.written == [MAIN]
    await target.sync(NOTHING)
    assert target.files() == {
        MAIN: b"# Shop\n\nUse pnpm.\n\nAnd this.\n",
        ".claude/skills/mine/SKILL.md": b"mine",
        ".claude/skills/refund/notes.md": b"mine too",
    }


async def test_what_is_known_no_longer_goes_with_its_folders(target: Target) -> None:
    await target.sync()
    done = await target.sync(replace(KNOWN, skills=()))
    assert done.removed == [
        ".claude/skills/refund/SKILL.md",
        ".claude/skills/refund/references/x.md",
    ]
    assert not (target.root / ".claude/skills").exists()
    await target.sync(NOTHING)
    assert [*target.root.iterdir()] == []


EDITS = {
    "an entry": (MAIN, lambda text: text.replace("원화로", "달러로")),
    "an entry taken out": (MAIN, lambda text: text.replace("- [m1 v1] 원화로 적는다\n", "")),
    "a line": (MAIN, lambda text: text.replace("### Decision", "- Be kind\n\n### Decision")),
    "the block taken out": (MAIN, lambda _: "# Mine\n"),
    "a table": (RULE, lambda text: text.replace("팀장", "사장")),
    "a skill": (SKILL, lambda text: text + "More.\n"),
}


@pytest.mark.parametrize(("path", "edit"), EDITS.values(), ids=EDITS)
async def test_an_edit_by_hand_stops_all_until_it_is_decided(
    target: Target, path: str, edit: Callable[[str], str]
) -> None:
    await target.sync()
    sound = target.files()
    target.write(path, edit(target.text(path)))
    edited = target.files()
    more = replace(KNOWN, memories=(*MEMORIES, memory("m3", "new")))
    done = await target.sync(more)
    assert (done.is_held_up, [one.path for one in done.edits]) == (True, [path])
    assert target.files() == edited
    assert target.told == [*done.edits]
    assert all(one.diff for one in done.edits)
    assert not (await target.sync(overwrite=True)).is_held_up
    own = b"# Mine\n\n" if path == MAIN and "# Mine" in edited[MAIN].decode() else b""
    assert target.files() == {**sound, MAIN: own + sound[MAIN]}


async def test_an_edit_says_what_it_changes_adds_and_takes_out(target: Target) -> None:
    await target.sync()
    text = target.text(MAIN).replace("원화로", "달러로").replace("but never before ten", "at ten")
    text = text.replace("### Decision", "- Be kind\n\n### Decision")
    entry = next(line for line in text.splitlines() if line.startswith("- [r1 v1]"))
    target.write(MAIN, text.replace(f"{entry}\n", ""))
    (edit,) = (await target.sync()).edits
    assert edit.said == [
        "달러로 적는다\n\n(Edited by hand in CLAUDE.md, which said: 원화로 적는다)",
        "Ship on Fridays\nat ten\n\n(Edited by hand in CLAUDE.md, which said: Ship on Fridays\n"
        "but never before ten)",
        "Be kind\n\n(Added by hand in CLAUDE.md.)",
        f"This holds no longer, it was taken out of CLAUDE.md by hand: {entry[10:]}",
    ]


async def test_files_deleted_by_hand_come_back(target: Target) -> None:
    await target.sync()
    sound = target.files()
    for path in (MAIN, RULE, SKILL):
        (target.root / path).unlink()
    assert sorted((await target.sync()).written) == sorted((MAIN, RULE, SKILL))
    assert target.files() == sound


async def test_without_the_record_what_is_as_it_should_be_is_ours(target: Target) -> None:
    await target.sync()
    sound = target.files()
    (target.root / PATH).unlink()
    assert (await target.sync()).written == []
    assert target.files() == sound
    target.write(PATH, "{}")
    target.write(SKILL, "other")
    with pytest.raises(Refused, match="not written by a sync"):
        await target.sync()
    target.write(PATH, '{"version": 2}')
    with pytest.raises(InvalidInput, match="not the record"):
        await target.sync()


async def test_without_the_record_a_binary_file_is_found_to_be_ours(target: Target) -> None:
    bundle = skill("refund")
    files = {**bundle.files, "assets/a.png": SkillFile(data=b"\x89\xff")}
    known = replace(KNOWN, skills=(bundle.model_copy(update={"files": files}),))
    await target.sync(known)
    (target.root / PATH).unlink()
    assert (await target.sync(known)).written == []


async def test_a_skill_that_people_had_before_stays_when_it_goes(target: Target) -> None:
    for path, file in KNOWN.skills[0].files.items():
        target.write(f".claude/skills/refund/{path}", file.data.decode())
    before = target.files()
    await target.sync()
    other = replace(KNOWN, agent=OTHER)
    await target.sync(other)
    await target.sync(NOTHING)
    done = await target.sync(replace(NOTHING, agent=OTHER))
    assert SKILL not in done.removed
    assert target.files() == before
    await target.sync()
    await target.sync(replace(KNOWN, skills=(skill("refund", body="Learnt.\n", x="why"),)))
    assert SKILL in (await target.sync(NOTHING)).removed  # what was learnt does not stay


async def test_after_a_lost_record_what_is_ours_still_goes(target: Target) -> None:
    await target.sync()
    (target.root / PATH).unlink()
    await target.sync()
    await target.sync(NOTHING)
    assert [*target.root.iterdir()] == []


async def test_what_is_there_and_not_ours_is_refused_whole(target: Target) -> None:
    target.write(SKILL, "mine")
    target.write(RULE, "mine")
    before = target.files()
    with pytest.raises(Refused) as refused:
        await target.sync(overwrite=True)
    assert all(path in refused.value.message for path in (SKILL, RULE))
    assert "--prefix" in refused.value.hint
    assert target.files() == before
    await target.of(CLAUDE, "shop").sync()
    assert target.text(SKILL) == "mine"
    assert (target.root / ".claude/skills/shop-refund/SKILL.md").exists()


async def test_a_rule_with_a_head_of_its_own_is_not_taken_over(target: Target) -> None:
    cursor = target.of(LayoutName.CURSOR)
    target.write(".cursor/rules/orders.mdc", "---\nalwaysApply: true\n---\nMine.\n")
    with pytest.raises(Refused, match=r"orders\.mdc"):
        await cursor.sync()
    shop = target.of(LayoutName.CURSOR, "shop")
    await shop.sync()
    path = ".cursor/rules/shop.mdc"
    target.write(path, target.text(path) + "\nMine too.\n")
    narrowed = target.of(LayoutName.CURSOR, "shop", "src/**")
    await narrowed.sync()
    assert "globs: src/**\n" in target.text(path)
    target.write(path, target.text(path).replace("src/**", "lib/**"))
    assert [edit.path for edit in (await narrowed.sync()).edits] == [path]
    await narrowed.sync(overwrite=True)
    assert target.text(path).startswith("---\ndescription: What shop has learnt\nglobs: src/**\n")
    assert target.text(path).endswith("\nMine too.\n")


async def test_several_agents_and_tools_share_a_folder(target: Target) -> None:
    other = replace(KNOWN, agent=OTHER, memories=(memory("m9", "Be quick", 1, OTHER),))
    await target.sync()
    await target.sync(other)
    for layout in LayoutName:
        await target.of(layout).sync()
    main = target.text(MAIN)
    assert (main.count(":begin"), main.count("Be quick"), main.count("원화로")) == (2, 1, 1)
    assert target.text("AGENTS.md").count(":begin") == 1
    await target.sync(replace(NOTHING, agent=OTHER))
    assert target.text(MAIN).count(":begin") == 1
    assert target.text(SKILL)  # the first agent has it too
    newer = replace(KNOWN, skills=(skill("refund", body="Newer.\n", x="why"),))
    await target.sync(replace(newer, agent=OTHER))
    assert not (await target.sync(replace(KNOWN, skills=()))).edits
    assert "Newer." in target.text(SKILL)
    await target.sync(newer)
    stranger = Agent(id="returns", tenant_id="u", name="Returns")
    different = replace(other, agent=stranger, skills=(skill("refund", body="Otherwise.\n"),))
    with pytest.raises(Refused, match="another agent"):
        await target.sync(different)
    assert not (await target.sync(newer)).edits
    await target.of(CLAUDE, "returns").sync(different)
    assert "Otherwise." in target.text(".claude/skills/returns-refund/SKILL.md")


@pytest.mark.parametrize(
    ("link", "to"),
    [
        (MAIN, "../elsewhere"),
        (".claude", "../elsewhere"),
        (".claude/skills", "/tmp"),
        (MAIN, ".git/hooks/pre-commit"),
        (".skill-worker", "../elsewhere"),
    ],
)
async def test_a_link_out_of_the_folder_is_refused(target: Target, link: str, to: str) -> None:
    (target.root.parent / "elsewhere").mkdir()
    (target.root / link).parent.mkdir(parents=True)
    (target.root / link).symlink_to(to)
    with pytest.raises(Refused, match="leads"):
        await target.sync()
    assert [*(target.root.parent / "elsewhere").iterdir()] == []
    assert {*target.files()} == set()


async def test_a_link_within_the_folder_is_followed(target: Target) -> None:
    target.root.mkdir()
    (target.root / MAIN).symlink_to("AGENTS.md")
    await target.of(LayoutName.AGENTS_MD).sync()
    await target.sync()
    assert (target.root / MAIN).is_symlink()
    assert target.text("AGENTS.md").count(":begin") == 2
    assert (await target.of(LayoutName.AGENTS_MD).sync()).written == []


async def test_a_folder_that_cannot_be_written_is_left_as_it_was(target: Target) -> None:
    target.write(MAIN, "# Mine\n")
    target.write(".claude", "a file where a folder is to be")
    before = target.files()
    with pytest.raises(Refused, match="Not a directory"):
        await target.sync()
    assert target.files() == before
    for root in ("/proc/nothing", str(target.root / MAIN)):
        with pytest.raises(InvalidInput, match="cannot be written"):
            await replace(target, root=Path(root)).sync()


async def test_a_write_that_fails_half_way_is_undone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", "utf-8")
    folder = DiskFolder(tmp_path)
    new = SkillFile(data=b"new")
    with pytest.raises(InvalidInput, match="directory"):
        await folder.write({"a": new, "x/y": new, "x": new})
    assert (tmp_path / "a").read_text("utf-8") == "old"
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


async def test_what_is_no_text_takes_no_block(target: Target) -> None:
    target.root.mkdir()
    (target.root / MAIN).write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match="not UTF-8"):
        await target.sync()
    (target.root / MAIN).unlink()
    os.mkfifo(target.root / MAIN)
    with pytest.raises(Refused, match="no regular file"):
        await target.sync()


async def test_rights_and_executable_bits_stay(target: Target) -> None:
    target.write(MAIN, "# Mine\n")
    (target.root / MAIN).chmod(0o600)
    bundle = skill("refund")
    script = SkillFile(data=b"#!/bin/sh\n", executable=True)
    known = replace(
        KNOWN,
        skills=(bundle.model_copy(update={"files": {**bundle.files, "scripts/x.sh": script}}),),
    )
    await target.sync(known)
    assert (target.root / MAIN).stat().st_mode & 0o777 == 0o600
    assert os.access(target.root / ".claude/skills/refund/scripts/x.sh", os.X_OK)
    assert (await target.sync(known)).written == []


async def test_two_syncs_at_once_take_turns(target: Target) -> None:
    other = replace(KNOWN, agent=OTHER, memories=(memory("m9", "Be quick", 1, OTHER),))
    await asyncio.gather(*(target.sync(known) for known in (KNOWN, other) * 3))
    assert target.text(MAIN).count(":begin") == 2
    assert len(json.loads(target.text(PATH))["sources"]) == 2


def test_the_record_names_no_path_outside(target: Target) -> None:
    evil = {"claude t/orders": {"../elsewhere": {"sha256": "x", "key": "SKILL a"}}}
    target.write(PATH, json.dumps({"version": 1, "sources": evil}))
    with pytest.raises(Refused, match="leads out"):
        asyncio.run(target.sync())
