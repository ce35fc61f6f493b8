"""Turn a request into a change: the draft that locks the target, then its content."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from pydantic import JsonValue

from core.changes.gate.deps import GateDeps, Screen
from core.changes.gate.edits import with_found
from core.changes.policy.conditions import has_scripts
from core.changes.policy.review_policy import named_briefly, required_review
from core.domain.errors import NotFound, Refused, Repeated, Stale, TargetBusy
from core.domain.hashing import ABSENT, content_hash, request_digest, sha256, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    FileRef,
    Finding,
    Kind,
    KindRequest,
    LaterWord,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    Prepared,
    Relationship,
    RestoreRequest,
    ScreenSeverity,
    SkillListRequest,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.audit import ERASED
from core.domain.models.findings import LOOK_FAILED
from core.domain.ports import Judged, Sleep, TargetLocks
from core.domain.tasks import aside
from core.domain.text import decoded
from core.safety.masking import mask, masked_model
from core.safety.trust import raise_severity, trust_in

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


_TOLD = 5  # findings that a change names as reasons


def found_in(change: Change) -> tuple[Message, ...]:
    """Return why a change waits because of what was found in it, a reason for each place."""
    told: dict[Message, None] = {}
    for finding in change.findings:
        if finding.holds and finding.place:
            told[Message("screen.held_in", what=finding.text, place=finding.place)] = None
        elif finding.holds:
            told[Message("screen.held", what=finding.text)] = None
    reasons = tuple(told)
    if len(reasons) <= _TOLD:
        return reasons
    return (*reasons[:_TOLD], Message("screen.held_more", n=len(reasons) - _TOLD))


def codes_of(findings: Sequence[Finding]) -> dict[str, JsonValue]:
    """Return the codes of findings as data of an event, nothing where there are none."""
    codes: list[JsonValue] = [*dict.fromkeys(finding.code for finding in findings)]
    return {"findings": codes} if codes else {}


async def masked_request(request: ChangeRequest, deps: GateDeps) -> ChangeRequest:
    """Return a request without secrets; what restores a state that is on record stays as it is."""
    screen = deps.screen
    if screen is None or screen.keeps_raw or isinstance(request, RestoreRequest):
        return request
    plain = request if isinstance(request, MemoryRequest) and not request.cases else None
    made = _masked(plain) if plain else masked_model(request)
    return made if screen.mask_more is None else await screen.mask_more(made)


def _masked(request: MemoryRequest) -> MemoryRequest:
    texts = ((name, getattr(request, name)) for name in ("content", "part", "user", "reason"))
    # A message of ours has no secret in it, and would lose its code.
    told = {name: mask(text) for name, text in texts if type(text) is str and text}
    made = {name: masked.text for name, masked in told.items() if masked.findings}
    return request.model_copy(update=made) if made else request


async def screened(change: Change, blobs: Mapping[str, bytes], deps: GateDeps) -> Change:
    """Return a change with what is found in what it adds; `blobs` are of its files.

    Who said it and what is allowed is asked only where something is found, or the policy asks.
    """
    screen = deps.screen
    found = await _found(change, blobs, screen, deps) if screen else ()
    asker = change.asker if screen and screen.asks_author else None
    if screen is None or not (found or asker):
        return change.model_copy(update={"findings": ()}) if change.findings else change
    facts = await screen.records.facts(change.model_copy(update={"findings": found}))
    has_authority = change.kind is Kind.DMN_RULE or has_scripts(change)
    trust = trust_in(change, facts, screen.config, has_authority=has_authority)
    judged = raise_severity(found, trust)
    set_ = tuple(_as_set(one, facts.allowed, screen) for one in judged)
    made: dict[str, object] = {"findings": set_}
    if asker is not None:
        made["asker"] = asker.model_copy(update={"is_accepted": facts.is_accepted})
    return change.model_copy(update=made)


async def _found(
    change: Change, blobs: Mapping[str, bytes], screen: Screen, deps: GateDeps
) -> tuple[Finding, ...]:
    """Return what rules and looks find in what is added; only a look releases what one found."""
    if change.after is None or change.kind is Kind.AGENT_SKILLS:
        return ()
    if change.kind is Kind.SKILL:
        found = await _found_in_skill(change, blobs, screen, deps)
    else:
        from core.safety.screen import screen as find  # its rules take long to load

        before, after = change.before.content if change.before else None, change.after.content
        found = find(before, after, kind=change.kind, config=screen.config)
        for look in screen.all_looks:
            found = (*found, *await look(change, {"": (before or "", after)}))
    is_looked = screen.second_look and all(one.code != LOOK_FAILED for one in found)
    if not is_looked and change.findings:
        known = {one.digest for one in found}
        old = [one for one in change.findings if one.is_looked and one.digest not in known]
        found = (*found, *filter(None, (one.still_in(change.after.content) for one in old)))
    return found


def _as_set(finding: Finding, allowed: Collection[str], screen: Screen) -> Finding:
    """Return a finding as the settings and what a person has allowed make of it."""
    if finding.severity is not ScreenSeverity.HOLD:
        return finding
    if not screen.holds:
        return finding.model_copy(update={"severity": ScreenSeverity.NOTE})
    return finding.model_copy(update={"is_allowed": finding.digest in allowed})


async def _found_in_skill(
    change: Change, blobs: Mapping[str, bytes], screen: Screen, deps: GateDeps
) -> tuple[Finding, ...]:
    """Return what is found in the files of a skill that a change adds or alters."""
    from core.safety.screen import screen_skill as find_in_skill

    old, new = ((state and state.files) or {} for state in (change.before, change.after))
    altered = {path: ref for path, ref in new.items() if _hash(old.get(path)) != ref.sha256}
    replaced = {path: ref for path, ref in old.items() if _hash(new.get(path)) != ref.sha256}
    if not (altered or replaced):
        return ()
    after = await _contents(altered, blobs, deps)
    before = await _contents(replaced, blobs, deps)
    size = sum(ref.size for ref in altered.values())
    found = await aside(size, find_in_skill, before, after, config=screen.config)
    if not screen.all_looks:
        return found
    both = {**replaced, **altered}  # of a file that goes the new text is empty
    added = {p: (decoded(before.get(p, b"")), decoded(after.get(p, b""))) for p in both}
    for look in screen.all_looks:
        found = (*found, *await look(change, added))
    return found


def _hash(ref: FileRef | None) -> str | None:
    return ref.sha256 if ref else None


async def _contents(
    refs: Mapping[str, FileRef], blobs: Mapping[str, bytes], deps: GateDeps
) -> dict[str, bytes]:
    """Return the bytes of files by path, without those that are not stored."""
    missing = [ref for ref in refs.values() if ref.sha256 not in blobs]
    stored: Mapping[str, bytes] = {}
    if missing:
        try:
            stored = await deps.changes.blobs(missing)
        except NotFound:  # written by others past the gate: what it said counts as new
            stored = {}
    found = {path: blobs.get(ref.sha256, stored.get(ref.sha256)) for path, ref in refs.items()}
    return {path: data for path, data in found.items() if data is not None}


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
    given = getattr(request, "folder", None)
    if not given:
        return request_digest(request)
    return await aside(sum(len(file.data) for file in given.values()), request_digest, request)


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
