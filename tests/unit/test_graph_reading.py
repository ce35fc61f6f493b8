"""Skills are read for a graph as far as possible, and the rest is reported."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from core.domain.errors import InvalidInput, SkillApiDown
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.entrypoints.service.graph.service import MAX_SKILL_BYTES, MAX_SKILLS, read_skills
from core.testing.skill_store import MemorySkillStore


class Troubled(MemorySkillStore):
    """Fails or hangs for configured skills."""

    def __init__(self, names: Mapping[str, Exception | None]) -> None:
        super().__init__()
        self._troubles = names
        self.reads = 0

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        self.reads += 1
        if name in self._troubles:
            trouble = self._troubles[name]
            if trouble is None:
                await asyncio.Event().wait()
            else:
                raise trouble
        text = f"---\nname: {name}\ndescription: d\n---\nsee references/a.md\n"
        size = MAX_SKILL_BYTES + 1 if name == "large" else 1
        files = {SKILL_MD: text.encode(), "references/a.md": b"x" * size}
        return Bundle(name=name, files={p: SkillFile(data=d) for p, d in files.items()})


async def test_a_server_that_does_not_answer_leaves_what_was_read() -> None:
    skills = Troubled({"slow": None})
    graph = await read_skills(skills, "t", ["fast", "slow"], seconds=1)
    assert [node.name for node in graph.skills] == ["fast"]
    assert graph.unreadable == {"slow": "the skill server was too slow"}


async def test_a_server_that_is_down_is_told_for_each_skill() -> None:
    graph = await read_skills(Troubled({"a": SkillApiDown("it is down")}), "t", ["a"])
    assert (graph.skills, graph.unreadable) == ((), {"a": "it is down"})


async def test_a_broken_skill_hides_no_other() -> None:
    graph = await read_skills(Troubled({"bad": InvalidInput("no skill")}), "t", ["bad", "good"])
    assert [node.name for node in graph.skills] == ["good"]
    assert graph.unreadable == {"bad": "no skill"}


async def test_no_more_skills_are_read_than_a_graph_takes() -> None:
    skills = Troubled({})
    names = [f"skill-{n:03}" for n in range(MAX_SKILLS + 3)]
    graph = await read_skills(skills, "t", names)
    assert (skills.reads, len(graph.skills)) == (MAX_SKILLS, MAX_SKILLS)
    assert [*graph.unreadable] == names[MAX_SKILLS:]


async def test_a_large_skill_is_shown_without_its_references() -> None:
    graph = await read_skills(Troubled({}), "t", ["large", "small"])
    assert [node.files for node in graph.skills] == [(SKILL_MD, "references/a.md")] * 2
    assert [edge.skill for edge in graph.edges] == ["small"]
    assert [*graph.unreadable] == ["large"]
