"""The requests of changes: with what was found for them, and for what a person makes of them."""

from __future__ import annotations

from collections.abc import Mapping

from core.changes.steps import StoredStates
from core.domain.errors import InvalidInput, Refused
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    Edited,
    Kind,
    KindRequest,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Operation,
    Prepared,
    Relationship,
    RestoreRequest,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    Snapshot,
)
from core.domain.models.installed import Published
from core.domain.ports import ChangeLog


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
