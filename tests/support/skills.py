"""A gate for skills over memory: a scripted author, a store that fails on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.changes.outside import OutsideChanges
from core.changes.policy.review_policy import Policy, apply_all, load_policy
from core.domain.errors import ArtifactInvalid, SkillApiDown
from core.domain.models import (
    Agent,
    AuthorRequest,
    Kind,
    ReceiptStatus,
    SkillArtifact,
    SkillEdit,
    SkillEdits,
    SkillFile,
    SubmitContext,
)
from core.learning_committers.agent_skills_committer import AgentSkillsCommitter
from core.learning_committers.base import CommitDeps
from core.learning_committers.skill_committer import SkillCommitter, commit_to_skill
from core.learning_committers.skill_folders import SkillLimits
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from core.testing.stores import MemoryAgents, MemoryJournal, MemoryRuns
from tests.support.gate import neighbours_of

FEES = (
    "# 수수료\n\n카드 환불에는 3 %가 든다.\n"
    "계좌 이체에는 들지 않는다. "
    "수수료는 회사가 내고, 손님의 환불 금액에서 빼지 않는다. 월말에 한 번 정산한다.\n"
)
NEW_FEES = (
    "# 수수료\n\n카드 환불에는 2 %가 든다.\n"
    "계좌 이체에는 들지 않는다. "
    "수수료는 회사가 내고, 손님의 환불 금액에서 빼지 않는다. 월말에 한 번 정산한다.\n"
)
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
    """Answers as scripted, and remembers the requests and problems it was given."""

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
    """Fails before the n-th write, as scripted."""

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
    limits: SkillLimits = field(default_factory=SkillLimits)
    agents_class: type[MemoryAgents] = MemoryAgents
    dry_run: bool = False

    def __post_init__(self) -> None:
        self.policy: Policy = apply_all
        self.log = MemoryChangeLog(MemoryKnowledge())
        self.author = ScriptedAuthor(self.answers)
        self.agents = self.agents_class(
            [Agent(id="a", tenant_id="t", name="A"), Agent(id="b", tenant_id="t", name="B")],
            log=self.log,
        )
        committer = SkillCommitter(
            self.store,
            self.author,
            self.log,
            self.agents,
            check=MemoryRuns().check,
            limits=self.limits,
            neighbours=neighbours_of(self.log.knowledge, self.store),
        )
        new_id = counting_ids("outside")
        self.outside = OutsideChanges(self.store, self.log, self.log, new_id)
        self.gate = ChangeGate(
            GateDeps(
                committers={
                    Kind.SKILL: committer,
                    Kind.AGENT_SKILLS: AgentSkillsCommitter(
                        self.agents, self.store, limits=self.limits
                    ),
                },
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=MemoryDuplicateWaiters(self.log),
                journal=MemoryJournal(),
                new_id=counting_ids("change"),
                sleep=asyncio.sleep,
                policy=lambda change: self.policy(change),
                dry_run=self.dry_run,
                outside=self.outside,
            )
        )

    def hold_all(self) -> None:
        """Hold every change from now on, as the policy `all` does."""
        self.policy = load_policy("all")

    def deps(self, key: str) -> CommitDeps:
        context = SubmitContext(key=key, tenant_id="t", agent_id="a", feedback_content="피드백")
        return CommitDeps(self.gate, context)

    async def create(self, key: str = "c") -> None:
        receipt = await commit_to_skill("a", REFUND, deps=self.deps(key))
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message

    def files(self) -> dict[str, bytes]:
        return {p: f.data for p, f in self.store.skills["t", "partial-refund"].files.items()}
