"""What is known: reads, search, the skill store, the author of skills, lists for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.domain.models import (
    AuthorRequest,
    Bundle,
    Change,
    ChangeFilter,
    Feedback,
    FeedbackFilter,
    FileRef,
    HistoryFilter,
    HistoryRecord,
    Hit,
    Kind,
    KnowledgeItem,
    Nearby,
    RunEvent,
    SkillArtifact,
    SkillEdits,
    SkillFile,
    SkillSummary,
)
from core.domain.models.views import KnownCount, Listed, Made, Taught


class Knowledge(Protocol):
    """Reads of what is known. Every write goes through the change gate."""

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        """Give an item as it stands. Raises NotFound, also where it was deleted."""

    async def find_rule(self, tenant_id: str, agent_id: str, name: str) -> KnowledgeItem | None:
        """Give the agent's decision table of that name (NFC, case folded), or None."""

    async def find_same(
        self, kind: Kind, tenant_id: str, agent_id: str, content: str
    ) -> KnowledgeItem | None:
        """Give the agent's oldest item that says exactly this (NFC, case, white space folded)."""

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        """Give all versions, oldest first, with the span each was valid. Raises NotFound.

        What was deleted and made again goes on counting. Of a skill those that we made.
        """

    async def as_of(
        self, kind: Kind, tenant_id: str, item_id: str, at: datetime
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Give an item as it stood at `at`, and the files of a skill.

        A span takes in its start and leaves out its end. A skill is known only from the changes
        that we made to it. Raises NotFound with a hint that names the nearest version.
        """

    async def list(
        self, *, tenant_id: str | None, agent_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Give all current items, newest first; without filters those of all tenants.

        The content of skills is left blank: reading it takes a call each.
        """


class KnowledgePast(Protocol):
    """What was known: an id may be taken in several tenants and kinds, and has versions."""

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Give the newest version of everything that has this id, or had it, without content.

        `valid_to` is set where it was deleted. By tenant and kind.
        """

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Give one version of an item, and the files of a skill. Raises NotFound."""


class KnowledgePages(Protocol):
    """What is known now, page by page in a lasting order: to copy it all, and to look at it."""

    async def page(
        self,
        kind: Kind,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        after: KnowledgeItem | None,
        limit: int,
    ) -> Sequence[KnowledgeItem]:
        """Give current memories or rules by tenant and id (code points), those behind `after`."""

    async def browse(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
    ) -> Sequence[Listed]:
        """Give current items of all kinds by tenant, kind and id (code points).

        `after` is tenant, kind and id of the last one of the page before. Skills as the index
        knows them, with an agent those on its list.
        """


class Search(Protocol):
    """Ranked search over everything a tenant knows."""

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Give the items most similar to `query`, best first."""

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        """Give the items of one kind most similar to `text` with their texts, best first.

        `seen` is the newest revision of a document of this agent and kind, of the tenant where it
        is skills: what is written later, new or changed, is above it.
        """

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to what the skill store holds (skills written by others)."""


class SkillStore(Protocol):
    """The skill HTTP API, as far as the worker writes through it (contracts, section 5)."""

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Give the whole folder, or None where there is no such skill."""

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        """Create a skill. Raises Stale where it exists."""

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        """Write one file of a bundle whose hash is `base_hash`; gives the hash then. Stale."""

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        """Delete one file of a bundle whose hash is `base_hash`; gives the hash then. Stale."""

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        """Delete a skill; absent already is fine. Stale."""

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        """Give the tenant's skills, by name."""


class SkillAuthor(Protocol):
    """The model that writes or edits skills."""

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Write (CREATE) or edit (UPDATE); `problems` are those of the answer before.

        The reply is stored under (key, ordinal). Raises ArtifactInvalid where it does not parse.
        """


class Reader(Protocol):
    """Reads for entry points: lists and audit, straight from the tables."""

    async def feedback(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        """Give feedback, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def changes(
        self, wanted: ChangeFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        """Give changes, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def history(
        self, wanted: HistoryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        """Give history, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def history_record(self, record_id: str) -> HistoryRecord:
        """Give one history record. Raises NotFound."""

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        """Give the events of one piece of feedback, oldest first."""

    async def counts(self) -> Mapping[str, int]:
        """Give the number of pieces of feedback by status."""


class Lineage(Protocol):
    """How items came to be what they are, for those who look at them."""

    async def made(
        self, kind: Kind, tenant_id: str, item_id: str, *, limit: int, max_bytes: int
    ) -> Sequence[Made]:
        """Give the newest changes of an item, oldest first: `limit` of them at most.

        The newest always, of the others as many as have `max_bytes` bytes of text together; with
        0 all, but without the states before and after.
        """

    async def taught(self, tenant_id: str, *, agent_id: str | None, limit: int) -> Sequence[Taught]:
        """Give which feedback taught what is known now, newest first, once for each item."""

    async def counts(self, tenant_id: str) -> Sequence[KnownCount]:
        """Give how many memories and rules each agent knows, by agent and kind."""
