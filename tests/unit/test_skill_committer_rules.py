"""What a skill change may not do, and what is shown to the author and attached."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput
from core.domain.models import (
    SKILL_MD,
    HistoryStatus,
    Kind,
    MergeMode,
    Operation,
    ReceiptStatus,
    Relationship,
    SkillEdit,
    SkillEdits,
    SkillFile,
)
from core.learning_committers.agent_skills_committer import attach_skills_to_agent
from core.learning_committers.skill_committer import commit_to_skill
from tests.support.skills import (
    ADD_STEP,
    NEW_FEES,
    REFUND,
    FlakyStore,
    World,
)


async def test_related_skills_are_shown_to_the_author() -> None:
    world = World([REFUND.model_copy(update={"name": "other-skill"})])
    await world.create()
    await commit_to_skill(
        "a", related_skill_ids="partial-refund, no-such-skill", deps=world.deps("k")
    )
    (related,) = world.author.asked[0].related
    assert related.name == "partial-refund"
    assert related.paths == ("references/fees.md", "scripts/split.py")


async def test_a_skill_is_attached_once_and_can_be_taken_off_again() -> None:
    world = World()
    await world.create()
    receipt = await attach_skills_to_agent("b", "partial-refund", deps=world.deps("k1"))
    assert receipt.status is ReceiptStatus.ATTACHED
    again = await attach_skills_to_agent("b", "partial-refund", deps=world.deps("k2"))
    assert again.status is ReceiptStatus.KNOWN
    assert world.log.history[-1].knowledge_type is Kind.AGENT_SKILLS
    await world.gate.revert(receipt.change_id or "", "wrong")
    assert (await world.agents.get("t", "b")).skills == ()


async def test_a_step_that_its_tools_do_not_cover_is_attached_as_a_warning() -> None:
    body = f"{REFUND.body_markdown}\n```bash\ngit pull && rm -rf out\n```\n"
    artifact = REFUND.model_copy(
        update={"allowed_tools": "Bash(git *) Bash(python3:*)", "body_markdown": body}
    )
    world = World()
    receipt = await commit_to_skill("a", artifact, deps=world.deps("c"))
    (told,) = [warning for warning in receipt.warnings if "allowed-tools" in warning]
    assert "rm -rf out" in told
    assert "git pull" not in told


@pytest.mark.parametrize("names", ["", " , ", "no-such-skill"])
async def test_what_cannot_be_attached_is_refused(names: str) -> None:
    receipt = await attach_skills_to_agent("b", names, deps=World().deps("k"))
    assert receipt.status is ReceiptStatus.REFUSED


async def test_an_impossible_name_is_refused_before_the_author_is_paid() -> None:
    world = World([REFUND])
    receipt = await commit_to_skill("a", skill_id="부분-환불", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert not world.author.asked


@pytest.mark.parametrize("mode", [MergeMode.EXTEND, MergeMode.REFINE])
async def test_extending_or_refining_keeps_every_section(mode: MergeMode) -> None:
    world = World()
    await world.create()
    short = REFUND.model_copy(update={"body_markdown": "# 부분 환불\n\n짧게 다시 쓴다.\n"})
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    receipt = await commit_to_skill("a", short, merge_mode=mode, **given, deps=world.deps("k"))  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.FAILED
    assert "절차" in receipt.message
    replaced = await commit_to_skill("a", short, **given, deps=world.deps("k2"))  # type: ignore[arg-type]
    assert replaced.status is ReceiptStatus.APPLIED


async def test_a_skill_that_fails_for_good_part_way_is_taken_back() -> None:
    class Refusing(FlakyStore):
        async def put_file(
            self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
        ) -> str:
            if file.data == NEW_FEES.encode():
                raise InvalidInput("413: too large")
            return await super().put_file(name, path, file, tenant_id, base_hash=base_hash)

    world = World([ADD_STEP], Refusing())
    await world.create()
    before = world.store.skills["t", "partial-refund"]
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("k")
    )
    assert receipt.status is ReceiptStatus.FAILED
    assert world.store.skills["t", "partial-refund"] == before
    assert world.log.history[-1].status is HistoryStatus.FAILED


def fields(*edits: tuple[str, str, str]) -> SkillEdits:
    return SkillEdits(
        edits=tuple(
            SkillEdit.model_validate({"op": op, "field": field, "text": text})
            for op, field, text in edits
        )
    )


async def test_edits_set_and_remove_fields_and_keep_the_keys_they_do_not_know() -> None:
    world = World(
        [
            fields(
                ("set_field", "allowed-tools", "Bash(python3:*) Read"), ("set_field", "name", "x")
            ),
            fields(("set_field", "allowed-tools", "Bash(python3:*) Read")),
            fields(("remove_field", "license", ""), ("set_field", "metadata.team", "ops")),
        ]
    )
    await world.create()
    bundle = world.store.skills["t", "partial-refund"]
    rich = bundle.document.replace("---\n\n", "hooks: {a: [b]}\nlicense: MIT\n---\n\n", 1)
    files = {**bundle.files, SKILL_MD: SkillFile(data=rich.encode())}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    for key, mode in (("e", MergeMode.EXTEND), ("r", None)):
        receipt = await commit_to_skill(
            "a",
            operation=Operation.UPDATE,
            skill_id="partial-refund",
            merge_mode=mode,
            deps=world.deps(key),
        )
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    assert "none of the fields that an edit may set" in world.author.told[1][0]
    wanted = rich.replace("license: MIT\n", "allowed-tools: Bash(python3:*) Read\n", 1)
    wanted = wanted.replace("---\n\n", "metadata:\n  team: ops\n---\n\n", 1)
    assert world.files()[SKILL_MD].decode() == wanted


async def test_the_author_may_name_the_tools_of_a_new_skill() -> None:
    world = World([REFUND.model_copy(update={"allowed_tools": " Bash(python3:*)\n Read "})])
    receipt = await commit_to_skill("a", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert "\nallowed-tools: Bash(python3:*) Read\n---\n" in world.files()[SKILL_MD].decode()


async def test_a_change_of_a_skill_is_no_duplicate_of_it() -> None:
    world = World([ADD_STEP])
    await world.create()
    before = world.files()
    receipt = await commit_to_skill(
        "a",
        operation=Operation.UPDATE,
        skill_id="partial-refund",
        relationship=Relationship.DUPLICATE,
        deps=world.deps("k"),
    )
    assert receipt.status is ReceiptStatus.REFUSED
    assert "no DUPLICATE of SKILL partial-refund" in receipt.message
    assert "SKILL.md, references/fees.md, scripts/split.py" in receipt.message
    assert world.files() == before
