"""What an agent's skills cost it: it reads all their descriptions whenever it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.domain.errors import BundleInvalid, NotFound
from core.domain.messages import Message
from core.domain.models import Bundle
from core.domain.ports import Agents, SkillStore
from core.skills.document.frontmatter import read_frontmatter


@dataclass(frozen=True)
class DescriptionsBudget:
    """Warns where the descriptions of an agent's skills come to more than `limit` characters."""

    agents: Agents
    skills: SkillStore
    limit: int

    async def warnings(
        self,
        agent_id: str,
        tenant_id: str,
        *,
        added: Iterable[str] = (),
        changed: Bundle | None = None,
        base: Bundle | None = None,
    ) -> tuple[str, ...]:
        """Say so where a change bursts the budget, or goes further beyond it.

        `added` are names that go on the agent's list; `changed` is a skill as it will be, which
        goes on the list too, and `base` the same skill as it is.
        """
        try:
            agent = await self.agents.get(agent_id)
        except NotFound:
            return ()
        if base and changed and base.name in agent.skills and not _is_longer(base, changed):
            return ()
        listed = {item.name: item.description for item in await self.skills.list(tenant_id)}
        new = {changed.name: description_of(changed)} if changed else {}
        before = _total(agent.skills, listed)
        names = {*agent.skills, *added, *new}
        after = _total(names, {**listed, **new})
        if after <= max(before, self.limit):
            return ()
        return (
            Message(
                "skill.descriptions_over_budget",
                "the descriptions of the {n} skills of agent {agent} come to {now} "
                "characters, {over} over its budget of {budget} ({before} before); it "
                "reads them all at start",
                n=len(names),
                agent=agent_id,
                now=after,
                over=after - self.limit,
                budget=self.limit,
                before=before,
            ),
        )


def description_of(bundle: Bundle) -> str:
    """Give a skill's description, "" where it cannot be read."""
    try:
        return read_frontmatter(bundle.document).description
    except (BundleInvalid, UnicodeDecodeError):
        return ""


def _is_longer(base: Bundle, changed: Bundle) -> bool:
    return len(description_of(changed)) > len(description_of(base))


def _total(names: Iterable[str], described: Mapping[str, str]) -> int:
    return sum(len(described.get(name, "")) for name in names)
