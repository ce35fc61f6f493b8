"""What every committer's public entry needs: the gate, and on whose behalf it is called."""

from __future__ import annotations

from dataclasses import dataclass

from core.models import SubmitContext
from core.ports import Gate


@dataclass(frozen=True)
class CommitDeps:
    """The change gate and the context (key, tenant, feedback, fence) of one submission."""

    gate: Gate
    context: SubmitContext
