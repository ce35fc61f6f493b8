"""Knowledge: reads, search, the skill store, the author of skills, lists for people."""

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
    """Reads of knowledge. Every write goes through the change gate."""

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        """Return an item as it stands. Raises NotFound, also if it was deleted."""

    async def find_named(
        self, kind: Kind, tenant_id: str, agent_id: str, name: str
    ) -> KnowledgeItem | None:
        """Return the agent's item of that name (NFC, case folded), or None. Memories have none."""

    async def packages(self) -> Mapping[Kind, str]:
        """Return which package brought each kind of which there has been an item."""

    async def find_same(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        content: str,
        *,
        user: str | None = None,
    ) -> KnowledgeItem | None:
        """Return the agent's oldest item with exactly this text (NFC, case, white space folded).

        With `user` that end user's, else one that is for no end user alone; also one whose time is
        over.
        """

    async def taken(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        *,
        ids: Sequence[str],
        contents: Sequence[str],
    ) -> Sequence[KnowledgeItem]:
        """Return the items with one of these ids, and the agent's with one of these texts."""

    async def some(
        self, kind: Kind, tenant_id: str, agent_id: str, *, since: datetime | None, limit: int
    ) -> Sequence[KnowledgeItem]:
        """Return the agent's current items and the tenant's in no order, up to a limit.

        With `since` only those from after that time.
        """

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        """Return all versions, oldest first, each with its period of validity. Raises NotFound.

        Numbering continues over deletion and re-creation. Of skills, only the versions made here.
        """

    async def as_of(
        self, kind: Kind, tenant_id: str, item_id: str, at: datetime
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Return an item as it stood at `at`, and the files of a skill.

        Periods include their start and exclude their end. Skills are known only through the changes
        made here. Raises NotFound with a hint that names the nearest version.
        """

    async def list(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        expired: bool = False,
    ) -> Sequence[KnowledgeItem]:
        """Return all current items, newest first; without filters those of all tenants.

        With `expired` those instead whose time is over: nobody has deleted them. The content of
        skills is left blank: reading it takes a call each.
        """


class KnowledgePast(Protocol):
    """Past knowledge: one id may exist in several tenants and kinds, each with versions."""

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Return the newest version of everything that has or had this id, without content.

        `valid_to` is set if it was deleted. Ordered by tenant and kind.
        """

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Return one version of an item, and the files of a skill. Raises NotFound."""


class KnowledgePages(Protocol):
    """Current knowledge page by page in a stable order, for export and for browsing."""

    async def page(
        self,
        kind: Kind,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        after: KnowledgeItem | None,
        limit: int,
    ) -> Sequence[KnowledgeItem]:
        """Return current memories or rules after `after`, by tenant and id (code points)."""

    async def browse(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
        expired: bool = False,
        archived: bool = False,
    ) -> Sequence[Listed]:
        """Return current items of all kinds by tenant, kind and id (code points).

        With `expired` those instead whose time is over, with `archived` those put away by a person,
        each with the change that did it.
        `after` is tenant, kind and id of the last item of the previous page. Skills are those in
        the search index; with an agent, those on its list.
        """


class Ranking(Protocol):
    """Ranked search over everything a tenant knows, whoever it is for and however long."""

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Return the items most similar to `query`, best first."""

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        """Return the items of one kind most similar to `text` with their texts, best first.

        `seen` is the newest revision of a document of this kind, of the agent or of the whole
        tenant; anything written later, new or changed, is above it.
        """

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store (skills written by others)."""


class Search(Protocol):
    """Ranked search over what holds now, for whoever asks."""

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        """Return the items most similar to `query`, best first.

        Not those whose time is over, nor those for another end user than `user`. With an agent its
        own items and those for the whole tenant.
        """

    async def near(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind,
        limit: int,
        user: str | None = None,
    ) -> Nearby:
        """Return the items of one kind most similar to `text` with their texts, best first.

        Restricted as `search` is; `seen` is that of `Ranking.near`.
        """

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store (skills written by others)."""


class SkillStore(Protocol):
    """The skill HTTP API, as far as the worker writes through it (contracts, section 5)."""

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Return the whole folder, or None if there is no such skill."""

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        """Create a skill. Raises Stale if it exists."""

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        """Write one file of a bundle whose hash is `base_hash`; returns the new one. Stale."""

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        """Delete one file of a bundle whose hash is `base_hash`; returns the new one. Stale."""

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        """Delete a skill; absent already is fine. Raises Stale."""

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        """Return the tenant's skills, by name."""


class SkillAuthor(Protocol):
    """The model that writes or edits skills."""

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Write (CREATE) or edit (UPDATE); `problems` are those of the previous answer.

        The reply is stored under (key, ordinal). Raises ArtifactInvalid if it does not parse.
        """


class Reader(Protocol):
    """Reads for entry points: lists and audit, straight from the tables."""

    async def feedback(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        """Return feedback, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def changes(
        self, wanted: ChangeFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        """Return changes, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def history(
        self, wanted: HistoryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        """Return history, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def history_record(self, record_id: str) -> HistoryRecord:
        """Return one history record. Raises NotFound."""

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        """Return the events of one piece of feedback, oldest first."""

    async def counts(self) -> Mapping[str, int]:
        """Return the number of pieces of feedback by status."""


class Lineage(Protocol):
    """The provenance of items, for display."""

    async def made(
        self, kind: Kind, tenant_id: str, item_id: str, *, limit: int, max_bytes: int
    ) -> Sequence[Made]:
        """Return the newest changes of an item, oldest first: at most `limit`.

        Always the newest, and of the others as many as have `max_bytes` bytes of text together;
        with 0 all of them, but without the states before and after.
        """

    async def taught(self, tenant_id: str, *, agent_id: str | None, limit: int) -> Sequence[Taught]:
        """Return which feedback taught what is known now, newest first, once per item."""

    async def counts(self, tenant_id: str) -> Sequence[KnownCount]:
        """Return how many memories and rules each agent knows, by agent and kind."""
