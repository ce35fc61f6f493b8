"""Whether what a model calls known already is: no item that differs passes for the same unseen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.agent.loop.deps import ReactDeps
from core.decision_table import parse_xml, search_text
from core.domain.errors import NotFound, RuleInvalid
from core.domain.messages import Message, joined
from core.domain.models import Hit, Kind, KnowledgeItem, Receipt, ReceiptStatus, Scope
from core.domain.text import shorten
from core.knowledge.duplicates import CLASHES, Evidence, Known, evidence, sentences

DUPLICATE = "duplicate"
QUERY_CHARS = 2_000
EXCERPT_CHARS = 500
LIKE = 0.15  # items that share less with a text are not what it could be a duplicate of


@dataclass(frozen=True)
class Unlike:
    """The item that a text comes nearest to, and what differs."""

    kind: Kind
    found: Evidence

    @property
    def why(self) -> str:
        """What the two share, and what differs."""
        return self.found.why


@dataclass(frozen=True)
class Claim:
    """A run's text that its model calls known, with the reason it gives."""

    text: str
    reason: str
    tenant_id: str
    agent_id: str


async def unlike(claim: Claim, deps: ReactDeps) -> Unlike | None:
    """Return the nearest item if none says all of a text as far as code sees; else None.

    Each sentence may be known from another item. Compared are the items that the reason names by
    id, else those a search finds. None too if nothing known resembles the text.
    """
    items = await _items(claim, deps)
    for sentence in sentences(claim.text):
        compared = [_compared(sentence, *item) for item in items]
        if any(_says(found, named) for found, named in compared):
            continue
        rated = [(found.found.similarity, at) for at, (found, _) in enumerate(compared)]
        nearest = max(rated, default=None)
        if nearest is not None and (nearest[0] >= LIKE or compared[nearest[1]][1]):
            return compared[nearest[1]][0]
    return None


def refused(unlike: Unlike) -> Receipt:
    """Return the refusal of a text called known, with the item and what differs."""
    known = unlike.found.known
    named = {"kind": unlike.kind, "id": known.id, "name": known.name}
    hint = Message("near.hint_duplicate", argument=unlike.kind.argument, id=known.id)
    if known.of:
        hint = Message("near.hint_shared", agent=known.of)
    excerpt = shorten(known.text, EXCERPT_CHARS)
    score = round(unlike.found.similarity, 3)
    hit = Hit(**named, excerpt=excerpt, score=score, why=unlike.why, agent_id=known.of or None)
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=joined([Message("near.differs", **named, why=unlike.why), hint], ". "),
        kind=unlike.kind,
        target_id=known.id,
        target_name=known.name,
        hits=(hit,),
        category=DUPLICATE,
    )


def was_refused(receipts: Iterable[Receipt]) -> bool:
    """Whether a run was shown already how what it calls known differs."""
    return any(r.status is ReceiptStatus.REFUSED and r.category == DUPLICATE for r in receipts)


def although(reason: str, unlike: Unlike) -> str:
    """Return a reason with the difference that it was given in spite of."""
    known = unlike.found.known
    named = {"kind": unlike.kind, "id": known.id, "name": known.name}
    return Message("near.known_although", reason=reason, why=unlike.why, **named)


Item = tuple[Kind, Known, bool]


async def _items(claim: Claim, deps: ReactDeps) -> Sequence[Item]:
    hits = await deps.search.search(
        shorten(claim.text, QUERY_CHARS),
        tenant_id=claim.tenant_id,
        agent_id=claim.agent_id,
        kind=None,
        limit=deps.search_limit,
    )
    named = [hit for hit in hits if hit.id in claim.reason]
    read = [await _read(hit, claim, deps) for hit in named or hits]
    return [(*item, bool(named)) for item in read if item is not None]


async def _read(hit: Hit, claim: Claim, deps: ReactDeps) -> tuple[Kind, Known] | None:
    if hit.kind is Kind.SKILL:
        bundle = await deps.skills.read(hit.id, claim.tenant_id)
        text = bundle.document if bundle else hit.excerpt
    else:
        try:
            text = _text(await deps.knowledge.get(hit.kind, claim.tenant_id, hit.id))
        except NotFound:
            text = hit.excerpt
    is_shared = hit.scope is Scope.TENANT
    of = hit.agent_id if is_shared and hit.agent_id not in {None, claim.agent_id} else None
    return hit.kind, Known(hit.id, hit.name, text, hit.kind, of=of or "", is_shared=is_shared)


def _text(item: KnowledgeItem) -> str:
    if item.kind is not Kind.DMN_RULE:
        return item.content
    try:
        return search_text(parse_xml(item.content))
    except RuleInvalid:
        return item.content


def _compared(text: str, kind: Kind, known: Known, named: bool) -> tuple[Unlike, bool]:
    return Unlike(kind, evidence(text, known)), named


def _says(unlike: Unlike, named: bool) -> bool:
    """Whether an item says a text as far as code sees.

    A table or a skill says it in words of its own: it must be near, or named, and nothing clash.
    """
    found = unlike.found
    if unlike.kind is Kind.MEMORY:
        return not found.told
    clashes = [d for d in found.told if d.what in CLASHES and d.new]
    if unlike.kind is Kind.DMN_RULE:
        clashes = [d for d in clashes if d.what == "number"]
    return (found.is_near or found.is_exact or named) and not clashes
