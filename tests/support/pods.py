"""The pod path for tests: deps over two scripted servers, and a gate that uses them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.domain.models import Kind, SubmitContext
from core.domain.ports import SkillStore
from core.learning_committers.base import CommitDeps, Neighbours
from core.learning_committers.skill_committer import SkillCommitter
from core.learning_committers.skill_folders import SkillLimits
from core.learning_committers.skill_writing import NoAuthor
from core.mcp_client import COMPUTER_USE, McpPods, McpServer, McpSkillDocuments, open_mcp
from core.skill_creator_committer import SkillCreatorDeps
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from core.testing.stores import MemoryAgents, MemoryJournal, MemoryRuns
from tests.support.mcp_servers import ScriptedComputerUse, ScriptedSkills
from tests.support.memory_search import MemorySearch
from tests.support.packagers import INIT, NEWER, OLDER, package_skill

SKILLS = "claude-skills"
# Published scripts print such lines, which a pod with an ASCII locale cannot.
SAYS = "print('✅ 묶었다:', target)"
LAYOUTS = {
    "older": {
        "skill-creator/scripts/package_skill.py": package_skill(OLDER, then=SAYS),
        "skill-creator/scripts/init_skill.py": INIT,
    },
    "newer": {"skill-creator/scripts/package_skill.py": package_skill(NEWER, then=SAYS)},
}


def pod_env(locale: str, shims: Path, *, with_yaml: bool) -> dict[str, str]:
    """Return a pod's environment: its locale, and a python3 with or without PyYAML."""
    folder = shims / ("with" if with_yaml else "without")
    if not folder.exists():
        folder.mkdir(parents=True)
        shim = folder / "python3"
        flags = "" if with_yaml else "-S "
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {flags}"$@"\n')
        shim.chmod(0o755)
    env = {"LC_ALL": locale, "PATH": f"{folder}:{os.defpath}"}
    # Python itself would override a C locale.
    return env | ({"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} if locale == "C" else {})


@dataclass
class ScriptedPods:
    """Both servers, and the deps over one client for them."""

    skills: ScriptedSkills
    computer: ScriptedComputerUse
    deps: SkillCreatorDeps


@asynccontextmanager
async def scripted_pods(
    root: Path, *, call_seconds: float = 20, nonce: str = "n0nce1"
) -> AsyncIterator[ScriptedPods]:
    """Serve both over streamable HTTP on loopback; `faults` and `shape` may be set any time."""
    skills, computer = ScriptedSkills(LAYOUTS["older"]), ScriptedComputerUse(root)
    async with skills.serve(), computer.serve():
        servers = [McpServer(SKILLS, skills.url), McpServer(COMPUTER_USE, computer.url)]
        async with open_mcp(servers, call_seconds=call_seconds) as client:
            documents = McpSkillDocuments(client, SKILLS)
            deps = SkillCreatorDeps(McpPods(client), documents, lambda: nonce)
            yield ScriptedPods(skills, computer, deps)


@dataclass
class PodGate:
    """The real change gate over memory, with skills that are built in pods."""

    creator: SkillCreatorDeps | None
    store: SkillStore = field(default_factory=MemorySkillStore)

    def __post_init__(self) -> None:
        self.log = MemoryChangeLog(MemoryKnowledge())
        committer = SkillCommitter(
            self.store,
            NoAuthor(),
            self.log,
            MemoryAgents(),
            check=MemoryRuns().check,
            limits=SkillLimits(author_rounds=1),
            neighbours=Neighbours(MemorySearch(), self.store),
            creator=self.creator,
        )
        self.gate = ChangeGate(
            GateDeps(
                committers={Kind.SKILL: committer},
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=MemoryDuplicateWaiters(),
                journal=MemoryJournal(),
                new_id=counting_ids("change"),
                sleep=asyncio.sleep,
            )
        )

    def deps(self, key: str = "k") -> CommitDeps:
        context = SubmitContext(key=key, tenant_id="t", agent_id="a", feedback_content="피드백")
        return CommitDeps(self.gate, context)
