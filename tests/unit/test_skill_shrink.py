"""Updates do not silently shrink a skill: losses go back to the author by name."""

from __future__ import annotations

import pytest

from core.domain.models import (
    SKILL_MD,
    Bundle,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillArtifact,
    SkillEdit,
    SkillEdits,
    SkillFile,
)
from core.learning_committers.skill_committer import commit_to_skill
from core.learning_committers.skill_folders import SkillLimits
from core.skills.document.shrink import losses, surviving
from tests.support.skills import World

HEAD = "---\nname: partial-refund\ndescription: 부분 환불을 정산한다\nallowed-tools: Read\n---\n"
BODY = "# 환불\n\n## 절차\n\n1. 금액을 확인한다\n\n```sh\nreconcile --all\n```\n\n## 예외\n\n없음\n"


def skill(document: str = HEAD + BODY, **files: bytes) -> Bundle:
    named = {path: SkillFile(data=data) for path, data in files.items()}
    return Bundle(
        name="partial-refund", files={SKILL_MD: SkillFile(data=document.encode()), **named}
    )


def lost(before: Bundle, after: Bundle, mode: MergeMode = MergeMode.REFINE) -> str:
    return "; ".join(losses(before, after, mode, 20))


def long_document(lines: int) -> str:
    """Return a skill of that many lines, with a section and a code block every forty."""
    body = [
        f"## 단원 {number // 40}\n" if number % 40 == 0 else
        "```sh" if number % 40 == 10 else "```" if number % 40 == 12 else
        f"{number}. 항목을 {number}번 규칙에 따라 확인하고 결과를 적는다"
        for number in range(lines)
    ]  # fmt: skip
    return HEAD + "\n".join(body) + "\n"


async def updated(
    world: World, merge_mode: MergeMode | None = None, *, artifact: SkillArtifact | None = None
) -> Receipt:
    return await commit_to_skill(
        "a",
        artifact,
        Operation.UPDATE,
        "partial-refund",
        merge_mode=merge_mode,
        deps=world.deps("u"),
    )


@pytest.mark.parametrize(("new", "shared"), [("aaacc", 3), ("aaccc", 0), ("aaaac", 3)])
def test_what_shares_six_letters_in_ten_is_the_same_passage(new: str, shared: int) -> None:
    assert surviving(["aaabb"], [new]) == [shared]


async def test_a_long_skill_is_not_rewritten_to_a_stub() -> None:
    base = skill(long_document(807))
    stub = SkillEdit(op="put_file", text=long_document(186))
    fits = SkillEdit(op="insert_section", heading="단원 3", text="새로 배운 항목")
    world = World([SkillEdits(edits=(stub,)), SkillEdits(edits=(fits,))])
    world.store.skills["t", "partial-refund"] = base
    receipt = await updated(world, MergeMode.REFINE)
    assert receipt.status is ReceiptStatus.APPLIED
    told = "; ".join(world.author.told[1])
    lines = len(base.document.splitlines())
    assert f"% of SKILL.md would be gone, and 20 % may be: {lines} lines" in told
    assert "headings would be gone: '단원 5', '단원 6'" in told
    assert "code blocks would be gone" in told
    assert "only merge_mode REPLACE may drop" in told
    after = world.files()[SKILL_MD].decode()
    assert after.replace("\n새로 배운 항목\n\n", "", 1) == base.document


async def test_an_author_that_insists_on_the_stub_changes_nothing() -> None:
    stub = SkillArtifact(name="x", description="d", body_markdown="# 짧게\n\n줄인 글\n")
    world = World([stub] * 3)
    world.store.skills["t", "partial-refund"] = skill()
    receipt = await updated(world)
    assert receipt.status is ReceiptStatus.FAILED
    assert "REPLACE" in receipt.message
    assert world.store.skills["t", "partial-refund"] == skill()


@pytest.mark.parametrize("mode", [MergeMode.REPLACE, None])
async def test_what_replaces_may_drop_but_says_so(mode: MergeMode | None) -> None:
    stub = SkillArtifact(name="x", description="d", body_markdown="# 짧게\n\n줄인 글\n")
    world = World()
    world.store.skills["t", "partial-refund"] = skill()
    receipt = await updated(world, mode, artifact=stub)
    assert receipt.status is ReceiptStatus.APPLIED
    assert any("REPLACE: headings would be gone" in said for said in receipt.warnings)


async def test_the_share_that_may_go_is_a_setting() -> None:
    cut = SkillEdit(op="replace_section", heading="절차", text="확인\n\n```sh\nreconcile\n```")
    for percent, status in ((0.0, ReceiptStatus.FAILED), (50.0, ReceiptStatus.APPLIED)):
        limits = SkillLimits(author_rounds=1, shrink_percent=percent)
        world = World([SkillEdits(edits=(cut,))], limits=limits)
        world.store.skills["t", "partial-refund"] = skill()
        assert (await updated(world)).status is status


def test_a_refinement_may_change_the_body_of_a_section() -> None:
    after = HEAD + BODY.replace("금액을 확인한다", "총액을 검산한다").replace("--all", "--each")
    assert lost(skill(), skill(after)) == ""


def test_what_moves_to_a_reference_is_not_dropped() -> None:
    start = BODY.index("## 절차")
    moved = skill(HEAD + BODY[:start], **{"references/steps.md": BODY[start:].encode()})
    assert lost(skill(), moved) == ""


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (HEAD + BODY.replace("## 예외", "## 그 밖에"), "headings would be gone: '예외'"),
        (HEAD + BODY.replace("```sh", "").replace("```", ""), "code blocks would be gone (1 → 0)"),
        (HEAD.replace("allowed-tools: Read\n", "") + BODY, "keys would be gone: 'allowed-tools'"),
    ],
)
def test_a_refinement_drops_no_part(document: str, said: str) -> None:
    assert said in lost(skill(), skill(document))


def test_binary_files_and_other_text_count_too() -> None:
    before = skill(**{"assets/logo.png": b"\x89\xff", "references/a.md": b"# A\n" + b"word\n" * 99})
    found = lost(before, skill(**{"assets/logo.png": b"text"}))
    assert "binary files would be lost: 'assets/logo.png'" in found
    assert "of all its text would be gone" in found
    assert "headings would be gone: 'A'" in found


EXTENDED = HEAD.replace("정산한다", "정산하고 기록한다") + BODY.replace("없음\n", "없음\n\n새 글\n")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (skill(EXTENDED), ""),
        (skill(HEAD + BODY.replace("금액을", "총액을")), "lines of SKILL.md would be changed"),
        (skill(HEAD + BODY.replace("1. ", "2. ")), "'1. 금액을 확인한다'"),
        (skill(HEAD.replace("부분 ", "") + BODY), "the description would lose words"),
        (skill(HEAD.replace("Read", "Read, Write") + BODY), "changed: 'allowed-tools'"),
        (Bundle(name="partial-refund", files={SKILL_MD: skill().files[SKILL_MD]}), "deleted: 'a'"),
        (skill(a=b"two\none\n"), "lines of a would be changed or gone: 'two'"),
        (skill(HEAD + "# 환불\n\n## 예외\n\n없음\n\n## 절차\n"), "lines of SKILL.md"),
    ],
)
def test_an_extension_only_adds(after: Bundle, said: str) -> None:
    files = {"a": SkillFile(data=b"one\ntwo\n"), **after.files}
    kept = after if "deleted" in said else after.model_copy(update={"files": files})
    found = lost(skill(a=b"one\ntwo\n"), kept, MergeMode.EXTEND)
    assert said in found if said else not found


CODE = "if line:\n    total += int(line)\nprint(total)\n"


@pytest.mark.parametrize(
    ("after", "gone"),
    [
        ("if line and line[0] != '#':\n    total += int(line)\nprint(total)\n", ""),
        ("if line:\n    total += int(line.replace(',', ''))\n    n += 1\nprint(total)\n", ""),
        ("if line:\n    total -= int(line)\nprint(total)\n", "'total += int(line)'"),
        ("if line:\n    total += int(line)\nprint('total')\n", "'print(total)'"),
        ("if line:\n    total += int(line)\n# print(total)\n", "'print(total)'"),
        ("if line: pass  # total += int(line)\nprint(total)\n", "'total += int(line)'"),
        ("print(total)\nif line:\n    total += int(line)\n", "'print(total)'"),
        ("pass\n", "'if line:', 'total += int(line)', 'print(total)'"),
    ],
)
def test_a_line_of_a_script_may_take_more_and_lose_nothing(after: str, gone: str) -> None:
    before = skill(**{"scripts/total.py": CODE.encode(), "notes.txt": CODE.encode()})
    now = skill(**{"scripts/total.py": after.encode(), "notes.txt": CODE.encode()})
    found = [text for text in losses(before, now, MergeMode.EXTEND, 100) if "lines" in text]
    assert found == (
        [f"lines of scripts/total.py would be changed or gone: {gone}"] if gone else []
    )


def test_lines_of_other_files_stay_as_they_are() -> None:
    after = CODE.replace("if line:", "if line and line[0]:").encode()
    found = lost(skill(a=CODE.encode()), skill(a=after), MergeMode.EXTEND)
    assert "lines of a would be changed or gone: 'if line:'" in found


def test_a_script_of_many_changed_lines_is_rewritten() -> None:
    old = "".join(f"step({number})\n" for number in range(30))
    new = old.replace(")", ", True)").encode()
    found = lost(
        skill(**{"scripts/a": old.encode()}), skill(**{"scripts/a": new}), MergeMode.EXTEND
    )
    assert "lines of scripts/a would be changed or gone: 'step(0)'" in found


def test_a_text_that_becomes_binary_is_no_extension() -> None:
    before, after = skill(a=b"one\n"), skill(a=b"\xff\x00")
    assert lost(before, after, MergeMode.EXTEND) == "lines of a would be changed or gone: 'one'"


def test_what_is_deleted_is_named_once() -> None:
    found = lost(skill(a=b"one\n"), skill(), MergeMode.EXTEND)
    assert found == "files would be deleted: 'a'"


def test_a_skill_that_cannot_be_read_can_still_be_compared() -> None:
    broken = skill("no frontmatter\n\n# A\n")
    assert lost(broken, skill(HEAD + "no frontmatter\n\n# A\n")) == ""


@pytest.mark.parametrize(("left", "said"), [(10, False), (9, True)])
def test_a_description_may_lose_half_and_no_more(left: int, said: bool) -> None:
    words = "ab cd ef gh ij kl mn"
    before = skill(HEAD.replace("부분 환불을 정산한다", words) + BODY)
    after = skill(HEAD.replace("부분 환불을 정산한다", words[:left].replace(" ", "_")) + BODY)
    assert len(words) == 20
    assert ("more than half" in lost(before, after)) is said


def test_a_description_that_is_a_heading_still_describes() -> None:
    before = skill(HEAD.replace("부분 환불을 정산한다", "refunds") + BODY)
    after = skill(HEAD.replace("부분 환불을 정산한다", "'# refund'") + BODY)
    assert lost(before, after) == ""
