"""Memories: facts, preferences and guidelines, stored with the span in which each was true."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from core.domain.errors import AlreadyExists, NotFound, Refused
from core.domain.hashing import memory_name
from core.domain.messages import Message
from core.domain.models import (
    UNBOUNDED,
    ChangeRequest,
    Kind,
    KnowledgeItem,
    MemoryRequest,
    MergeMode,
    Operation,
    Prepared,
    Reach,
    Receipt,
    Relationship,
    Scope,
    Snapshot,
    SubmitContext,
)
from core.domain.models.cases import CaseBody
from core.domain.models.feedback import is_reserved
from core.domain.models.knowledge import MAX_MEMORY_BYTES
from core.domain.ports import Knowledge
from core.knowledge.duplicates import Known, contained_part, evidence, normal_form
from core.knowledge.how_long import without_span
from core.learning_committers.base import (
    Beside,
    CommitDeps,
    ItemCommitter,
    Neighbours,
    snapshot,
    warnings_beside,
)
from core.safety.lessons import problem_of_lesson

# A new text with less of the old content than this is no refinement of it.
LEAST_RETAINED = 0.5
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
SHOWN_CHARS = 2_000


def new_text(request: MemoryRequest) -> str:
    """Return the content of a request without surrounding white space (as Unicode defines it).

    Every other character stays. Raises Refused, also for one that is too long.
    """
    text = bounded(request.content.strip())
    if not text:
        raise Refused(Message("memory.no_content"), hint=Message("memory.say_what"))
    if request.part and request.operation is Operation.CREATE:
        raise Refused(Message("memory.no_part"), hint=Message("memory.leave_part_out"))
    return text


def bounded(text: str) -> str:
    """Return a text that is short enough for a memory. Raises Refused."""
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_MEMORY_BYTES:
        raise Refused(
            Message("memory.too_long", n=size, most=MAX_MEMORY_BYTES),
            hint=Message("memory.make_skill"),
        )
    return text


def merged(old: str, request: MemoryRequest) -> str:
    """Return the text an UPDATE makes of the old one.

    EXTEND retains every character of the old, REFINE all but the part it names; REPLACE, or no
    mode, substitutes the new text. Raises Refused.
    """
    new = new_text(request)
    mode = request.merge_mode
    if request.part.strip():
        if mode not in (None, MergeMode.REFINE):
            raise Refused(
                Message("memory.part_without_refine", mode=mode),
                hint=Message("memory.use_refine"),
            )
        return _refined(old, request.part, new)
    if mode is MergeMode.EXTEND:
        return _extended(old, new)
    if mode is MergeMode.REFINE:
        _refuse_loss(old, new)
    return new


def _extended(old: str, new: str) -> str:
    goes_on = new[len(old) : len(old) + 1]  # "up to 1" is not said again by "up to 10"
    if new.startswith(old) and not (old[-1:].isalnum() and goes_on.isalnum()):
        return new
    return old if _states(old, new) else f"{old}\n{new}"


def _states(old: str, new: str) -> bool:
    """Whether a text has another as lines or sentences of it, whole: `가능` is none of `불가능`."""
    lines = [normal_form(part) for part in _SENTENCE.split(old)]
    added = [normal_form(part) for part in _SENTENCE.split(new)]
    size = len(added)
    return any(lines[at : at + size] == added for at in range(len(lines) - size + 1))


def _refined(old: str, part: str, new: str) -> str:
    found = list(_pattern(part).finditer(old))
    if len(found) != 1:
        raise Refused(
            _not_once(part.strip(), len(found)),
            hint=Message("memory.hint_part", content=old[:SHOWN_CHARS]),
        )
    (place,) = found
    return old[: place.start()] + new + old[place.end() :]


def _not_once(part: str, times: int) -> Message:
    if not times:
        return Message("memory.part_missing", part=part)
    return Message("memory.part_several", part=part, n=times)


def _pattern(part: str) -> re.Pattern[str]:
    """Return a pattern for a part, ignoring white space and Unicode normal form.

    Models repeat text in NFC, while a memory may have come in as NFD (from macOS).
    """
    return re.compile(r"\s+".join(_either_form(word) for word in part.split()))


def _either_form(word: str) -> str:
    composed, decomposed = (
        unicodedata.normalize("NFC", word),
        unicodedata.normalize("NFD", word),
    )
    return f"(?:{re.escape(composed)}|{re.escape(decomposed)})"


def _refuse_loss(old: str, new: str) -> None:
    retained = contained_part(old, new)
    if retained < LEAST_RETAINED:
        raise Refused(
            Message("memory.no_refine", part=retained),
            hint=Message("memory.hint_refine", content=old[:SHOWN_CHARS]),
        )


async def commit_to_memory(
    agent_id: str,
    content: str = "",
    operation: Operation = Operation.CREATE,
    memory_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    part: str = "",
    valid_until: datetime | None = None,
    scope: Scope | None = None,
    user: str | None = None,
    *,
    endless: bool = False,
    cases: Sequence[CaseBody] = (),
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, change or deletion of a memory to the change gate.

    With REFINE `part` are the words of the old text that `content` replaces. `valid_until`, `scope`
    and `user` are as in `MemoryRequest`.
    """
    request = MemoryRequest(
        operation=operation,
        target_id=None if operation is Operation.CREATE else memory_id,
        content=content,
        part=part,
        valid_until=valid_until,
        endless=endless,
        scope=scope,
        user=user,
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
        cases=tuple(cases),
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class MemoryCommitter(ItemCommitter):
    """Prepare memories; one that is already known becomes a change without effect.

    A near duplicate is refused, unless the request says why it is unrelated; that reason is
    stored as a warning of the change.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        neighbours: Neighbours,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(Kind.MEMORY, knowledge)
        self._neighbours = neighbours
        self._clock = clock

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, MemoryRequest)
        if is_reserved(context.agent_id):
            _refuse_unfit_lesson(request)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        return await self._update(item, request, context)

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Refuse to restore a text that another memory of the agent states by now."""
        if prepared.after is not None:
            after = prepared.after
            await self._refuse_twice(after.content, context, after.reach, but=prepared.target_id)
        return prepared

    async def _create(self, request: MemoryRequest, context: SubmitContext) -> Prepared:
        text = new_text(request)
        reach = reach_of(request, context, UNBOUNDED, self._clock())
        # Before the exact match: an item added after `seen` is compared again when recording.
        is_lesson = is_reserved(context.agent_id)  # likeness was judged by its evidence
        beside = Beside() if is_lesson else await self._beside(text, context, reach, but="")
        same = await self._same(text, context, reach)
        if same is not None:
            reach = reach_of(request, context, same.reach, self._clock())
            known = snapshot(same)
            # With nothing new it is a change without effect, whatever the wording.
            after = known if reach == same.reach else _state(same.content, reach)
            return self._prepared(same, Operation.UPDATE, after)
        shared = await self._known_to_all(beside, context, reach)
        if shared is not None:
            return self._prepared(shared, Operation.UPDATE, snapshot(shared))
        warnings = warnings_beside(request, Kind.MEMORY, beside.near, context, reach)
        prepared = self._created(await self._new_id(request, context, "mem"), _state(text, reach))
        seen = None if is_lesson else _mark(request, beside)
        return prepared.model_copy(update={"warnings": warnings, "seen": seen})

    async def _update(
        self, item: KnowledgeItem, request: MemoryRequest, context: SubmitContext
    ) -> Prepared:
        reach = reach_of(request, context, item.reach, self._clock())
        states_reach_alone = not request.content.strip() and reach != item.reach
        text = item.content if states_reach_alone else bounded(merged(item.content, request))
        prepared = self._prepared(item, Operation.UPDATE, _state(text, reach))
        if text == item.content and reach.user == item.user:
            return prepared
        _refuse_spread(item, request, reach, text, context.said_at or self._clock())
        await self._refuse_twice(text, context, reach, but=item.id)
        beside = await self._beside(text, context, reach, but=item.id)
        warnings = _changed(item, request) + _end_stays(item, request, reach)
        warnings += warnings_beside(request, Kind.MEMORY, beside.near, context)
        return prepared.model_copy(update={"warnings": warnings, "seen": _mark(request, beside)})

    async def _target(self, request: ChangeRequest, context: SubmitContext) -> KnowledgeItem:
        """Return the target. Raises Refused for another end user's, or another agent's."""
        item = await super()._target(request, context)
        if item.user is not None and context.author not in {None, item.user}:
            raise Refused(
                Message("memory.of_another_user", id=item.id),
                hint=Message("memory.create_own"),
            )
        return item

    async def _beside(self, text: str, context: SubmitContext, reach: Reach, *, but: str) -> Beside:
        return await self._neighbours.of_text(Kind.MEMORY, text, context, but=but, reach=reach)

    async def _known_to_all(
        self, beside: Beside, context: SubmitContext, reach: Reach
    ) -> KnowledgeItem | None:
        """Return what another agent wrote for the tenant if it says exactly this for as long."""
        for found in beside.found:
            if found.is_exact and found.known.of and found.known.is_shared:
                try:
                    item = await self._knowledge.get(Kind.MEMORY, context.tenant_id, found.known.id)
                except NotFound:  # deleted since the search
                    continue
                if item.scope is Scope.TENANT and _holds_as_long(item.reach, reach):
                    return item
        return None

    async def _same(self, text: str, context: SubmitContext, reach: Reach) -> KnowledgeItem | None:
        if context.compared is not None and context.compared.is_all:
            return None
        return await self._knowledge.find_same(
            Kind.MEMORY, context.tenant_id, context.agent_id, text, user=reach.user
        )

    async def _refuse_twice(
        self, text: str, context: SubmitContext, reach: Reach, *, but: str
    ) -> None:
        same = await self._same(text, context, reach)
        if same is not None and same.id != but:
            raise AlreadyExists(
                Message("near.memory_says_this", id=same.id),
                item_id=same.id,
                name=same.name,
                content=same.content,
                hint=Message("memory.delete_one"),
                why=Message("near.same_text"),
            )


def reach_of(request: MemoryRequest, context: SubmitContext, known: Reach, now: datetime) -> Reach:
    """Return how long and for whom a memory holds after a request; what it leaves open stays.

    An end that had passed when this was said does not stay: what was said then held then. Feedback
    that is decided late may end a memory in what is the past by now. Raises Refused.
    """
    said = context.said_at or now
    scope = request.scope or known.scope
    if request.user is not None and request.scope is not Scope.USER:
        raise Refused(Message("memory.user_without_scope"), hint=Message("memory.scope_user"))
    if request.valid_until is not None and request.valid_until < said and not request.is_import:
        raise Refused(
            Message("memory.over", until=request.valid_until.isoformat()),
            hint=Message("memory.over_hint"),
        )
    stays = known.valid_until is not None and (known.valid_until >= said or request.is_import)
    until = request.valid_until or (known.valid_until if stays and not request.endless else None)
    if scope is not Scope.USER:
        return Reach(valid_until=until, scope=scope)
    user = request.user or known.user or context.author
    if not user:
        raise Refused(Message("memory.no_user"), hint=Message("memory.scope_user"))
    return Reach(valid_until=until, scope=scope, user=user)


def _refuse_spread(
    item: KnowledgeItem, request: MemoryRequest, reach: Reach, text: str, said: datetime
) -> None:
    """Raise AlreadyExists where what is new would end, or be for others, with all that is known.

    A memory has one reach for all its words. What says the same only sets it; what is over is none.
    """
    known = item.reach
    is_over = known.valid_until is not None and known.valid_until < said
    if request.is_import or is_over or _is_same_but_for_span(text, item.content):
        return
    stated = reach
    if request.merge_mode is MergeMode.EXTEND and known.valid_until and not request.valid_until:
        stated = reach.model_copy(update={"valid_until": None})
    narrows = (stated.valid_until and not known.valid_until) or (stated.user and not known.user)
    if not narrows and (request.merge_mode is not MergeMode.EXTEND or stated == known):
        return
    raise AlreadyExists(
        Message("memory.one_reach", id=item.id, old=_told(known), new=_told(stated)),
        item_id=item.id,
        name=item.name,
        content=item.content,
        hint=Message("memory.hint_reach", id=item.id),
        why=Message("memory.other_reach"),
        valid_until=known.valid_until,
    )


def _is_same_but_for_span(one: str, other: str) -> bool:
    return normal_form(without_span(one)) == normal_form(without_span(other))


def _told(reach: Reach) -> str:
    until = reach.valid_until.isoformat() if reach.valid_until else Message("memory.endless")
    return Message("memory.reach", until=until, whom=reach.user or reach.scope)


def _end_stays(item: KnowledgeItem, request: MemoryRequest, reach: Reach) -> tuple[str, ...]:
    """Return a warning where other words take over an end that the request does not state."""
    is_whole = request.merge_mode in {None, MergeMode.REPLACE} and not request.is_import
    if request.valid_until or reach.valid_until is None or not is_whole:
        return ()
    until = reach.valid_until.isoformat()
    return (Message("memory.end_stays", id=item.id, until=until),)


def _holds_as_long(known: Reach, new: Reach) -> bool:
    if known.valid_until is None:
        return True
    return new.valid_until is not None and new.valid_until <= known.valid_until


def _changed(item: KnowledgeItem, request: MemoryRequest) -> tuple[str, ...]:
    """Return a warning if an addition clashes with what stays. Raises Refused for a DUPLICATE."""
    found = evidence(new_text(request), Known(item.id, item.name, item.content))
    if request.relationship is Relationship.DUPLICATE and found.told:
        raise Refused(
            Message(
                "near.no_duplicate", kind=Kind.MEMORY, id=item.id, name=item.name, why=found.why
            ),
            hint=Message("near.hint_relationship"),
        )
    is_added = request.merge_mode is MergeMode.EXTEND and found.is_near
    if is_added and found.clashes:
        return (Message("near.clashes", why=found.why),)
    return ()


def _refuse_unfit_lesson(request: MemoryRequest) -> None:
    """Raise Refused for a lesson that would loosen something, also as a person has edited it."""
    if problem := problem_of_lesson(request.content):
        raise Refused(problem, hint=Message("lesson.hint_loosens"))
    if request.scope not in {None, Scope.AGENT}:
        raise Refused(Message("lesson.scope"))


def _mark(request: MemoryRequest, beside: Beside) -> int | None:
    """Return the index position compared up to, from which recording compares again.

    None for an import, which near items never refuse.
    """
    return None if request.is_import else beside.seen


def _state(text: str, reach: Reach) -> Snapshot:
    return Snapshot(content=text, name=memory_name(text), reach=reach)
