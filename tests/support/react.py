"""A bench for ReAct runs: fakes behind every port, one candidate, and one call to run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from langgraph.checkpoint.memory import InMemorySaver
from pydantic import JsonValue

from core.errors import LeaseLost
from core.models import (
    Agent,
    AgentFeedback,
    Bundle,
    Candidate,
    Feedback,
    Fence,
    Hit,
    Kind,
    Receipt,
    RunEvent,
    Usage,
    Verdict,
)
from core.react_agent import process_feedback_with_react
from core.react_deps import ReactDeps
from core.testing.gate import FakeGate
from core.testing.knowledge import MemoryKnowledge
from core.testing.scripted_model import ScriptedChatModel, Turn

FEEDBACK = Feedback(
    id="f1",
    source="test",
    source_id="1",
    tenant_id="t1",
    agent_ids=("a1",),
    task="월말 보고서",
    content="김 부장님은 금액을 원 단위로 원합니다",
    author="kim",
)
AGENT = Agent(id="a1", tenant_id="t1", name="보고서", role="reporter", skills=("month-end",))
CANDIDATE = Candidate(
    id="c1",
    feedback_id="f1",
    agent_id="a1",
    agent_name="보고서",
    position=0,
    content=FEEDBACK.content,
    epoch=1,
)
MEMORY = {"content": "김 부장님: 원 단위", "operation": "CREATE", "reason": "선호"}


class Stores:
    """Runs, replies and journal, as far as a run touches them."""

    def __init__(self) -> None:
        self.epoch = 1
        self.events: list[RunEvent] = []
        self.kept: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}
        self.earlier: list[Receipt] = []

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        return [CANDIDATE]

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        return [CANDIDATE]

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        return candidate

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        return None

    async def check(self, fence: Fence) -> None:
        if fence.epoch != self.epoch:
            raise LeaseLost("another worker has it")

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        return self.earlier

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        return self.kept.get((key, ordinal))

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        self.kept.setdefault((key, ordinal), (reply, usage))

    async def usage(self, key_prefix: str) -> Usage:
        found = [usage for (key, _), (_, usage) in self.kept.items() if key.startswith(key_prefix)]
        return sum(found, Usage())

    async def emit(self, event: RunEvent) -> None:
        self.events.append(event)


class FixedSearch:
    """Answers every query with the same hits."""

    def __init__(self, hits: Sequence[Hit] = ()) -> None:
        self.hits = list(hits)

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        return [hit for hit in self.hits if kind in {None, hit.kind}][:limit]

    async def refresh(self, tenant_id: str) -> None:
        return None


class NoSkills:
    """Holds the skills it is given, and takes none."""

    def __init__(self, *bundles: Bundle) -> None:
        self.bundles = {bundle.name: bundle for bundle in bundles}

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        return self.bundles.get(name)


@dataclass
class Bench:
    """One candidate on a scripted model; `run` may be called again, as after a crash."""

    script: Sequence[Turn]
    gate: FakeGate = field(default_factory=FakeGate)
    search: FixedSearch = field(default_factory=FixedSearch)
    skills: NoSkills = field(default_factory=NoSkills)
    stores: Stores = field(default_factory=Stores)
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    max_iterations: int = 50
    candidate: Candidate = CANDIDATE

    def __post_init__(self) -> None:
        self.model = ScriptedChatModel(self.script)

    @property
    def deps(self) -> ReactDeps:
        return ReactDeps(
            model=self.model,
            gate=self.gate,
            search=self.search,
            knowledge=self.knowledge,
            skills=self.skills,  # type: ignore[arg-type]
            runs=self.stores,
            replies=self.stores,
            journal=self.stores,
            saver_factory=lambda: self.saver,
            max_iterations=self.max_iterations,
        )

    async def run(self) -> Verdict:
        return await process_feedback_with_react(
            AGENT.id,
            FEEDBACK.content,
            candidate=self.candidate,
            feedback=FEEDBACK,
            agent=AGENT,
            deps=self.deps,
        )

    @property
    def keys(self) -> list[str]:
        return [context.key for _, context in self.gate.submitted]
