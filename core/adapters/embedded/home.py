"""The home on disk: nobody but its owner reads or writes what is in it."""

from __future__ import annotations

import os
import secrets
import stat
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import structlog

from core.domain.errors import ConfigurationError
from core.domain.messages import Message

OTHERS = stat.S_IRWXG | stat.S_IRWXO
SKILLS, POSTGRES, TOKEN = "skills", "postgres", "token"
_OURS = frozenset({SKILLS, POSTGRES, TOKEN})
_OUR_BEGINNINGS, _TOKENS = (".postgres-", ".token-", ".doctor-"), ".token"

log = structlog.get_logger(__name__)


def private_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter; those above it are as the umask says."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def private_home(home: Path) -> None:
    """Create the home, or take from others what they may do with an existing one, which is logged.

    Only what this program makes is changed: the home may be a folder that has other uses too.
    Raises OSError if it cannot be made.
    """
    private_folder(home)
    entries = list(home.iterdir())
    ours = [entry for entry in entries if _is_ours(entry.name)]
    tightened = [path for entry in ours for path in _tightened(entry)]
    # PostgreSQL's account has to pass through the home of root; it can list nothing there.
    allowed = stat.S_IXGRP if os.geteuid() == 0 else 0
    is_shared = home.stat().st_mode & stat.S_ISVTX  # such as /tmp, even when it is empty
    if len(ours) == len(entries) and not is_shared and _tighten(home, OTHERS & ~allowed):
        tightened.append(home)
    if tightened:
        log.warning("home.tightened", home=str(home), paths=len(tightened))


def _is_ours(name: str) -> bool:
    return name in _OURS or name.endswith(_TOKENS) or name.startswith(_OUR_BEGINNINGS)


def _tightened(path: Path) -> Iterator[Path]:
    """Yield what is tightened of an entry: what is in a folder only if that was open."""
    if not _tighten(path, OTHERS):
        return
    yield path
    for folder, names, files in os.walk(path):
        yield from (
            inner for name in (*names, *files) if _tighten(inner := Path(folder, name), OTHERS)
        )


def _tighten(path: Path, bits: int) -> bool:
    """Take these bits from a file or folder of our own; whether it had any."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid():
            return False
        if found.st_mode & bits:
            path.chmod(stat.S_IMODE(found.st_mode) & ~bits)
            return True
    return False


def known_token(home: Path, name: str) -> str | None:
    """Return the token in a file of the home, None if there is none that we may read."""
    with suppress(OSError):
        handle = os.open(home / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            return file.read().strip() or None
    return None


def stored_token(home: Path, name: str, setting: str) -> str:
    """Return the token in a file of the home, which is made if there is none.

    `setting` is the variable that gives it instead. Raises ConfigurationError.
    """
    file, part = home / name, home / f".token-{uuid.uuid4().hex}"
    try:
        private_home(home)
        if known := known_token(home, name):
            return known
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(f"swk_{secrets.token_urlsafe(32)}\n")
        with suppress(FileExistsError):  # another process was first: its token counts
            os.link(part, file)
        part.unlink()
        log.info("token.made", file=str(file))
    except OSError as error:
        raise ConfigurationError(
            Message("home.no_token", file=file, why=error),
            hint=Message("home.hint_token", setting=setting),
        ) from error
    made = known_token(home, name)
    if made is None:
        raise ConfigurationError(
            Message("home.empty_token", file=file), hint=Message("home.hint_empty", file=file)
        )
    return made
