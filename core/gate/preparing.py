"""From a request to what it would do, without doing it."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import Refused
from core.gate import drafts
from core.gate.deps import GateDeps
from core.models import ChangeRequest, Prepared, RestoreRequest, SubmitContext
from core.snapshots import sha256, state_hash


async def prepare(request: ChangeRequest, context: SubmitContext, deps: GateDeps) -> Prepared:
    """Make before and after of a request; see `core.ports.Committer`. Writes nothing durable."""
    if not isinstance(request, RestoreRequest):
        return await deps.committers[request.kind].prepare(request, context)
    committer = deps.committers[request.target_kind]
    before = await committer.current(context.tenant_id, request.target_id)
    if state_hash(before) != request.expected_hash:
        raise Refused(
            f"{request.target_kind} {request.target_id} has changed since",
            hint="revert the later change first (see `skill-worker changes list`)",
        )
    prepared = drafts.restored(request, before, await _blobs(request, deps))
    warnings = await committer.vet(prepared, context)
    return prepared.model_copy(update={"warnings": tuple(warnings)})


async def _blobs(request: RestoreRequest, deps: GateDeps) -> Mapping[str, bytes]:
    """Give the bytes of the state's files: of the folder that came with it, else as stored."""
    if request.folder is not None:
        return {sha256(file.data): file.data for file in request.folder.values()}
    files = (request.state.files if request.state else None) or {}
    return await deps.changes.blobs(list(files.values())) if files else {}
