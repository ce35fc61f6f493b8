"""A folder on disk: read without following links out of it, written all at once or not at all."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path, PurePosixPath

from core.domain.errors import InvalidInput, Refused
from core.domain.messages import Message
from core.domain.models import SkillFile
from core.skills.bundle import MAX_FILE_BYTES

_AGAIN_SECONDS = 0.05


class DiskFolder:
    """The `Folder` port."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._given = root

    @property
    def path(self) -> str:
        """Its real place, all links followed."""
        return str(self._root)

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Make the folder, and lock it against other processes."""
        descriptor, is_new = self._opened()
        try:
            while not _locked(descriptor):  # noqa: ASYNC110 - another process rings no bell
                await asyncio.sleep(_AGAIN_SECONDS)
            yield
        finally:
            os.close(descriptor)
            if is_new:
                with suppress(OSError):  # something was written
                    self._root.rmdir()

    def _opened(self) -> tuple[int, bool]:
        """Return a descriptor of the folder, and whether it was made. Raises InvalidInput."""
        try:
            is_new = not self._root.exists()
            self._root.mkdir(parents=True, exist_ok=True)
            return os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), is_new
        except OSError as error:
            raise InvalidInput(Message("file.unwritable", path=self._given, why=error)) from None

    async def read(self, path: str) -> SkillFile | None:
        """Return a file; None if there is none."""
        return await asyncio.to_thread(self._read, path)

    async def write(self, files: Mapping[str, SkillFile | None]) -> None:
        """Write and remove files: all drafts first, then each takes its place."""
        await asyncio.to_thread(self._write, files)

    def _place(self, path: str) -> Path:
        """Return where a path really is. Raises Refused if that is not in the folder."""
        given = PurePosixPath(path)
        place = Path(os.path.realpath(self._root / given))
        is_inside = self._root in place.parents and not given.is_absolute()
        if not is_inside or ".." in given.parts:
            raise Refused(
                Message("files.leads_out", path=path, place=place),
                hint=Message("files.hint_leads_out"),
            )
        if ".git" in place.relative_to(self._root).parts:
            raise Refused(Message("files.leads_to_git", path=path, place=place))
        return place

    def _read(self, path: str) -> SkillFile | None:
        place = self._place(path)
        # Non-blocking and not following: what was a file a moment ago may be a pipe or a link now.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with open(os.open(place, flags), "rb") as handle:
                state = os.fstat(handle.fileno())
                if not stat.S_ISREG(state.st_mode):
                    raise InvalidInput(Message("file.no_regular", path=path))
                data = handle.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(Message("file.unreadable", path=path, why=error)) from None
        if len(data) > MAX_FILE_BYTES:
            size, most = state.st_size, MAX_FILE_BYTES
            raise InvalidInput(Message("file.too_large", path=path, size=size, most=most))
        return SkillFile(data=data, executable=bool(state.st_mode & stat.S_IXUSR))

    def _write(self, files: Mapping[str, SkillFile | None]) -> None:
        places = {path: self._place(path) for path in files}
        before = {path: self._read(path) for path in files}
        drafts: dict[str, Path] = {}
        made: list[Path] = []
        done: list[str] = []
        path = ""
        try:
            for path, file in files.items():
                _see_writable(places[path], made)
                if file is not None:
                    drafts[path] = _draft(places[path], file)
            for path in files:
                done.append(path)
                if path in drafts:
                    drafts[path].replace(places[path])
                elif before[path] is not None:
                    places[path].unlink()
        except OSError as error:
            self._undo(places, before, done)
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
            _drop_empty(made)
            raise InvalidInput(
                Message("file.unwritable", path=places[path], why=error),
                hint=Message("files.hint_nothing_written"),
            ) from None
        self._leave(places[path] for path, file in files.items() if file is None)

    def _undo(
        self,
        places: Mapping[str, Path],
        before: Mapping[str, SkillFile | None],
        done: list[str],
    ) -> None:
        for path in done:
            file = before[path]
            with suppress(OSError):
                if file is None:
                    places[path].unlink(missing_ok=True)
                else:
                    _draft(places[path], file).replace(places[path])

    def _leave(self, gone: Iterable[Path]) -> None:
        """Remove the folders that are empty now."""
        for place in gone:
            for folder in place.parents:
                if folder == self._root:
                    break
                try:
                    folder.rmdir()
                except OSError:
                    break


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _see_writable(place: Path, made: list[Path]) -> None:
    """Make the folders of a file. Raises OSError, also if nothing can be written there."""
    for folder in reversed([place.parent, *place.parent.parents]):
        if not folder.exists():
            folder.mkdir()
            made.append(folder)
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(13, os.strerror(13))
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(13, os.strerror(13))


def _draft(place: Path, file: SkillFile) -> Path:
    """Write a file beside its place, with the rights of the one that is there."""
    draft = place.with_name(f".{place.name[:80]}.{os.getpid()}~")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(draft, flags, 0o666), "wb") as handle:
        handle.write(file.data)
        mode = stat.S_IMODE(os.fstat(handle.fileno()).st_mode)
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(place.stat().st_mode)
        readers = (mode & 0o444) >> 2
        os.fchmod(handle.fileno(), mode | readers if file.executable else mode & ~0o111)
    return draft


def _drop_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()
