"""Skill folders on disk, one folder per tenant, never visible half-written."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.adapters.embedded.home import private_folder
from core.domain.errors import BundleInvalid, InvalidInput
from core.domain.messages import Message
from core.domain.models import Bundle, SkillFile
from core.skills.bundle import bundle_hash, check_path

Change = Callable[[Bundle | None], Bundle | None]

_PLAIN_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEFAULT = "default"
# Reserved names: no skill's name begins with a dot.
_JUNK = ".junk-"
_OLD = ".old-"
_LOCK = ".lock"


@dataclass(frozen=True)
class StoredSkill:
    """A skill as read: files, hash, and when each was written (seconds since the epoch)."""

    bundle: Bundle
    hash: str
    modified: Mapping[str, float]


class SkillFolders:
    """All skills under one root. Methods block; call them from a thread.

    Writers lock a tenant's lock file exclusively, readers share it, so that several processes may
    serve one root. A folder is built aside and swapped in by two renames; if a writer was killed in
    between, the next caller repairs it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, tenant_id: str, name: str) -> StoredSkill | None:
        """Return a skill, or None. Raises InvalidInput for an invalid folder name."""
        _check_name(name)
        with self._reading(tenant_id) as folder:
            return _read(folder / name)

    def list(self, tenant_id: str) -> tuple[StoredSkill, ...]:
        """Return all skills of a tenant, by name."""
        with self._reading(tenant_id) as folder:
            found = (_read(path) for path in _skills(folder))
            return tuple(skill for skill in found if skill is not None)

    def count(self, tenant_id: str | None = None) -> int:
        """Return the number of skills of a tenant, or of all."""
        if tenant_id is not None:
            return len(_skills(self._root / _tenant_folder(tenant_id)))
        if not self._root.is_dir():
            return 0
        return sum(len(_skills(path)) for path in self._root.iterdir() if path.is_dir())

    def change(self, tenant_id: str, name: str, change: Change) -> StoredSkill | None:
        """Replace a skill (None: absent) by the result of `change`; nothing happens if it raises.

        Files that it returns unchanged keep their modification time.
        """
        _check_name(name)
        with self._writing(tenant_id) as folder:
            current = _read(folder / name)
            before = current.bundle if current else None
            after = change(before)
            if after != before:
                _swap(folder, name, before, after)
            return _read(folder / name)

    @contextmanager
    def _reading(self, tenant_id: str) -> Iterator[Path]:
        folder = self._root / _tenant_folder(tenant_id)
        if not folder.is_dir():  # reading does not create folders
            yield folder
            return
        with _flocked(folder, fcntl.LOCK_SH):
            if not _leftovers(folder, _OLD):
                yield folder
                return
        # A writer was killed between its two renames: repairing that takes the exclusive lock.
        with self._writing(tenant_id):
            yield folder

    @contextmanager
    def _writing(self, tenant_id: str) -> Iterator[Path]:
        folder = self._root / _tenant_folder(tenant_id)
        private_folder(self._root)
        private_folder(folder)
        with _flocked(folder, fcntl.LOCK_EX):
            _recover(folder)
            yield folder


def _tenant_folder(tenant_id: str) -> str:
    """Return a distinct folder name for each tenant; names that are not plain are hashed."""
    if not tenant_id:
        return _DEFAULT
    if tenant_id != _DEFAULT and _PLAIN_TENANT.fullmatch(tenant_id):
        return tenant_id
    # No plain name contains "~", so that a hashed one never collides with it.
    return "~" + hashlib.sha256(tenant_id.encode("utf-8", "surrogatepass")).hexdigest()


def _check_name(name: str) -> None:
    try:
        check_path(name)
    except BundleInvalid as error:
        raise InvalidInput(Message("skill.name_wrong", why=error.message)) from error
    if "/" in name or name.startswith("."):
        raise InvalidInput(Message("skill.no_name", name=name))


@contextmanager
def _flocked(folder: Path, mode: int) -> Iterator[None]:
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, mode)
        yield
    finally:
        os.close(descriptor)


def _leftovers(folder: Path, prefix: str) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(prefix)]


def _skills(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def _recover(folder: Path) -> None:
    for old in _leftovers(folder, _OLD):
        skill = folder / old.name.removeprefix(_OLD)
        if skill.exists():
            shutil.rmtree(old)
        else:
            old.rename(skill)
    for junk in _leftovers(folder, _JUNK):
        shutil.rmtree(junk)


def _swap(folder: Path, name: str, before: Bundle | None, after: Bundle | None) -> None:
    skill, junk, old = folder / name, folder / f"{_JUNK}{name}", folder / f"{_OLD}{name}"
    if after is None:
        skill.rename(junk)
        shutil.rmtree(junk)
        return
    _build(junk, after, skill, before)
    if before is not None:
        skill.rename(old)
    junk.rename(skill)
    if before is not None:
        shutil.rmtree(old)


def _build(target: Path, bundle: Bundle, source: Path, before: Bundle | None) -> None:
    known = before.files if before else {}
    for path, file in bundle.files.items():
        written = target / path
        for folder in reversed(written.parents):
            if folder.is_relative_to(target):
                folder.mkdir(mode=0o700, exist_ok=True)
        if known.get(path) == file:
            # A hard link retains the modification time, and copies nothing.
            os.link(source / path, written)
        else:
            mode = 0o700 if file.executable else 0o600
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(written, flags, mode), "wb") as stream:
                stream.write(file.data)


def _read(skill: Path) -> StoredSkill | None:
    if not skill.is_dir():
        return None
    files, modified = {}, {}
    for path in sorted(skill.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        status, name = path.stat(), path.relative_to(skill).as_posix()
        files[name] = SkillFile(data=path.read_bytes(), executable=bool(status.st_mode & 0o100))
        modified[name] = status.st_mtime
    bundle = Bundle(name=skill.name, files=files)
    return StoredSkill(bundle, bundle_hash(bundle), modified)
