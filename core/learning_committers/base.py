"""What committers share: context, items in our own database, what stands beside a new text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.errors import AlreadyExists, NearDuplicate, NotFound, Refused
from core.domain.hashing import new_item_id, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Bundle,
    Change,
    ChangeRequest,
    Kind,
    KnowledgeItem,
    KnownText,
    Operation,
    Prepared,
    Relationship,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Gate, Knowledge, Search, SkillStore, UnitOfWork
from core.knowledge.duplicates import Evidence, Known, compare
from core.knowledge.duplicates.skills import compare_skills


@dataclass(frozen=True)
class CommitDeps:
    """The change gate and the context (key, tenant, feedback, fence) of one submission."""

    gate: Gate
    context: SubmitContext


class ItemCommitter:
    """Carries out changes of a kind whose items are rows of ours: nothing happens outside."""

    def __init__(self, kind: Kind, knowledge: Knowledge) -> None:
        self._kind = kind
        self._knowledge = knowledge

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Give the item as it stands, None where it is absent or deleted."""
        try:
            return snapshot(await self._knowledge.get(self._kind, tenant_id, target_id))
        except NotFound:
            return None

    async def apply(self, change: Change) -> None:
        """Do nothing: the item is written by `record`, in the transaction of its history row."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Write the item's next version. Raises Stale."""
        await unit.write_item(change)

    async def _target(self, request: ChangeRequest, context: SubmitContext) -> KnowledgeItem:
        """Give the item that an UPDATE or DELETE names, if it is the agent's own."""
        if not request.target_id:
            raise Refused(
                f"{request.operation} of a {self._kind} needs the id of the item",
                hint="search_similar_knowledge gives ids",
            )
        item = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        if item.agent_id != context.agent_id:
            raise Refused(
                f"{self._kind} {item.id} belongs to agent {item.agent_id}",
                hint="an agent changes only what it has learnt itself",
            )
        return item

    async def _new_id(self, request: ChangeRequest, context: SubmitContext, prefix: str) -> str:
        """Give the id a CREATE asks for, else one of its own. Raises AlreadyExists."""
        if not request.target_id:
            return new_item_id(prefix, context.key)
        try:
            taken = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        except NotFound:
            return request.target_id
        raise AlreadyExists(
            f"the id {taken.id!r} belongs to another {self._kind}, {taken.name!r}",
            item_id=taken.id,
            name=taken.name,
            content=taken.content,
            hint="leave the id out to have a new one, or change that item instead",
            why="same id",
        )

    def _prepared(
        self, item: KnowledgeItem, operation: Operation, after: Snapshot | None
    ) -> Prepared:
        """Prepare a change of an existing item."""
        before = snapshot(item)
        return Prepared(
            kind=self._kind,
            target_id=item.id,
            target_name=after.name if after else item.name,
            operation=operation,
            before=before,
            after=after,
            base_hash=state_hash(before),
        )

    def _created(self, target_id: str, after: Snapshot) -> Prepared:
        """Prepare a new item."""
        return Prepared(
            kind=self._kind,
            target_id=target_id,
            target_name=after.name,
            operation=Operation.CREATE,
            before=None,
            after=after,
            base_hash=state_hash(None),
        )


def split_names(names: str) -> tuple[str, ...]:
    """Split a comma-separated list of names; blanks and repetitions are dropped."""
    return tuple(dict.fromkeys(part.strip() for part in names.split(",") if part.strip()))


def snapshot(item: KnowledgeItem) -> Snapshot:
    """The state of an item."""
    return Snapshot(content=item.content, name=item.name, version=item.version)


COMPARED = 12
_SKILLS_READ = 5
SHOWN = 3
_ARGUMENT = {Kind.MEMORY: "memory_id", Kind.DMN_RULE: "rule_id", Kind.SKILL: "skill_id"}


@dataclass(frozen=True)
class Beside:
    """What was found: the items, most similar first, and up to which document was looked."""

    found: Sequence[Evidence] = ()
    seen: int = 0

    @property
    def exact(self) -> Evidence | None:
        """The item that says exactly this, if there is one."""
        return next((evidence for evidence in self.found if evidence.is_exact), None)

    @property
    def near(self) -> Sequence[Evidence]:
        """The items that say this, or nearly, or would be taken for it."""
        return [evidence for evidence in self.found if evidence.is_exact or evidence.is_neighbour]


class Neighbours:
    """Looks up what is known near a new text; a shared part of the committers."""

    def __init__(self, search: Search, skills: SkillStore) -> None:
        self._search = search
        self._skills = skills

    async def of_text(self, kind: Kind, text: str, context: SubmitContext, *, but: str) -> Beside:
        """Compare a text with the agent's own items of a kind, save the item `but`."""
        nearby = await self._search.near(
            text,
            tenant_id=context.tenant_id,
            agent_id=context.agent_id,
            kind=kind,
            limit=COMPARED,
        )
        own = [item for item in nearby.items if item.id != but and item.agent_id is not None]
        return Beside(compare(text, [_known(item) for item in own]), nearby.seen)

    async def of_skill(self, bundle: Bundle, context: SubmitContext) -> Beside:
        """Compare a new skill with the tenant's."""
        nearby = await self._search.near(
            bundle.document,
            tenant_id=context.tenant_id,
            agent_id=context.agent_id,
            kind=Kind.SKILL,
            limit=_SKILLS_READ,
        )
        names = [item.id for item in nearby.items if item.id != bundle.name]
        read = [await self._skills.read(name, context.tenant_id) for name in names]
        return Beside(compare_skills(bundle, [known for known in read if known]), nearby.seen)


def says_unrelated(request: ChangeRequest) -> bool:
    """Tell whether a request says, with a reason, that what is near is about something else."""
    return request.relationship is Relationship.UNRELATED and bool(request.reason.strip())


def warnings_beside(
    request: ChangeRequest,
    kind: Kind,
    near: Sequence[Evidence],
    context: SubmitContext,
) -> tuple[str, ...]:
    """Give a sentence for each item that new knowledge stands beside, the nearest first.

    Raises NearDuplicate for a CREATE beside items that nothing excuses; an import needs no excuse.
    """
    if request.operation is Operation.CREATE and not request.is_import:
        in_the_way = _in_the_way(request, near, context)
        if in_the_way:
            # The second refusal shows all that is left, so that one more call can name them.
            shown = COMPARED if says_unrelated(request) else SHOWN
            raise _refused(kind, in_the_way, shown)
    told = said_of_near(request)
    return tuple(
        Message(
            "near.item",
            "near {kind} {id} {name!r} ({why}){told}",
            kind=kind,
            id=evidence.known.id,
            name=evidence.known.name,
            why=evidence.why,
            told=told,
        )
        for evidence in _warned_of(request, near)
    )


def said_of_near(request: ChangeRequest) -> str:
    """Give what a request says of the items it stands beside, as the end of a warning."""
    if request.is_import:
        return f"; {request.reason.strip()}"
    if not says_unrelated(request):
        return ""
    reason = request.reason.strip()
    return Message("near.said_unrelated", "; said to be unrelated: {reason}", reason=reason)


def _warned_of(request: ChangeRequest, near: Sequence[Evidence]) -> Sequence[Evidence]:
    """Give what a reviewer should know of: all that was excused, else the nearest."""
    if request.is_import:  # a list of the like of many would warn of every line
        return [evidence for evidence in near if not evidence.is_of_one_form][:SHOWN]
    return near if says_unrelated(request) else near[:SHOWN]


def _in_the_way(
    request: ChangeRequest, near: Sequence[Evidence], context: SubmitContext
) -> list[Evidence]:
    """Give the near items that a CREATE is not excused from.

    UNRELATED with a reason excuses those that the run was shown (a caller without a run is taken to
    know the nearest); those the reason names; and those that are about another by what they name.
    It says nothing of what came later.
    """
    if not says_unrelated(request):
        return [*near]
    nearest = frozenset(evidence.known.id for evidence in near[:SHOWN])
    shown = (nearest if context.shown is None else context.shown) - context.unjudged
    return [
        evidence
        for evidence in near
        if evidence.known.id not in shown
        and evidence.known.id not in request.reason
        and not evidence.is_about_another
    ]


def _refused(kind: Kind, in_the_way: Sequence[Evidence], shown: int) -> NearDuplicate:
    first, *others = [_told(kind, evidence) for evidence in in_the_way[:shown]]
    first.others = tuple(others)
    if others:
        ids = ", ".join(error.item_id for error in others)
        more = len(in_the_way) - shown
        first.message = Message(
            "near.so_do",
            "{first}; so do {ids}",
            first=first.message,
            ids=Message("near.and_more", "{ids} and {n} more", ids=ids, n=more)
            if more > 0
            else ids,
        )
    return first


def _told(kind: Kind, evidence: Evidence) -> NearDuplicate:
    known = evidence.known
    return NearDuplicate(
        Message(
            "near.says_nearly_this",
            "{kind} {id} {name!r} says nearly this ({why})",
            kind=kind,
            id=known.id,
            name=known.name,
            why=evidence.why,
        ),
        item_id=known.id,
        name=known.name,
        content=known.text,
        hint=f"where it is about the same, call again with operation UPDATE and {_ARGUMENT[kind]} "
        f"{known.id}, or no_action (duplicate) where nothing is new; where it is about something "
        "else, call again with relationship UNRELATED and a reason that names each item shown, by "
        "its id, and says why it is unrelated",
        why=evidence.why,
        score=evidence.similarity,
    )


def _known(item: KnownText) -> Known:
    return Known(id=item.id, name=item.name, text=item.content, kind=item.kind)
