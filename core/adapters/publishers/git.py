"""Read a folder of a git repository without checking it out: nothing in it is run or followed.

What is committed is read as objects. So there are no hooks, filters or large-file downloads, no
submodules, and a link is an entry that is refused. The environment is closed, and only the one
protocol that was asked for may be used.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from typing import NamedTuple
from urllib.parse import urlsplit

from core.adapters.hooks.local import end_process
from core.domain.errors import ConfigurationError, DependencyDown, InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models import SKILL_MD, SkillFile
from core.domain.ports.installed import Checkout
from core.skills.bundle import MAX_BUNDLE_BYTES, MAX_FILES
from core.skills.validation.paths import LITTER

_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
_WHOLE = 300.0  # seconds for all of it
_BLOCKS = 524_288  # the largest file git may write, in blocks of 512 bytes (of 1,024 in bash)
# A lower limit may be in force already, which cannot be raised.
_BOUNDED = 'ulimit -f "$0" 2>/dev/null || :; exec "$@"'
_SAID = 400  # characters of what git says that are told
_SETTINGS = (
    "protocol.ext.allow=never",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.helper=",
    "http.followRedirects=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_LARGE_FILE = b"version https://git-lfs.github.com/spec/"
_NO_REF = "couldn't find remote ref"
_PROTOCOLS = {"https", "ssh", "http", "file"}
_FILES = {"100644", "100664", "100755"}


class _Entry(NamedTuple):
    """A file of the tree."""

    path: str
    object_id: str
    size: int
    mode: str


async def checkout(url: str, ref: str, folder: str) -> Checkout:
    """Return a folder at a ref. Raises InvalidInput, NotFound, DependencyDown, or
    ConfigurationError where git is not installed.
    """
    scheme = urlsplit(url).scheme
    if scheme not in _PROTOCOLS or not url.startswith(f"{scheme}://"):
        # Such as ext::, which is a program to run: git takes what stands before :: for a protocol.
        raise InvalidInput(Message("place.scheme", scheme=scheme), hint=Message("place.hint_git"))
    if shutil.which("git", path=_PATH) is None:
        raise ConfigurationError(Message("git.missing", path=_PATH))
    place = await asyncio.to_thread(tempfile.mkdtemp, prefix="skill-worker-git-")
    try:
        async with asyncio.timeout(_WHOLE):
            return await _read(_Git(url, place), ref, folder)
    except TimeoutError as error:
        raise DependencyDown(Message("git.slow", url=url, seconds=int(_WHOLE))) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)


async def _read(git: _Git, ref: str, folder: str) -> Checkout:
    await git.fetch(ref or "HEAD")
    commit = (await git.run("rev-parse", "--verify", "FETCH_HEAD^{commit}")).decode().strip()
    entries = await _entries(git, commit, folder)
    asked = "".join(f"{entry.object_id}\n" for entry in entries)
    data = await git.run("cat-file", "--batch", given=asked.encode())
    files, at = {}, 0
    for entry in entries:
        at = data.index(b"\n", at) + 1
        content = data[at : at + entry.size]
        at += entry.size + 1
        if content.startswith(_LARGE_FILE):
            raise InvalidInput(Message("git.large_file", path=entry.path))
        files[entry.path] = SkillFile(data=content, executable=entry.mode == "100755")
    return Checkout(commit, files)


async def _entries(git: _Git, commit: str, folder: str) -> list[_Entry]:
    """Return the files of a folder, within the bounds of a skill. Raises InvalidInput, NotFound."""
    tree = f"{commit}:{folder}"
    try:
        listed = await git.run("ls-tree", "-r", "-z", "--long", "--full-tree", tree)
    except _Failed:
        raise NotFound(Message("git.no_folder", folder=folder, url=git.url)) from None
    entries = [_entry(line) for line in listed.split(b"\0") if line]
    entries = [entry for entry in entries if LITTER.isdisjoint(entry.path.split("/"))]
    paths = {entry.path for entry in entries}
    if SKILL_MD not in paths:
        inner = sorted(path.removesuffix(f"/{SKILL_MD}") for path in paths if _is_skill(path))
        hint = Message("git.hint_folder", folders=", ".join(inner[:10])) if inner else ""
        raise InvalidInput(Message("git.no_skill", url=git.url, folder=folder or "/"), hint=hint)
    if len(entries) > MAX_FILES:
        raise InvalidInput(Message("files.too_many", n=len(entries), most=MAX_FILES))
    if (total := sum(entry.size for entry in entries)) > MAX_BUNDLE_BYTES:
        raise InvalidInput(Message("files.too_large", total=total, most=MAX_BUNDLE_BYTES))
    for entry in entries:
        if entry.mode not in _FILES:
            raise InvalidInput(Message("git.no_file", path=entry.path))
    return entries


def _entry(line: bytes) -> _Entry:
    head, _, path = line.partition(b"\t")
    mode, _, object_id, size = head.decode("ascii").split()
    name = path.decode("utf-8", "backslashreplace")
    return _Entry(name, object_id, int(size) if size.isdigit() else 0, mode)


def _is_skill(path: str) -> bool:
    return path.endswith(f"/{SKILL_MD}")


class _Failed(Exception):
    """A command of git that failed, with what it said."""


class _Git:
    """An empty repository into which one commit is fetched."""

    def __init__(self, url: str, place: str) -> None:
        self.url = url
        self._place = place

    async def fetch(self, ref: str) -> None:
        """Fetch what a ref stands for, and nothing besides. Raises NotFound, DependencyDown."""
        await self.run("init", "--quiet", "--bare", ".")
        options = "--quiet --depth=1 --no-tags --no-recurse-submodules --no-auto-maintenance"
        try:
            await self.run("fetch", *options.split(), "--", self.url, ref)
        except _Failed as error:
            said = str(error)
            if _NO_REF in said:
                raise NotFound(
                    Message("git.no_ref", ref=ref, url=self.url), hint=Message("git.hint_ref")
                ) from None
            raise DependencyDown(Message("git.failed", url=self.url, why=said)) from None

    async def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run a command, and return what it prints. Raises _Failed."""
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", _BOUNDED, str(_BLOCKS), "git"),
            *(part for setting in _SETTINGS for part in ("-c", setting)),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._place,
            env=self._environment(),
            start_new_session=True,  # a group of its own, to be killed as a whole
        )
        try:
            printed, said = await process.communicate(given)
        finally:
            await end_process(process)
        if process.returncode:
            raise _Failed(" ".join(said.decode("utf-8", "replace").split())[-_SAID:])
        return printed

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": _PATH,
            "LC_ALL": "C",
            "HOME": self._place,
            "GIT_DIR": self._place,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": urlsplit(self.url).scheme,
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
            "GIT_LFS_SKIP_SMUDGE": "1",
        }
