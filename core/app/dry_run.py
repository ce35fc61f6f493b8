"""The stores of a dry run: only its bill is stored, since the model was really called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from core.domain.hashing import name_key, same_key
from core.domain.models import (
    NO_USAGE,
    SKILL_MD,
    AgentFeedback,
    Bundle,
    Candidate,
    Change,
    Feedback,
    Fence,
    FileRef,
    Kind,
    KnowledgeItem,
    Receipt,
    RunEvent,
    SkillFile,
    SkillSummary,
    Usage,
    Verdict,
)
from core.domain.models.recorded_runs import Fork
from core.domain.ports import Knowledge, NewId, SkillStore, Spending
from core.skills.validation.document import description_of


class DryRuns:
    """The `Runs` port for one dry run: candidates live as long as it does, without contention."""

    def __init__(self, new_id: NewId) -> None:
        self._new_id = new_id

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:  # noqa: ARG002
        """Return no candidates: the matcher is called anew."""
        return ()

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        """Return candidates from the matcher's answer, the first as started."""
        return [
            Candidate(
                id=self._new_id(),
                feedback_id=feedback.id,
                agent_id=part.agent_id,
                agent_name=part.agent_name,
                position=position,
                content=part.learning_candidate.content,
                intent_hint=part.learning_candidate.intent_hint,
                generation=feedback.generation,
                epoch=int(position == 0),
            )
            for position, part in enumerate(parts)
        ]

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        """Return the candidate as started."""
        begun = {"epoch": candidate.epoch + 1, "generation": generation}
        return candidate.model_copy(update=begun)

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        """Drop the verdict."""

    async def check(self, fence: Fence) -> None:
        """Pass: no other worker can take over a dry run."""

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:  # noqa: ARG002
        """Return no receipts: a dry run makes no changes."""
        return ()

    async def fork(self, thread: str) -> Fork | None:  # noqa: ARG002
        """Return None: what a dry run decides begins anew."""
        return None


class DrySkills:
    """The `SkillStore` port for one dry run: skills that would be written are read back from it."""

    def __init__(self, skills: SkillStore) -> None:
        self._skills = skills
        self._written: dict[tuple[str, str], Bundle] = {}

    def remember(self, bundle: Bundle, tenant_id: str) -> None:
        """Give this bundle to those who read the skill from now on; nothing is written."""
        self._written[tenant_id, bundle.name] = bundle

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Return the folder, as it would be written if it would."""
        return self._written.get((tenant_id, name)) or await self._skills.read(name, tenant_id)

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        """Return the tenant's skills by name, those that would be written too."""
        listed = {item.name: item for item in await self._skills.list(tenant_id)}
        for (tenant, name), bundle in self._written.items():
            if tenant == tenant_id:
                data = bundle.files[SKILL_MD].data
                listed[name] = SkillSummary(
                    name=name, description=description_of(data) or "", file_count=len(bundle.files)
                )
        return [listed[name] for name in sorted(listed)]

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        """Remember the skill."""
        self.remember(bundle, tenant_id)

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        """Raise AssertionError: a dry run ends before it would write."""
        raise AssertionError(name, path, len(file.data), tenant_id, base_hash)

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        """Raise AssertionError, as `put_file`."""
        raise AssertionError(name, path, tenant_id, base_hash)

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        """Raise AssertionError, as `put_file`."""
        raise AssertionError(name, tenant_id, base_hash)


class DryKnowledge:
    """The `Knowledge` port for one dry run: items that would be written are read back from it.

    Their history is not: a dry run asks for none.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._written: dict[tuple[Kind, str, str], KnowledgeItem] = {}

    def remember(self, change: Change) -> None:
        """Give what a change would leave to those who read its target from now on."""
        after = change.after
        if after is None or after.files is not None or change.kind is Kind.AGENT_SKILLS:
            return
        self._written[change.kind, change.tenant_id, change.target_id] = KnowledgeItem(
            id=change.target_id,
            kind=change.kind,
            tenant_id=change.tenant_id,
            agent_id=change.agent_id,
            name=after.name,
            content=after.content,
            change_id=change.id,
            **after.reach.model_dump(),
        )

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        """Return an item, as it would stand if it would. Raises NotFound."""
        would_be = self._written.get((kind, tenant_id, item_id))
        return would_be or await self._knowledge.get(kind, tenant_id, item_id)

    async def find_named(
        self, kind: Kind, tenant_id: str, agent_id: str, name: str
    ) -> KnowledgeItem | None:
        """Return the agent's item of that name, or None."""
        for item in self._own(kind, tenant_id, agent_id):
            if name_key(item.name) == name_key(name):
                return item
        return self._left(await self._knowledge.find_named(kind, tenant_id, agent_id, name))

    async def packages(self) -> Mapping[Kind, str]:
        """Return which package brought each kind."""
        return await self._knowledge.packages()

    async def find_same(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        content: str,
        *,
        user: str | None = None,
    ) -> KnowledgeItem | None:
        """Return the agent's item with this text, or None."""
        for item in self._own(kind, tenant_id, agent_id):
            if same_key(item.content) == same_key(content) and item.user == user:
                return item
        asked = (kind, tenant_id, agent_id, content)
        return self._left(await self._knowledge.find_same(*asked, user=user))

    async def taken(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        *,
        ids: Sequence[str],
        contents: Sequence[str],
    ) -> Sequence[KnowledgeItem]:
        """Return the items of these ids and texts, as they would stand."""
        texts = set(map(same_key, contents))
        would_be = [
            item
            for item in self._own(kind, tenant_id, None)
            if item.id in ids or (item.agent_id == agent_id and same_key(item.content) in texts)
        ]
        asked = (kind, tenant_id, agent_id)
        found = await self._knowledge.taken(*asked, ids=ids, contents=contents)
        return [*would_be, *filter(self._left, found)]

    async def some(
        self, kind: Kind, tenant_id: str, agent_id: str, *, since: datetime | None, limit: int
    ) -> Sequence[KnowledgeItem]:
        """Return stored items alone: who asks knows what it would have written itself."""
        return await self._knowledge.some(kind, tenant_id, agent_id, since=since, limit=limit)

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        """Return all stored versions. Raises NotFound."""
        return await self._knowledge.versions(kind, tenant_id, item_id)

    async def as_of(
        self, kind: Kind, tenant_id: str, item_id: str, at: datetime
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Return an item as it stood at `at`. Raises NotFound."""
        return await self._knowledge.as_of(kind, tenant_id, item_id, at)

    async def list(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        expired: bool = False,
    ) -> Sequence[KnowledgeItem]:
        """Return an agent's items, those first that would be written; for no agent what is stored.

        Who lists all asks what the dry run has left behind: nothing.
        """
        found = await self._knowledge.list(
            tenant_id=tenant_id, agent_id=agent_id, kind=kind, expired=expired
        )
        if expired or agent_id is None:
            return found
        would_be = [*self._own(kind, tenant_id, agent_id)]
        return [*reversed(would_be), *filter(self._left, found)]

    def _own(
        self, kind: Kind | None, tenant_id: str | None, agent_id: str | None
    ) -> Iterator[KnowledgeItem]:
        for item in self._written.values():
            is_asked = kind in {None, item.kind} and tenant_id in {None, item.tenant_id}
            if is_asked and agent_id in {None, item.agent_id}:
                yield item

    def _left(self, stored: KnowledgeItem | None) -> KnowledgeItem | None:
        """Return a stored item unless another state of it would be written."""
        if stored is None or (stored.kind, stored.tenant_id, stored.id) in self._written:
            return None
        return stored


class DryReplies:
    """The `Replies` port for one dry run; each first reply is paid for."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending
        self._replies: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Return a reply of this dry run, or None."""
        return self._replies.get((key, ordinal))

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        """Remember a reply during the dry run; the first one is what its tenant pays for."""
        if (key, ordinal) not in self._replies:
            self._replies[key, ordinal] = (reply, usage)
            await self._spending.pay(tenant_id, key, usage)

    async def usage(self, key_prefix: str) -> Usage:
        """Return the usage of the replies whose key begins with `key_prefix`."""
        found = [
            usage for (key, _), (_, usage) in self._replies.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())


class DryJournal:
    """The `Journal` port for one dry run: events are dropped, costs are charged."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    async def emit(
        self,
        event: RunEvent,
        spent: Usage = NO_USAGE,
        *,
        waits: bool = False,  # noqa: ARG002
    ) -> None:
        """Charge `spent` to the tenant's day."""
        if spent.model_calls:
            await self._spending.pay(event.tenant_id or "", event.candidate_id or "", spent)
