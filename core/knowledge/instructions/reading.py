"""Read the instruction files, skills and decision tables of a repository, and nothing outside it.

What cannot be read is told with its place, and the rest is read all the same. Links are followed
nowhere: what a stranger's repository points to is not the repository's.
"""

from __future__ import annotations

import json
import os
import posixpath
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.decision_table import parse_xml
from core.decision_table.document.tables import ReadTable, cut_each
from core.domain.errors import BundleInvalid, InvalidInput, NotFound
from core.domain.hashing import name_key
from core.domain.messages import Message
from core.domain.models import Bundle
from core.knowledge.instructions.heads import Reach, reach_of, split_head
from core.knowledge.instructions.passages import Passage, includes, passages, unmanaged
from core.skills.bundle import NoSkill, read_skill_folder
from core.skills.document.frontmatter import read_frontmatter
from core.skills.validation.paths import LITTER, SKILL_MD

MAX_TEXT_BYTES = 2**20
MAX_TABLE_BYTES = 20_000_000
MAX_HOPS = 5  # as in Claude Code
MAX_INCLUDES = 1_000  # of one file
SYNC_RECORD = ".skill-worker/sync.json"
_NESTED = frozenset(("AGENTS.md", "CLAUDE.md"))
_HIDDEN = frozenset((".claude", ".cursor", ".github"))
# Where coding tools look for skills; of one that stands in several, the first is read.
_SKILLS = tuple(f"{tool}/skills" for tool in (".claude", ".agents", ".codex", ".cursor", ".github"))
_TEXTS = frozenset((".md", ".mdc", ".markdown", ".txt", ""))


@dataclass(frozen=True)
class Instruction:
    """An instruction of a file, as an agent is to know it."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Skill:
    """A skill's whole folder."""

    path: str
    bundle: Bundle


@dataclass(frozen=True)
class Table:
    """A decision table as a document of its own."""

    path: str
    name: str
    xml: str


@dataclass(frozen=True)
class Trouble:
    """Why something was not read, where; `is_note` if nothing is lost by it."""

    path: str
    line: int
    why: str
    is_note: bool = False


@dataclass
class Repository:
    """What was found in a repository, in a fixed order."""

    instructions: list[Instruction] = field(default_factory=list)
    skills: list[Skill] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def read_repository(folder: Path) -> Repository:
    """Read the repository at `folder`. Raises NotFound if there is no such folder."""
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        raise NotFound(Message("no.folder", path=folder), hint=Message("cli.hint_path"))
    return _Reader(root).read()


class _Unreadable(Exception):
    """Why a file is not read; `is_missing` if there is none."""

    def __init__(self, why: str, *, is_missing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.is_missing = is_missing


class _Reader:
    def __init__(self, root: str) -> None:
        self._root = root
        self._found = Repository()
        self._said: set[tuple[Reach, str]] = set()
        self._synced: Collection[str] = ()
        self._included: dict[tuple[str, Reach], int] = {}

    def read(self) -> Repository:
        """Read all that is ours to read."""
        self._synced = self._written_by_sync()
        paths = sorted(self._paths())
        for path in paths:
            if path not in self._synced or not path.endswith(".dmn"):
                self._read(path)
        self._read_skills()
        self._tell_twice()
        return self._found

    def _read(self, path: str) -> None:
        try:
            if path.endswith(".dmn"):
                self._read_tables(path)
            else:
                self._read_instructions(path)
        except _Unreadable as error:
            self._trouble(path, 1, error.why, is_note=self._is_read_elsewhere(path))
        except (InvalidInput, BundleInvalid) as error:
            line = getattr(error.message, "parameters", {}).get("n", 1)
            self._trouble(path, line if isinstance(line, int) else 1, error.message)

    def _trouble(self, path: str, line: int, why: str, *, is_note: bool = False) -> None:
        self._found.troubles.append(Trouble(path, line, why, is_note))

    def _is_read_elsewhere(self, path: str) -> bool:
        """Whether a link leads to an instruction file in the folder, which is read by its name."""
        whole = os.path.join(self._root, path)
        if not os.path.islink(whole):
            return False
        there = os.path.relpath(os.path.realpath(whole), self._root)
        return not there.startswith("..") and _is_instructions(there) and os.path.isfile(whole)

    def _paths(self) -> Iterator[str]:
        """Yield the files that are read, skills aside, by their paths in the folder."""
        for at, folders, files in os.walk(self._root):
            here = os.path.relpath(at, self._root)
            here = "" if here == "." else here + "/"
            folders[:] = [
                name
                for name in folders
                if name not in LITTER
                and (not name.startswith(".") or (not here and name in _HIDDEN))
                and here + name not in _SKILLS
            ]
            yield from (here + name for name in files if _is_read(here + name))

    def _read_instructions(self, path: str) -> None:
        if path in self._synced and not _is_shared(path):
            return
        text = unmanaged(self._text(path))
        field_name = _head_field(path)
        head, body = split_head(text) if field_name else ("", text)
        reach = reach_of(head, field_name) if field_name else _of_folder(path)
        self._take(path, body, reach, (path,))

    def _take(self, path: str, body: str, reach: Reach, above: Sequence[str]) -> None:
        """Note the instructions of a text, and of what it includes, each once for each reach."""
        for passage in passages(body):
            if (reach, passage.text) not in self._said:
                self._said.add((reach, passage.text))
                self._found.instructions.append(_instruction(path, passage, reach))
        if posixpath.basename(above[0]) != "CLAUDE.md":
            return  # only Claude Code includes
        found = includes(body)
        if len(found) > MAX_INCLUDES:
            why = Message("instructions.many_includes", most=MAX_INCLUDES)
            self._trouble(path, found[MAX_INCLUDES].line, why)
        for included in found[:MAX_INCLUDES]:
            try:
                self._include(path, included.path, reach, above)
            except _Unreadable as error:
                why = Message("instructions.not_included", path=included.path[:200], why=error.why)
                self._trouble(path, included.line, why, is_note=error.is_missing)

    def _include(self, path: str, given: str, reach: Reach, above: Sequence[str]) -> None:
        there = self._resolved(path, given)
        if there is None:
            return
        if there in above:
            raise _Unreadable(Message("instructions.circle"), is_missing=True)
        if len(above) > MAX_HOPS:
            raise _Unreadable(Message("instructions.too_deep", most=MAX_HOPS))
        if posixpath.splitext(there)[1].lower() not in _TEXTS:
            raise _Unreadable(Message("instructions.no_instructions"), is_missing=True)
        # Files that include each other crosswise would be read over and over.
        if self._included.get((there, reach), MAX_HOPS + 1) <= len(above):
            return
        self._included[there, reach] = len(above)
        try:
            self._take(there, unmanaged(self._text(there)), reach, (*above, there))
        except BundleInvalid as error:
            raise _Unreadable(error.message) from None

    def _resolved(self, path: str, given: str) -> str | None:
        """Return the path in the folder that an include means; None if it means no file."""
        for name in dict.fromkeys((given, given.rstrip(".,;:!?)]}\"'"))):
            if name.startswith("~"):
                raise _Unreadable(Message("instructions.outside"))
            # An absolute path is joined as it is.
            whole = os.path.normpath(os.path.join(self._root, posixpath.dirname(path), name))
            there = os.path.relpath(whole, self._root)
            if there.split(os.sep)[0] == os.pardir:
                raise _Unreadable(Message("instructions.outside"))
            if name and os.path.lexists(whole) and not os.path.isdir(whole):
                return there
        if posixpath.splitext(given.rstrip(".,;:!?"))[1].lower() in _TEXTS - {""}:
            raise _Unreadable(Message("instructions.missing"), is_missing=True)
        return None  # a name of a person or a package

    def _text(self, path: str, most: int = MAX_TEXT_BYTES) -> str:
        data = self._data(path, most)
        if b"\0" in data:
            line = data.count(b"\n", 0, data.index(b"\0")) + 1
            raise InvalidInput(Message("instructions.binary", n=line))
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InvalidInput(Message("instructions.encoding", n=line)) from None

    def _data(self, path: str, most: int) -> bytes:
        """Return the bytes of a file. Raises _Unreadable for links, devices and large files."""
        whole = self._root
        for part in path.split("/"):
            whole = os.path.join(whole, part)
            if os.path.islink(whole):
                raise _Unreadable(Message("instructions.link"))
        try:
            descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as handle:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise _Unreadable(Message("file.no_regular", path=path))
                data = handle.read(most + 1)
        except OSError as error:
            raise _Unreadable(Message("file.it_unreadable", why=error)) from None
        if len(data) > most:
            raise _Unreadable(Message("file.has_more", most=most))
        return data

    def _read_tables(self, path: str) -> None:
        text = self._text(path, MAX_TABLE_BYTES)
        for cut in cut_each(text):
            if isinstance(cut, ReadTable):
                why = Message("dmn.of_decision", name=cut.decision or "?", why=cut.problem)
                self._trouble(path, 1, why)
            else:
                self._found.tables.append(Table(path, parse_xml(cut.xml).name, cut.xml))

    def _read_skills(self) -> None:
        seen: dict[str, Bundle] = {}
        for path in (path for place in _SKILLS for path in self._skill_folders(place)):
            whole = os.path.join(self._root, path)
            if os.path.islink(whole):
                if not self._is_skill_elsewhere(whole):
                    self._trouble(path, 1, Message("instructions.link"))
                continue
            try:
                bundle = read_skill_folder(Path(whole)).bundle
            except NoSkill as error:
                for problem in error.problems:
                    self._trouble(f"{path}/{problem.path}".rstrip("/"), 1, problem.message)
                continue
            except (BundleInvalid, InvalidInput) as error:
                self._trouble(path, 1, error.message)
                continue
            skill = Bundle(name=read_frontmatter(bundle.document).name, files=bundle.files)
            known = seen.setdefault(name_key(skill.name), skill)
            if known is skill:
                self._found.skills.append(Skill(path, skill))
            elif known != skill:
                self._trouble(path, 1, Message("instructions.skill_differs", name=skill.name))

    def _is_skill_elsewhere(self, whole: str) -> bool:
        """Whether a link is to a folder that is read at its own place."""
        there = os.path.relpath(os.path.realpath(whole), self._root)
        return posixpath.dirname(there) in _SKILLS and os.path.isdir(whole)

    def _skill_folders(self, place: str) -> Iterator[str]:
        """Yield the folders of skills that people wrote, in one of the places of skills."""
        parents = (posixpath.dirname(place), place)
        link = next((one for one in parents if os.path.islink(f"{self._root}/{one}")), None)
        if link is not None:
            there = os.path.relpath(os.path.realpath(f"{self._root}/{place}"), self._root)
            if there not in _SKILLS:
                self._trouble(place, 1, Message("instructions.link"))
            return
        try:
            entries = sorted(os.scandir(os.path.join(self._root, place)), key=lambda one: one.name)
        except OSError:
            return
        for entry in entries:
            path = f"{place}/{entry.name}"
            is_ours = any(known == path or known.startswith(path + "/") for known in self._synced)
            if is_ours or not (entry.is_dir() or entry.is_symlink()):
                continue
            if entry.is_symlink() or os.path.exists(os.path.join(entry.path, SKILL_MD)):
                yield path

    def _written_by_sync(self) -> Collection[str]:
        """Return the files that `knowledge sync` has written, or written into."""
        if not os.path.lexists(os.path.join(self._root, SYNC_RECORD)):
            return ()
        try:
            sources = dict(json.loads(self._text(SYNC_RECORD))["sources"])
            return frozenset(
                str(path)
                for files in sources.values()
                for path, one in dict(files).items()
                if not one.get("found") or one["found"] != one["sha256"]  # else it is of people
            )
        except _Unreadable as error:
            self._trouble(SYNC_RECORD, 1, error.why)
        except (InvalidInput, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._trouble(SYNC_RECORD, 1, Message("instructions.no_record"))
        return ()

    def _tell_twice(self) -> None:
        """Take out tables that share a name: which of them counts is not for code to say."""
        names = [name_key(table.name) for table in self._found.tables]
        twice = [table for table in self._found.tables if names.count(name_key(table.name)) > 1]
        for table in twice:
            self._found.tables.remove(table)
            self._trouble(table.path, 1, Message("dmn.several_decisions", name=table.name))


def _is_read(path: str) -> bool:
    return path.endswith(".dmn") or _is_instructions(path)


def _is_instructions(path: str) -> bool:
    if posixpath.basename(path) in _NESTED:
        return path == ".claude/CLAUDE.md" or not path.startswith(".")
    return path == ".github/copilot-instructions.md" or bool(_head_field(path))


def _is_shared(path: str) -> bool:
    """Whether people and `knowledge sync` write into one file, which then says whose is what."""
    return not _head_field(path)


def _head_field(path: str) -> str:
    """Return the field of a rule file's head that holds its patterns, "" for other files."""
    if path.startswith(".claude/rules/") and path.endswith(".md"):
        return "paths"
    if path.startswith(".cursor/rules/") and path.endswith(".mdc"):
        return "globs"
    if path.startswith(".github/instructions/") and path.endswith(".instructions.md"):
        return "applyTo"
    return ""


def _of_folder(path: str) -> Reach:
    """Return to what a file without a head applies: to the files of its folder."""
    folder = posixpath.dirname(path)
    return Reach((f"{folder}/**",)) if folder and not folder.startswith(".") else Reach()


def _instruction(path: str, passage: Passage, reach: Reach) -> Instruction:
    """Return an instruction that says by itself what it is for."""
    text = passage.text
    is_korean = any("가" <= char <= "힣" for char in text)
    if reach.globs:
        globs = ", ".join(f"`{glob}`" for glob in reach.globs)
        text = f"{globs} 파일에서: {text}" if is_korean else f"For files {globs}: {text}"
    elif reach.about:
        text = f"{reach.about}: {text}"
    return Instruction(path, passage.line, text)
