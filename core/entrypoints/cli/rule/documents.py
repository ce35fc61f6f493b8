"""DMN files as requests to the gate: one table per document, under a repeatable key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from core.decision_table import parse_xml
from core.decision_table.document.aside import not_evaluated
from core.decision_table.document.tables import ReadTable, cut_each, cut_out
from core.domain.errors import InvalidInput, Refused
from core.domain.hashing import name_key, text_hash
from core.domain.messages import Message
from core.domain.models import (
    ChangeStatus,
    Kind,
    KnowledgeItem,
    MergeMode,
    Operation,
    Origin,
    Receipt,
    Relationship,
    RuleRequest,
    SubmitContext,
)
from core.entrypoints.cli.files import open_input
from core.entrypoints.cli.knowledge.tenants import known_agent

if TYPE_CHECKING:
    from core.app.program import App

MAX_BYTES = 20_000_000
_OVER = {ChangeStatus.APPLIED, ChangeStatus.REVERTED, ChangeStatus.REJECTED}


@dataclass(frozen=True)
class Document:
    """A DMN document with one table: its origin, its text, and what of the file it lacks.

    `notes` name what else is in the file and not evaluated; the first document has them.
    """

    file: str
    name: str
    xml: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def documents_of(file: Path, decisions: Sequence[str]) -> tuple[list[Document], list[str]]:
    """Read the tables of a file, each as a document of its own, and why others are none.

    These are all tables, or those of the decisions named. Raises InvalidInput, NotFound.
    """
    xml = _text(file)
    notes = not_evaluated(xml)
    documents, problems = [], []
    for cut in [cut_out(xml, decision) for decision in decisions] or cut_each(xml):
        if isinstance(cut, ReadTable):
            problems.append(Message("dmn.of_decision", name=cut.decision or "?", why=cut.problem))
            continue
        name = parse_xml(cut.xml).name
        documents.append(Document(str(file), name, cut.xml, cut.left_out, notes))
        notes = ()
    return documents, [*problems, *_named_twice(documents)]


def _named_twice(documents: list[Document]) -> list[str]:
    """Take out the tables that share a name with another one, and return what to say of them."""
    names = [name_key(document.name) for document in documents]
    twice = [document for document in documents if names.count(name_key(document.name)) > 1]
    for document in twice:
        documents.remove(document)
    return [
        Message("dmn.several_decisions", name=name)
        for name in dict.fromkeys(document.name for document in twice)
    ]


class Importer:
    """Submits documents on behalf of one agent."""

    def __init__(
        self, app: App, tenant_id: str, agent_id: str, *, replace: bool, unrelated: str
    ) -> None:
        self._app = app
        self._tenant_id = tenant_id
        self._agent_id = agent_id
        self._replace = replace
        self._unrelated = unrelated

    @classmethod
    async def open(
        cls, app: App, agent_id: str, tenant_id: str | None, *, replace: bool, unrelated: str
    ) -> Importer:
        """Create an importer for an existing agent. Raises NotFound, WrongCall."""
        agent = await known_agent(app, agent_id, tenant_id)
        return cls(app, agent.tenant_id, agent_id, replace=replace, unrelated=unrelated)

    async def take(self, document: Document) -> Receipt:
        """Submit a document. Raises Refused if there is another table of that name."""
        knowledge = self._app.stores.knowledge
        known = await knowledge.find_named(
            Kind.DMN_RULE, self._tenant_id, self._agent_id, document.name
        )
        if known is not None and known.content != document.xml and not self._replace:
            raise Refused(
                Message("rule.other_of_name", agent=self._agent_id, name=known.name, id=known.id),
                hint=Message("rule.hint_replace"),
            )
        context = SubmitContext(
            key=await self._key(document, known),
            tenant_id=self._tenant_id,
            agent_id=self._agent_id,
            origin=Origin.IMPORT,
        )
        return await self._app.gate.submit(self._request(document, known), context)

    def _request(self, document: Document, known: KnowledgeItem | None) -> RuleRequest:
        imported = f"imported from {Path(document.file).name}"
        if known is not None:
            return RuleRequest(
                operation=Operation.UPDATE,
                target_id=known.id,
                document=document.xml,
                merge_mode=MergeMode.REPLACE,
                relationship=Relationship.SUPERSEDES,
                reason=imported,
            )
        return RuleRequest(
            operation=Operation.CREATE,
            document=document.xml,
            relationship=Relationship.UNRELATED if self._unrelated else None,
            reason=self._unrelated or imported,
        )

    async def _key(self, document: Document, known: KnowledgeItem | None) -> str:
        """Return the idempotency key of this document applied to the table as it is now.

        An interrupted import is completed under its key. One that was applied, and undone since,
        counts as another.
        """
        there = known.content if known else ""
        parts = (self._tenant_id, self._agent_id, self._unrelated, there, document.xml)
        digest = text_hash("\0".join(parts))
        for number in count(1):
            key = f"import:{digest}" if number == 1 else f"import:{digest}:{number}"
            change = await self._app.stores.changes.find(key)
            if change is None or change.status not in _OVER:
                return key
        raise AssertionError("count does not end")


def _text(file: Path) -> str:
    """Return a file's text with every byte of it, including a byte order mark."""
    with open_input(file) as handle:
        data = handle.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InvalidInput(Message("input.more_than", most=MAX_BYTES), hint=Message("hint.split"))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(Message("input.not_utf8"), hint=Message("hint.utf8")) from None
