"""Installed skills as changes: what was learnt stays, what was published is the next base."""

from __future__ import annotations

from collections.abc import Mapping

from core.changes.installing.merging import merged_skill
from core.changes.steps import StoredStates
from core.domain.errors import Refused
from core.domain.messages import Message
from core.domain.models import Bundle, Prepared, SkillFile, SkillRequest
from core.domain.ports import ChangeLog
from core.domain.tasks import aside
from core.skills.bundle import file_refs

Files = Mapping[str, SkillFile]


async def with_learnt(
    request: SkillRequest, now: Bundle | None, changes: ChangeLog
) -> tuple[SkillRequest, Files | None]:
    """Return a request whose folder has what was learnt since, and the folder as it was given.

    It is merged here, where the target is locked, and again where the skill has moved: a request
    with a folder that was merged before would undo what was learnt meanwhile. Raises Refused.
    """
    if request.upgrades is None or request.folder is None or now is None:
        return request, request.folder
    base = await StoredStates(changes).folder(request.upgrades.base)
    merged = await aside(now.size, merged_skill, base, request.folder, now.files)
    if merged.clashes and not request.upgrades.replaces:
        paths = ", ".join(merged.clashes)
        raise Refused(
            Message("installed.clash", name=now.name, paths=paths),
            hint=Message("installed.hint_clash", name=now.name),
        )
    return request.model_copy(update={"folder": merged.files}), request.folder


def as_published(prepared: Prepared, request: SkillRequest, given: Files | None) -> Prepared:
    """Return a prepared change with the files that were published, if it installs any.

    Once that is on record it stays: what a reviewer edits was not published.
    """
    if request.published is None or request.published.files or given is None:
        return prepared
    given = request.as_published or given
    refs = file_refs(Bundle(name=prepared.target_id, files=given))
    data = {ref.sha256: given[path].data for path, ref in refs.items()}
    return prepared.model_copy(update={"published": refs, "blobs": {**prepared.blobs, **data}})
