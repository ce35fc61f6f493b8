"""What the worker's own id may stand for in the gate: its lessons, which wait for a person."""

from __future__ import annotations

from core.domain.models import (
    ChangeRequest,
    MemoryRequest,
    Operation,
    Origin,
    RestoreRequest,
    SubmitContext,
)
from core.domain.reserved import is_reserved, refuse_reserved


def refuse_outsiders(request: ChangeRequest, context: SubmitContext) -> None:
    """Raise InvalidInput for whoever asks for a change under the worker's own id.

    The worker itself proposes new lessons, and what a person has approved a person may take back or
    bring back: nothing else, whichever way it came in.
    """
    if not is_reserved(context.agent_id):
        return
    is_new = isinstance(request, MemoryRequest) and request.operation is Operation.CREATE
    if context.origin is Origin.WORKER and is_new and not request.is_import:
        return
    if context.origin is Origin.PERSON and isinstance(request, RestoreRequest):
        return
    refuse_reserved(context.agent_id)
