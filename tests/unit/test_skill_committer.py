"""Skills: the author is corrected, the store is written in steps, nothing is overwritten."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from core.change_gate import ChangeGate, GateDeps
from core.errors import ArtifactInvalid, SkillApiDown
from core.learning_committers.agent_skills_committer import (
    AgentSkillsCommitter,
    attach_skills_to_agent,
)
from core.learning_committers.base import CommitDeps
from core.learning_committers.skill_committer import SkillCommitter, commit_to_skill
from core.models import (
    Agent,
    AuthorRequest,
    ChangeStatus,
    HistoryStatus,
    Kind,
    Operation,
    ReceiptStatus,
    SkillArtifact,
    SkillEdit,
    SkillEdits,
    SkillFile,
    SubmitContext,
)
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids
from core.testing.knowledge import MemoryKnowledge
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryAgents, MemoryJournal

FEES = "# 수수료\n\n카드 환불에는 3 %가 든다.\n"
NEW_FEES = "# 수수료\n\n카드 환불에는 2 %가 든다.\n"
SPLIT = "#!/usr/bin/env python3\nprint('나눈다')\n"
REFUND = SkillArtifact(
    name="partial-refund",
    description="부분 환불을 정산한다: 금액을 나눌 때 사용",
    body_markdown="# 부분 환불\n\n## 절차\n\n1. 금액을 확인한다\n\n## 참고\n\nreferences/fees.md\n",
    additional_files={"references/fees.md": FEES, "scripts/split.py": SPLIT},
)
ADD_STEP = SkillEdits(
    edits=(
        SkillEdit(op="insert_section", heading="절차", text="2. 승인을 받는다"),
        SkillEdit(op="put_file", path="references/fees.md", text=NEW_FEES),
        SkillEdit(op="delete_file", path="scripts/split.py"),
    )
)
Answer = SkillArtifact | SkillEdits | ArtifactInvalid


class ScriptedAuthor:
    """Answers as told, and remembers what it was asked and told."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[AuthorRequest] = []
        self.told: list[list[str]] = []

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        self.asked.append(request)
        self.told.append(list(problems))
        answer = self.answers.pop(0)
        if isinstance(answer, ArtifactInvalid):
            raise answer
        return answer


class FlakyStore(MemorySkillStore):
    """Fails before the n-th write as told."""

    def __init__(self) -> None:
        super().__init__()
        self.fails_in: int | None = None

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        if self.fails_in is not None:
            self.fails_in -= 1
            if self.fails_in < 0:
                self.fails_in = None
                raise SkillApiDown("503")
        return await super().put_file(name, path, file, tenant_id, base_hash=base_hash)


@dataclass
class World:
    answers: Sequence[Answer] = ()
    store: FlakyStore = field(default_factory=FlakyStore)

    def __post_init__(self) -> None:
        self.log = MemoryChangeLog(MemoryKnowledge())
        self.author = ScriptedAuthor(self.answers)
        self.agents = MemoryAgents(
            [Agent(id="a", tenant_id="t", name="A"), Agent(id="b", tenant_id="t", name="B")],
            log=self.log,
        )
        committer = SkillCommitter(self.store, self.author, self.log, max_rounds=3)
        self.gate = ChangeGate(
            GateDeps(
                committers={
                    Kind.SKILL: committer,
                    Kind.AGENT_SKILLS: AgentSkillsCommitter(self.agents, self.store),
                },
                changes=self.log,
                journal=MemoryJournal(),
                new_id=counting_ids("change"),
                sleep=asyncio.sleep,
            )
        )

    def deps(self, key: str) -> CommitDeps:
        context = SubmitContext(key=key, tenant_id="t", agent_id="a", feedback_content="피드백")
        return CommitDeps(self.gate, context)

    async def create(self, key: str = "c") -> None:
        receipt = await commit_to_skill("a", REFUND, deps=self.deps(key))
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message

    def files(self) -> dict[str, bytes]:
        return {p: f.data for p, f in self.store.skills["t", "partial-refund"].files.items()}


async def test_the_author_writes_from_the_feedback_when_no_artifact_is_given() -> None:
    world = World([REFUND])
    receipt = await commit_to_skill("a", feedback_content="나눠서 환불", deps=world.deps("k"))
    assert receipt.target_id == "partial-refund"
    assert world.author.asked[0].feedback_content == "나눠서 환불"
    assert (await world.agents.get("a")).skills == ("partial-refund",)
    assert set(world.files()) == {"SKILL.md", "references/fees.md", "scripts/split.py"}


async def test_the_author_is_told_what_was_wrong_and_asked_again() -> None:
    bad = REFUND.model_copy(update={"name": "x; touch y"})
    world = World([bad, REFUND])
    receipt = await commit_to_skill("a", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.author.told[0] == []
    assert any("x; touch y" in problem for problem in world.author.told[1])


async def test_an_artifact_that_never_validates_is_a_failure_on_record() -> None:
    bad = REFUND.model_copy(update={"description": ""})
    world = World([bad] * 3)
    receipt = await commit_to_skill("a", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.FAILED
    assert "3 rounds" in receipt.message
    assert not world.store.skills
    (record,) = world.log.history
    assert record.status is HistoryStatus.FAILED
    assert record.new_content is not None
    assert "<!-- [이력] skill-creator 반영 실패:" in record.new_content


@pytest.mark.parametrize("given", ["partial-refund", None])
async def test_a_taken_name_is_refused_with_the_item(given: str | None) -> None:
    world = World([REFUND])
    await world.create()
    receipt = await commit_to_skill("a", skill_id=given, deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert receipt.hits[0].id == "partial-refund"
    assert "UPDATE" in receipt.message
    assert len(world.author.asked) == (0 if given else 1)


async def test_an_update_changes_what_the_edits_name_and_nothing_else() -> None:
    world = World([ADD_STEP])
    await world.create()
    before = world.files()
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("k")
    )
    assert receipt.status is ReceiptStatus.APPLIED
    after = world.files()
    assert "2. 승인을 받는다" in after["SKILL.md"].decode()
    assert (
        after["SKILL.md"].decode().replace("\n2. 승인을 받는다", "").split()
        == before["SKILL.md"].decode().split()
    )
    assert after["references/fees.md"] == NEW_FEES.encode()
    assert "scripts/split.py" not in after
    assert world.author.asked[0].existing is not None


async def test_the_history_holds_the_whole_folder_before_and_after() -> None:
    world = World([ADD_STEP])
    await world.create()
    await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("k")
    )
    record = world.log.history[-1]
    assert record.previous_files is not None
    assert record.new_files is not None
    assert record.previous_files["scripts/split.py"].executable
    assert set(record.new_files) == {"SKILL.md", "references/fees.md"}
    blobs = await world.log.blobs(list(record.previous_files.values()))
    assert blobs[record.previous_files["references/fees.md"].sha256] == FEES.encode()


@pytest.mark.parametrize("fails_in", [0, 1])
async def test_an_upload_cut_off_goes_on_from_what_the_store_holds(fails_in: int) -> None:
    world = World([ADD_STEP])
    await world.create()
    world.store.fails_in = fails_in
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    with pytest.raises(SkillApiDown):
        await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    receipt = await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.APPLIED
    assert "scripts/split.py" not in world.files()
    assert len(world.author.asked) == 1
    assert [r.status for r in world.log.history[1:]] == [
        HistoryStatus.FAILED,
        HistoryStatus.APPLIED,
    ]


async def test_a_skill_that_someone_else_changed_meanwhile_is_prepared_again() -> None:
    world = World([ADD_STEP, ADD_STEP])
    await world.create()
    world.store.fails_in = 0
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    with pytest.raises(SkillApiDown):
        await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    bundle = world.store.skills["t", "partial-refund"]
    files = {**bundle.files, "assets/theirs.txt": SkillFile(data=b"theirs")}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    receipt = await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.files()["assets/theirs.txt"] == b"theirs"
    statuses = [change.status for change in world.log.changes.values()]
    assert statuses == [ChangeStatus.APPLIED, ChangeStatus.STALE, ChangeStatus.APPLIED]


async def test_deleting_and_reverting_brings_the_folder_back_byte_for_byte() -> None:
    world = World()
    await world.create()
    before = world.store.skills["t", "partial-refund"]
    receipt = await commit_to_skill(
        "a", operation=Operation.DELETE, skill_id="partial-refund", deps=world.deps("k")
    )
    assert not world.store.skills
    assert (await world.agents.get("a")).skills == ()
    await world.gate.revert(receipt.change_id or "", "still needed", context_key="r")
    assert world.store.skills["t", "partial-refund"] == before
    assert (await world.agents.get("a")).skills == ("partial-refund",)


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
    await world.gate.revert(receipt.change_id or "", "wrong", context_key="r")
    assert (await world.agents.get("b")).skills == ()


@pytest.mark.parametrize("names", ["", " , ", "no-such-skill"])
async def test_what_cannot_be_attached_is_refused(names: str) -> None:
    receipt = await attach_skills_to_agent("b", names, deps=World().deps("k"))
    assert receipt.status is ReceiptStatus.REFUSED
