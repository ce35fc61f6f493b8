"""The token of a first start, so that the API can be called before anybody has made one."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import structlog

from core.access import Access
from core.errors import AlreadyExists, ConfigurationError

log = structlog.get_logger(__name__)

FILE = "token"


async def ensure_token(access: Access, home: Path) -> Path | None:
    """Make a token for all where there is none, and give the file that holds its secret.

    None where there is one. The secret is on disk before the token counts, under another name:
    who dies in between leaves a token that nobody knows, and `tokens add` makes another.
    Raises ConfigurationError where the file cannot be written.
    """
    if await access.tokens.list():
        return None
    file, part = home / FILE, home / f".{FILE}-{uuid.uuid4().hex}"
    made = access.first()
    try:
        _write(part, made.secret.get_secret_value() + "\n")
        try:
            await access.tokens.add(made.token)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except AlreadyExists:  # another worker has just made it
        return None
    except OSError as error:
        raise ConfigurationError(
            f"the first token cannot be written to {file}: {error.strerror}",
            hint="make SKILL_WORKER_HOME writable, or make a token with `skill-worker tokens add`",
        ) from error
    log.info("token.added", token=made.token.id, name=made.token.name, file=str(file))
    return file


def _write(path: Path, text: str) -> None:
    """Write a new file that nobody else may read at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(text)
