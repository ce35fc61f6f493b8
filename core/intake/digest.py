"""Tell whether feedback that comes again under a known id says the same (pure)."""

from __future__ import annotations

import hashlib
import json

from core.models import NewFeedback


def feedback_digest(piece: NewFeedback) -> str:
    """SHA-256 (hex) of everything but the id, so that the same id with other content shows."""
    content = piece.model_dump(exclude={"id"})
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
