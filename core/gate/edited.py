"""The request that asks for what a person has put in the place of a held change."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import InvalidInput, NotFound, Refused
from core.gate.deps import GateDeps
from core.gate.stored import StoredStates
from core.models import (
    SKILL_MD,
    AttachRequest,
    Change,
    ChangeRequest,
    Edited,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    RestoreRequest,
    RuleRequest,
    SkillFile,
    SkillRequest,
    Snapshot,
)
from core.ports import ChangeLog
from core.rebasing.edits import rebased
from core.rebasing.sequences import Clash


async def edit_request(change: Change, edited: Edited, changes: ChangeLog) -> ChangeRequest:
    """Ask for the edited content, whole, on behalf of the same agent.

    Raises Refused where there is nothing to edit, InvalidInput where the content does not fit.
    """
    if change.after is None or isinstance(change.request, RestoreRequest):
        raise Refused(
            f"change {change.id} {_what(change)}: there is no content to edit",
            hint="approve it or reject it",
        )
    if edited.files is not None and change.kind is not Kind.SKILL:
        raise InvalidInput(f"a {change.kind} has no files", hint="give its content")
    if change.kind is Kind.SKILL:
        return _skill(change, await _edited_folder(change, edited, changes))
    if edited.content is None:
        raise InvalidInput("the edited content is missing")
    if change.kind is Kind.AGENT_SKILLS:
        names = tuple(filter(None, map(str.strip, edited.content.splitlines())))
        return AttachRequest(skill_ids=names, reason=change.reason)
    if change.kind is Kind.DMN_RULE:
        return RuleRequest(document=edited.content, **_common(change))
    return MemoryRequest(content=edited.content, **_common(change))


async def whole_request(change: Change, now: Snapshot | None, deps: GateDeps) -> ChangeRequest:
    """Give what was asked for, to be prepared against what is there `now`.

    What a person has edited is done to that as an edit. Raises Refused where it does not fit any
    more, or is not on record.
    """
    if change.request is None:
        raise Refused(f"change {change.id} does not tell what was asked for", hint="reject it")
    if change.edited_by is not None and change.before is not None and now is not None:
        return await edit_request(change, await _done_to(change, now, deps.changes), deps.changes)
    # A person looks at what it stands beside: that is told, and in nobody's way.
    request = change.request.model_copy(update={"is_import": True})
    if isinstance(request, SkillRequest | RestoreRequest) and request.folder is not None:
        folder = await _folder(change.after, deps.changes)
        return request.model_copy(update={"folder": folder})
    return request


async def _done_to(change: Change, now: Snapshot, changes: ChangeLog) -> Edited:
    stored = StoredStates(changes)
    try:
        before, after, onto = [
            await stored.read(state) for state in (change.before, change.after, now)
        ]
        assert before is not None
        assert after is not None
        assert onto is not None
        made = rebased(change.kind, before, after, onto)
    except (Clash, NotFound):
        raise Refused(
            f"what was edited in change {change.id} does not fit {change.target_name!r} any more",
            hint="edit it again, or reject it",
        ) from None
    return Edited(content=made.text, files=made.files)


async def _folder(state: Snapshot | None, changes: ChangeLog) -> Mapping[str, SkillFile]:
    refs = (state.files if state else None) or {}
    return await StoredStates(changes).folder(refs)


def _skill(change: Change, folder: Mapping[str, SkillFile]) -> SkillRequest:
    return SkillRequest(folder=folder, **_common(change))


def _common(change: Change) -> dict[str, object]:
    """What stays as it was asked for. A person's text stands beside what is near it."""
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
    return "deletes its target" if change.after is None else "restores an earlier state"
