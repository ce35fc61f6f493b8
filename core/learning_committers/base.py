"""What committers share: context, items in our own database, what stands beside a new text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.domain.errors import AlreadyExists, NearDuplicate, NotFound, Refused
from core.domain.hashing import new_item_id, state_hash
from core.domain.messages import Message
from core.domain.models import (
    UNBOUNDED,
    Agent,
    Bundle,
    Change,
    ChangeRequest,
    Compared,
    Kind,
    KnowledgeItem,
    KnownText,
    Nearby,
    Operation,
    Prepared,
    Reach,
    Relationship,
    Scope,
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
    """A committer for kinds whose items are rows of our database, without outside effects."""

    def __init__(self, kind: Kind, knowledge: Knowledge) -> None:
        self._kind = kind
        self._knowledge = knowledge

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the current item, None if it is absent or deleted."""
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
        """Return the target of an UPDATE or DELETE. Raises Refused unless it is the agent's own."""
        if not request.target_id:
            raise Refused(
                Message("item.id_missing", operation=request.operation, kind=self._kind),
                hint=Message("see.ids"),
            )
        item = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        if item.agent_id != context.agent_id:
            is_shared = item.scope is Scope.TENANT
            raise Refused(
                Message("item.of_another_agent", kind=self._kind, id=item.id, agent=item.agent_id),
                hint=hint_shared(item.agent_id) if is_shared else Message("item.only_own"),
            )
        return item

    async def _new_id(self, request: ChangeRequest, context: SubmitContext, prefix: str) -> str:
        """Return the id a CREATE asks for, else one derived from the key. Raises AlreadyExists."""
        if request.target_id and context.compared is not None and context.compared.is_all:
            return request.target_id
        if not request.target_id:
            # Derived, not random: a repeated preparation creates the same item.
            return new_item_id(prefix, context.key)
        try:
            taken = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        except NotFound:
            return request.target_id
        raise AlreadyExists(
            Message("item.id_taken", id=taken.id, kind=self._kind, name=taken.name),
            item_id=taken.id,
            name=taken.name,
            content=taken.content,
            hint=Message("item.leave_id_out"),
            why=Message("near.same_id"),
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
    """Return the state of an item."""
    return Snapshot(content=item.content, name=item.name, version=item.version, reach=item.reach)


def list_change(agent: Agent, names: Iterable[str]) -> Prepared:
    """Prepare to make `names` the agent's list of skills; the state is one name per line."""
    before, after = list_state(agent), list_state(agent.model_copy(update={"skills": tuple(names)}))
    return Prepared(
        kind=Kind.AGENT_SKILLS,
        target_id=agent.id,
        target_name=agent.name,
        operation=Operation.UPDATE,
        before=before,
        after=after,
        base_hash=state_hash(before),
    )


def list_state(agent: Agent) -> Snapshot:
    """Return the state of an agent's list of skills."""
    return Snapshot(content="\n".join(sorted(set(agent.skills))), name=agent.name)


COMPARED = 12
_SKILLS_READ = 5
SHOWN = 3


@dataclass(frozen=True)
class Beside:
    """The items found, most similar first, and the index position compared up to."""

    found: Sequence[Evidence] = ()
    seen: int = 0

    @property
    def exact(self) -> Evidence | None:
        """The item that says exactly this, if any."""
        return next((evidence for evidence in self.found if evidence.is_exact), None)

    @property
    def near(self) -> Sequence[Evidence]:
        """The items that say this or nearly this, or collide with its name or trigger."""
        return [evidence for evidence in self.found if evidence.is_exact or evidence.is_neighbour]


class Neighbours:
    """Look up the known items near a new text, for all committers."""

    def __init__(self, search: Search, skills: SkillStore) -> None:
        self._search = search
        self._skills = skills

    async def of_text(
        self,
        kind: Kind,
        text: str,
        context: SubmitContext,
        *,
        but: str,
        reach: Reach,
    ) -> Beside:
        """Compare a text with the agent's items of a kind and the tenant's, except the item `but`.

        One for the whole tenant with those of all agents. Of items for one end user only those of
        the user it is for.
        """
        given = context.compared or Compared()
        nearby = Nearby() if given.is_all else await self._nearby(kind, text, context, reach)
        found = {item.id: item for item in (*nearby.items, *given.items) if item.id != but}
        known = [_known(item, context.agent_id) for item in found.values()]
        return Beside(compare(text, known), nearby.seen)

    async def _nearby(self, kind: Kind, text: str, context: SubmitContext, reach: Reach) -> Nearby:
        nearby = await self._near(kind, text, context, context.agent_id, reach.user)
        if reach.scope is not Scope.TENANT:
            return nearby
        everyones = await self._near(kind, text, context, None, None)
        return nearby.model_copy(update={"items": (*nearby.items, *everyones.items)})

    async def _near(
        self,
        kind: Kind,
        text: str,
        context: SubmitContext,
        agent_id: str | None,
        user: str | None,
    ) -> Nearby:
        return await self._search.near(
            text,
            tenant_id=context.tenant_id,
            agent_id=agent_id,
            kind=kind,
            limit=COMPARED,
            user=user,
        )

    async def of_skill(self, bundle: Bundle, context: SubmitContext) -> Beside:
        """Compare a new skill with the tenant's."""
        nearby = await self._search.near(
            bundle.document,
            tenant_id=context.tenant_id,
            agent_id=context.agent_id,
            kind=Kind.SKILL,
            limit=_SKILLS_READ,
        )
        found = [*nearby.items, *(context.compared.items if context.compared else ())]
        names = dict.fromkeys(item.id for item in found if item.id != bundle.name)
        read = [await self._skills.read(name, context.tenant_id) for name in names]
        return Beside(compare_skills(bundle, [known for known in read if known]), nearby.seen)


def says_unrelated(request: ChangeRequest) -> bool:
    """Whether a request declares, with a reason, that near items are unrelated."""
    return request.relationship is Relationship.UNRELATED and bool(request.reason.strip())


def warnings_beside(
    request: ChangeRequest,
    kind: Kind,
    near: Sequence[Evidence],
    context: SubmitContext,
    reach: Reach = UNBOUNDED,
) -> tuple[str, ...]:
    """Return a sentence for each item near the new one, which has a `reach`, nearest first.

    Raises NearDuplicate for a CREATE near items it is not excused from; an import always is.
    """
    if request.operation is Operation.CREATE and not request.is_import:
        rest = [one for one in near if not _holds_otherwise(request, one.known, reach)]
        in_the_way = _in_the_way(request, rest, context)
        if in_the_way:
            # A second refusal shows all remaining items, so that the next call can name them.
            shown = COMPARED if says_unrelated(request) else SHOWN
            raise _refused(kind, in_the_way, shown)
    told = said_of_near(request)
    return tuple(_warning(kind, evidence, told) for evidence in _warned_of(request, near))


def _warning(kind: Kind, found: Evidence, told: str) -> Message:
    known = found.known
    named = {"kind": kind, "id": known.id, "name": known.name, "why": found.why, "told": told}
    if not known.of:
        return Message("near.item", **named)
    if known.is_shared:
        return Message("near.item_of_tenant", agent=known.of, **named)
    return Message("near.item_of_agent", agent=known.of, **named)


def _holds_otherwise(request: ChangeRequest, known: Known, reach: Reach) -> bool:
    """Whether a request is declared, with a reason, an exception for a time or for somebody."""
    is_declared = request.relationship is Relationship.EXCEPTION and bool(request.reason.strip())
    return is_declared and known.reach != reach


def said_of_near(request: ChangeRequest) -> str:
    """Return what a request says about near items, as the end of a warning."""
    if request.is_import:
        return f"; {request.reason.strip()}"
    reason = request.reason.strip()
    is_new = request.operation is Operation.CREATE
    if is_new and reason and request.relationship is Relationship.EXCEPTION:
        return Message("near.said_exception", reason=reason)
    if not says_unrelated(request):
        return ""
    return Message("near.said_unrelated", reason=reason)


def _warned_of(request: ChangeRequest, near: Sequence[Evidence]) -> Sequence[Evidence]:
    """Return the items to warn a reviewer of: all excused ones, else the nearest."""
    if request.is_import:  # a list of similar entries would warn on every line
        told = (evidence for evidence in near if not evidence.is_of_one_form)
        return [*islice(told, SHOWN)]
    return near if says_unrelated(request) else near[:SHOWN]


def _in_the_way(
    request: ChangeRequest, near: Sequence[Evidence], context: SubmitContext
) -> list[Evidence]:
    """Return the near items that a CREATE is not excused from, the agent's own first.

    UNRELATED with a reason excuses items the run was shown (a caller without a run is assumed to
    know the nearest), items the reason names, and items that name someone or something else. It
    does not cover items added later. Beside what another agent wrote for the tenant any other
    relationship does too, as this agent cannot change it; what others keep for themselves is only
    told to the reviewer.
    """
    nearest = frozenset(evidence.known.id for evidence in near[:SHOWN])
    shown = (nearest if context.shown is None else context.shown) - context.unjudged
    found = [
        evidence
        for evidence in near
        if (evidence.known.is_shared or not evidence.known.of)
        and not (
            _may_excuse(request, evidence)
            and (
                evidence.known.id in shown
                or evidence.known.id in request.reason
                or evidence.is_about_another
            )
        )
    ]
    return sorted(found, key=lambda evidence: bool(evidence.known.of))


def _may_excuse(request: ChangeRequest, near: Evidence) -> bool:
    if not near.known.of:
        return says_unrelated(request)
    is_said = request.relationship not in {None, Relationship.DUPLICATE}
    return is_said and bool(request.reason.strip())


def _refused(kind: Kind, in_the_way: Sequence[Evidence], shown: int) -> NearDuplicate:
    first, *others = [_told(kind, evidence) for evidence in in_the_way[:shown]]
    first.others = tuple(others)
    if others:
        ids = ", ".join(error.item_id for error in others)
        more = len(in_the_way) - shown
        first.message = Message(
            "near.so_do",
            first=first.message,
            ids=Message("near.and_more", ids=ids, n=more) if more > 0 else ids,
        )
    return first


def _told(kind: Kind, evidence: Evidence) -> NearDuplicate:
    known = evidence.known
    hint = Message("near.hint", argument=kind.argument, id=known.id)
    return NearDuplicate(
        Message("near.says_nearly_this", kind=kind, id=known.id, name=known.name, why=evidence.why),
        item_id=known.id,
        name=known.name,
        content=known.text,
        hint=hint_shared(known.of) if known.of else hint,
        why=evidence.why,
        score=evidence.similarity,
        valid_until=known.reach.valid_until,
        of=known.of,
    )


def hint_shared(agent_id: str) -> Message:
    """Return what another agent can do about what `agent_id` wrote for the whole tenant."""
    return Message("near.hint_shared", agent=agent_id)


def _known(item: KnownText, agent_id: str) -> Known:
    of = item.agent_id if item.agent_id and item.agent_id != agent_id else ""
    is_shared = item.scope is Scope.TENANT
    reach = Reach(valid_until=item.valid_until, scope=item.scope, user=item.user)
    told = (item.id, item.name, item.content, item.kind, item.closeness)
    return Known(*told, reach=reach, of=of, is_shared=is_shared)
