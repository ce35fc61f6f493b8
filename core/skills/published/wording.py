"""Say where a skill was installed from: in the reason of its change, and in lists (pure)."""

from __future__ import annotations

from core.domain.messages import Message
from core.domain.models.installed import Published

_SHOWN = 12


def place_of(published: Published) -> str:
    """Return where a skill was published, and at which commit or version."""
    if published.index:
        return Message(
            "installed.of_index",
            source=published.source,
            version=published.version,
            index=published.index,
            url=published.url,
        )
    if published.commit:
        return Message("installed.of_commit", source=published.source, commit=published.commit)
    return published.source


def install_reason(published: Published) -> Message:
    """Return the reason of a change that installs a skill."""
    return Message("installed.reason", place=place_of(published), digest=published.digest)


def upgrade_reason(published: Published, before: Published) -> Message:
    """Return the reason of a change that upgrades a skill."""
    return Message(
        "installed.upgraded",
        place=place_of(published),
        digest=published.digest,
        before=before.version or before.commit[:_SHOWN] or f"sha256:{before.digest[:_SHOWN]}",
    )
