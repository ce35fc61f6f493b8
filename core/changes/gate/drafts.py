"""Turn a request into a change: the draft that locks the target, its content, and its edits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from core.changes.gate.deps import GateDeps
from core.changes.gate.screening import found_in
from core.changes.policy.review_policy import named_briefly, required_review
from core.changes.said_order.settle import GONE, repeated_parts, states_every_row
from core.changes.steps import StoredStates
from core.domain.errors import InvalidInput, Refused, Repeated, Stale, TargetBusy
from core.domain.hashing import ABSENT, content_hash, request_digest, sha256, state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    ChangeStatus,
    Edited,
    Kind,
    KindRequest,
    LaterWord,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    Prepared,
    Relationship,
    RestoreRequest,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    Snapshot,
    SubmitContext,
    folder_size,
)
from core.domain.models.audit import ERASED
from core.domain.models.installed import Published
from core.domain.ports import ChangeLog, Judged, Sleep, TargetLocks
from core.domain.tasks import aside

# A waiting change blocks a worker's slot, so the wait is short: a target locked for longer, by a
# model call or a dead run, is retried later as its own job.
WAIT_SECONDS = 10.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.3


@asynccontextmanager
async def locked(change: Change, target_locks: TargetLocks, sleep: Sleep) -> AsyncIterator[None]:
    """Lock the change's target for the block, unless the target is not known yet.

    The second change waits before it prepares, so that it builds on the first one's result and
    pays for no model call in vain. Raises TargetBusy, LeaseLost, Stale.
    """
    if not change.target_id:
        yield
        return
    await when_free(lambda: target_locks.acquire(change), sleep)
    try:
        yield
    finally:
        await target_locks.release(change.id)


async def when_free(attempt: Callable[[], Awaitable[None]], sleep: Sleep) -> bool:
    """Repeat `attempt` while it raises TargetBusy; return whether it had to wait.

    Raises TargetBusy after `WAIT_SECONDS`.
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        try:
            await attempt()
        except TargetBusy:
            if waited >= WAIT_SECONDS:
                raise
            await sleep(pause)
            waited, pause = waited + pause, min(LONGEST_PAUSE, pause * 2)
        else:
            return waited > 0


_INVERSE = {
    Operation.CREATE: Operation.DELETE,
    Operation.DELETE: Operation.CREATE,
    Operation.UPDATE: Operation.UPDATE,
}


def _inverse(operation: Operation) -> Operation:
    """Return the operation that undoes another."""
    return _INVERSE[operation]


def draft(
    request: ChangeRequest,
    context: SubmitContext,
    *,
    digest: str,
    attempt: int,
    change_id: str,
) -> Change:
    """Return the change that locks its target during preparation; "" while it has none yet."""
    target = _known_target(request, context)
    fence = context.fence
    return Change(
        id=change_id,
        key=context.key,
        digest=digest,
        attempt=attempt,
        tenant_id=context.tenant_id,
        agent_id=context.agent_id,
        kind=kind_of(request),
        target_id=target,
        target_name=target,
        operation=request.operation,
        before=None,
        after=None,
        base_hash=ABSENT,
        status=ChangeStatus.PREPARED,
        reason=request.reason,
        merge_mode=request.merge_mode,
        relationship=request.relationship or _implied(request),
        feedback_id=context.feedback_id,
        feedback_content=context.feedback_content,
        candidate_content=context.candidate_content,
        candidate_id=fence.candidate_id if fence else None,
        epoch=fence.epoch if fence else None,
        origin=Origin.IMPORT if request.is_import else context.origin,
        said_at=context.said_at,
        heard_at=context.heard_at,
        request=_storable(request),
        asker=context.asker,
    )


def _storable(request: ChangeRequest) -> ChangeRequest:
    """Return the request without its files, which are stored with the prepared state."""
    if isinstance(request, SkillRequest):
        request = request.model_copy(update={"as_published": None})
    if isinstance(request, SkillRequest | RestoreRequest) and request.folder is not None:
        return request.model_copy(update={"folder": {}})
    return request


def _implied(request: ChangeRequest) -> Relationship | None:
    """Return SUPERSEDES for a request that replaces a whole item without saying so."""
    if request.operation is not Operation.UPDATE:
        return None
    is_whole = request.merge_mode is MergeMode.REPLACE
    if isinstance(request, MemoryRequest):
        is_whole = is_whole or (request.merge_mode is None and not request.part.strip())
    return Relationship.SUPERSEDES if is_whole else None


def filled(change: Change, prepared: Prepared) -> Change:
    """Return the draft with the prepared content."""
    asked = change.request
    made = change.model_copy(
        update={
            # A deletion of what others list too is prepared as a change of the agent's list.
            "kind": prepared.kind,
            "request": asked and with_found(asked, prepared),
            "reason": _reason(change, prepared),
            "target_id": prepared.target_id,
            "target_name": prepared.target_name,
            "operation": prepared.operation,
            "before": prepared.before,
            "after": prepared.after,
            "base_hash": prepared.base_hash,
            "warnings": prepared.warnings,
            "reverts": prepared.reverts,
            "retracts": prepared.retracts,
            "seen": prepared.seen,
        }
    )
    return made.model_copy(update={"content_hash": content_hash(made)})


def _reason(change: Change, prepared: Prepared) -> str:
    """Return why a change is asked for; of a deletion that only changes a list, that too."""
    asked = change.request
    if not isinstance(asked, SkillRequest):
        return change.reason
    if prepared.kind is Kind.SKILL:
        return asked.reason
    return Message(
        "skill.instead_of_deletion",
        reason=asked.reason,
        between="; " if asked.reason else "",
        name=asked.target_id or prepared.target_id,
        agents=named_briefly(prepared.listed_by),
    )


def held_because(change: Change, deps: GateDeps, broken: Sequence[str] = ()) -> tuple[str, ...]:
    """Return why a change waits: what always does, the screen, the cases it breaks, the policy."""
    return (*required_review(change), *found_in(change), *broken, *deps.policy(change))


def judged(change: Change, said: Judged) -> Change:
    """Return a change with what was said before it was to be applied."""
    held, warnings = (*change.held, *said.held), (*change.warnings, *said.notes)
    made = change.model_copy(update={"held": held, "warnings": warnings})
    return made.model_copy(update={"content_hash": content_hash(made)})


def says_all(change: Change) -> bool:
    """Whether the feedback states all of what its target says, not only a part."""
    asked = change.request
    if change.feedback_id is None or asked is None:
        return False
    return asked.operation is Operation.CREATE or asked.merge_mode is MergeMode.REPLACE


def repeated(change: Change) -> Sequence[Sequence[str]] | None:
    """Return the parts of its target that a change without effect repeats; None of all of it.

    A table with rows of others is not repeated as a whole by whoever states some of them. What is
    to stand in the place of all leaves nothing of before it, also where it finds itself there.
    """
    parts = repeated_parts(change)
    if not says_all(change) or not states_every_row(change, parts):
        return parts
    return [GONE] if change.merge_mode is MergeMode.REPLACE else None


def again(change: Change, request: ChangeRequest, prepared: Prepared) -> Change:
    """Return a held change with newly prepared content and no decision on it.

    Its relationship stays as requested.
    """
    if change.request is not None and change.request.cases and not request.cases:
        request = request.model_copy(update={"cases": change.request.cases})
    fresh = {
        "status": ChangeStatus.HELD,
        "request": _storable(request),
        "decision": "",
        **dict.fromkeys(("error", "decided_by", "decided_at")),
    }
    return filled(change.model_copy(update=fresh), prepared)


def context_of(change: Change) -> SubmitContext:
    """Return the context a change was submitted in."""
    return SubmitContext(
        key=change.key,
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        feedback_id=change.feedback_id,
        feedback_content=change.feedback_content,
        candidate_content=change.candidate_content,
        origin=change.origin,
        said_at=change.said_at,
        heard_at=change.heard_at,
    )


def without_content(change: Change, before: Snapshot | None) -> Change:
    """Return a change without content, to record a failed attempt."""
    target = change.target_id or f"unnamed-{change.id}"
    update = {"target_id": target, "target_name": target, "before": before}
    return change.model_copy(update=update)


def behind(context: SubmitContext, stale: Stale) -> SubmitContext:
    """Return the context of the next attempt: the model has not judged an item added meanwhile."""
    if not isinstance(stale, Repeated):
        return context
    return context.model_copy(update={"unjudged": context.unjudged | {stale.item_id}})


def kind_of(request: ChangeRequest) -> Kind:
    """Return the kind of a request's target."""
    if isinstance(request, RestoreRequest | KindRequest):
        return request.target_kind
    return request.kind


def _known_target(request: ChangeRequest, context: SubmitContext) -> str:
    if isinstance(request, SkillListRequest):
        return context.agent_id
    return request.target_id or ""


async def later_words(change: Change, deps: GateDeps) -> Sequence[LaterWord]:
    """Return what was said later about the target; nothing is later than what a person says now."""
    return await deps.steps.later(change) if change.said_at is not None else ()


def revert_of(change: Change, reason: str) -> RestoreRequest:
    """Return the request for the state before a change; refused if a later change follows."""
    return RestoreRequest(
        operation=_inverse(change.operation),
        target_kind=change.kind,
        target_id=change.target_id,
        state=change.before,
        expected_hash=state_hash(change.after),
        reverts=change.id,
        reason=reason,
    )


def revert_context(change: Change) -> SubmitContext:
    """Return the context of a revert: the agent whose change it undoes, under one fixed key."""
    return SubmitContext(
        key=f"revert:{change.id}",
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        feedback_id=change.feedback_id,
        feedback_content=change.feedback_content,
        origin=Origin.PERSON,
    )


def restored(
    request: RestoreRequest, before: Snapshot | None, blobs: Mapping[str, bytes]
) -> Prepared:
    """Return a recorded state, prepared to replace the current one."""
    named = request.state or before
    return Prepared(
        kind=request.target_kind,
        target_id=request.target_id,
        target_name=named.name if named else request.target_id,
        operation=request.operation,
        before=before,
        after=request.state,
        base_hash=request.expected_hash,
        blobs=blobs,
        reverts=request.reverts,
        retracts=request.retracts,
    )


async def digest(request: ChangeRequest) -> str:
    """Return the request's digest; a folder may be megabytes."""
    size = folder_size(getattr(request, "folder", None))
    return await aside(size, request_digest, request)


async def prepare(request: ChangeRequest, context: SubmitContext, deps: GateDeps) -> Prepared:
    """Compute before and after of a request. Writes nothing durable."""
    if not isinstance(request, RestoreRequest):
        made = await deps.committers[kind_of(request)].prepare(request, context)
        if context.expects not in {None, state_hash(made.before)}:
            raise Refused(Message("promote.moved"))
        return made
    committer = deps.committers[request.target_kind]
    before = await committer.current(context.tenant_id, request.target_id)
    if state_hash(before) != request.expected_hash:
        raise Refused(
            Message("revert.target_changed", kind=request.target_kind, id=request.target_id),
            hint=Message("revert.later_first"),
        )
    if request.state is not None and request.state.content == ERASED:
        raise Refused(Message("restore.erased", kind=request.target_kind, id=request.target_id))
    prepared = restored(request, before, await _blobs(request, deps))
    return await committer.vet(prepared, context)


async def _blobs(request: RestoreRequest, deps: GateDeps) -> Mapping[str, bytes]:
    """Return the bytes of the state's files, from its folder or else from the store."""
    if request.folder is not None:
        return {sha256(file.data): file.data for file in request.folder.values()}
    files = (request.state.files if request.state else None) or {}
    return await deps.changes.blobs(list(files.values())) if files else {}


def with_found(asked: ChangeRequest, prepared: Prepared) -> ChangeRequest:
    """Return a request with what was found when it was prepared."""
    found: dict[str, object] = {"listed_by": prepared.listed_by}
    if prepared.published is not None and isinstance(asked, SkillRequest) and asked.published:
        update = {"files": prepared.published}
        found["published"] = asked.published.model_copy(update=update)
    return asked.model_copy(update=found)


async def edit_request(change: Change, edited: Edited, changes: ChangeLog) -> ChangeRequest:
    """Return the request for the whole edited content, on behalf of the same agent.

    Raises Refused if there is nothing to edit, InvalidInput if the content does not fit the kind.
    """
    if change.after is None or isinstance(change.request, RestoreRequest):
        raise Refused(
            Message("review.nothing_to_edit", id=change.id, what=_what(change)),
            hint=Message("review.approve_or_reject"),
        )
    if edited.files is not None and change.kind is not Kind.SKILL:
        raise InvalidInput(
            Message("review.no_files", kind=change.kind),
            hint=Message("review.give_content"),
        )
    if change.kind is Kind.SKILL:
        return _skill(change, await _edited_folder(change, edited, changes))
    if edited.reach is not None and change.kind is not Kind.MEMORY:
        raise InvalidInput(Message("review.no_reach", kind=change.kind))
    if edited.content is None and edited.reach is None:
        raise InvalidInput(Message("review.edited_missing"))
    if edited.content is None:
        edited = edited.model_copy(update={"content": change.after.content})
    assert edited.content is not None
    if change.kind is Kind.AGENT_SKILLS:
        names = tuple(filter(None, map(str.strip, edited.content.splitlines())))
        return SkillListRequest(skill_ids=names, edit=ListEdit.SET, reason=change.reason)
    if change.kind is Kind.DMN_RULE:
        return RuleRequest(document=edited.content, **_common(change))
    if not change.kind.is_built_in:
        return KindRequest(target_kind=change.kind, text=edited.content, **_common(change))
    reach = edited.reach or change.after.reach
    return MemoryRequest(
        content=edited.content,
        endless=reach.valid_until is None,
        **dict(reach),
        **_common(change),
    )


async def apart_request(change: Change, changes: ChangeLog) -> ChangeRequest:
    """Return the request for a held change's content as an item of its own. Raises Refused."""
    if change.after is None or change.kind not in {Kind.MEMORY, Kind.SKILL}:
        raise Refused(
            Message("review.not_apart", kind=change.kind), hint=Message("review.one_of_two")
        )
    said = {
        "operation": Operation.CREATE,
        "relationship": Relationship.UNRELATED,
        "reason": change.reason,
        "is_import": True,
    }
    if change.kind is Kind.SKILL:
        return SkillRequest(folder=await _folder(change.after, changes), **said)
    return MemoryRequest(content=change.after.content, **dict(change.after.reach), **said)


async def _folder(state: Snapshot | None, changes: ChangeLog) -> Mapping[str, SkillFile]:
    refs = (state.files if state else None) or {}
    return await StoredStates(changes).folder(refs)


def _skill(change: Change, folder: Mapping[str, SkillFile]) -> SkillRequest:
    return SkillRequest(folder=folder, published=published_of(change), **_common(change))


def published_of(change: Change) -> Published | None:
    """Return what a change installs, which stays whatever becomes of its content."""
    asked = change.request
    return asked.published if isinstance(asked, SkillRequest) else None


def _common(change: Change) -> dict[str, object]:
    """Return the unchanged parts of the request; near items only warn about a person's text."""
    is_new = change.operation is Operation.CREATE
    return {
        "operation": change.operation,
        "target_id": change.target_id,
        "merge_mode": None if is_new else MergeMode.REPLACE,
        "relationship": change.relationship,
        "reason": change.reason,
        "is_import": True,
    }


async def _edited_folder(
    change: Change, edited: Edited, changes: ChangeLog
) -> Mapping[str, SkillFile]:
    if edited.files is not None:
        folder = dict(edited.files)
    else:
        folder = dict(await _folder(change.after, changes))
    if edited.content is not None:
        folder[SKILL_MD] = SkillFile(data=edited.content.encode())
    return folder


def _what(change: Change) -> str:
    if change.after is None:
        return Message("review.deletes_target")
    return Message("review.restores")
