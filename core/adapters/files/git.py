"""Commits by the git of this machine, with the user's own identity and hooks; nothing is pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from core.domain.errors import InvalidInput, Refused
from core.domain.messages import Message
from core.domain.text import clean_text

# The user's hooks run within a commit.
SECONDS = 120.0
_SHOWN = 2_000
# Paths as they are: no name of a file is a pattern, and no list is too long for a command line.
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")


class GitRepository:
    """The `Repository` port over the work tree that a folder is in."""

    def __init__(self, folder: Path, program: str = "git") -> None:
        self._folder = folder
        self._program = program
        self._top = ""
        self._below = ""

    async def check(self, paths: Sequence[str]) -> None:
        """Raise unless these paths can be committed."""
        inside = await self._git("rev-parse", "--show-toplevel", "--show-prefix")
        if inside is None:
            raise InvalidInput(
                Message("files.no_repository", path=self._folder),
                hint=Message("files.hint_repository"),
            )
        top, below = inside.split("\n")[:2]
        self._top, self._below = top, below
        given = self._given(paths)
        code, ignored, err = await self._run(("check-ignore", "--stdin", "-z"), given)
        if code not in {0, 1}:  # 1: none of them
            raise Refused(Message("files.git", command="check-ignore", why=err.strip()[-_SHOWN:]))
        if ignored:
            raise Refused(
                Message("files.ignored", paths=_listed(ignored)),
                hint=Message("files.hint_ignored"),
            )
        staged = await self._done("diff", "--cached", "--name-only", "--no-renames", "-z")
        both = sorted(set(staged.split("\0")) & set(given.split("\0")) - {""})
        if both:
            raise Refused(
                Message("files.staged", paths=_listed("\0".join(both))),
                hint=Message("files.hint_uncommitted"),
            )

    async def committed(self, path: str) -> bytes | None:
        """Return a file as last committed."""
        text = await self._git("cat-file", "blob", f"HEAD:{self._below}{path}")
        return None if text is None else text.encode("utf-8", "surrogateescape")

    async def commit(self, paths: Sequence[str], message: str) -> str:
        """Commit these paths alone, whatever else is staged or changed."""
        ours = set(self._given(paths).split("\0"))
        status = await self._done(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"
        )
        found = [(line[:2], line[3:]) for line in status.split("\0") if line[3:] in ours]
        if not found:
            return ""
        listed = "\0".join(path for _, path in found)
        new = "\0".join(path for state, path in found if state == "??")
        if new:
            await self._done("add", "--intent-to-add", *_FROM_STDIN, given=new)
        try:
            await self._done(
                "commit", "--quiet", "--only", "-m", message, *_FROM_STDIN, given=listed
            )
        except Refused:
            if new:
                await self._git("rm", "--cached", "--quiet", "-f", *_FROM_STDIN, given=new)
            raise
        return (await self._done("rev-parse", "HEAD")).strip()

    def _given(self, paths: Sequence[str]) -> str:
        """Return paths as git takes them, from the top of the work tree."""
        return "\0".join(f"{self._below}{path}" for path in paths)

    async def _done(self, *arguments: str, given: str = "") -> str:
        """Return what git prints. Raises Refused with what it says if it fails."""
        code, out, err = await self._run(arguments, given)
        if code != 0:
            why = (err or clean_text(out)).strip()[-_SHOWN:] or f"exit {code}"
            raise Refused(Message("files.git", command=arguments[0], why=why))
        return out

    async def _git(self, *arguments: str, given: str = "") -> str | None:
        """Return what git prints, None if it fails."""
        code, out, _ = await self._run(arguments, given)
        return out if code == 0 else None

    async def _run(self, arguments: Sequence[str], given: str) -> tuple[int, str, str]:
        where = self._top or str(self._folder)
        literal = ("--literal-pathspecs",) if _FROM_STDIN[0] in arguments else ()
        try:
            process = await asyncio.create_subprocess_exec(
                *(self._program, "-C", where, *literal, *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise InvalidInput(Message("files.no_git", why=error)) from None
        try:
            async with asyncio.timeout(SECONDS):
                out, err = await process.communicate(given.encode("utf-8", "surrogateescape"))
        except TimeoutError:
            raise Refused(
                Message("files.git", command=arguments[0], why=f"no end after {SECONDS:.0f} s")
            ) from None
        finally:
            if process.returncode is None:
                process.terminate()  # not killed: it takes its locks with it
                await process.wait()
        printed = out.decode("utf-8", "surrogateescape")
        return process.returncode or 0, printed, err.decode("utf-8", "replace")


def _listed(paths: str) -> str:
    found = [path for path in paths.split("\0") if path]
    return ", ".join(found[:10]) + (", …" if found[10:] else "")
