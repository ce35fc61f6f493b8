"""References between a skill's files and to other skills: found, and resolved (pure).

Inside a skill a reference is `folder/file`, to another skill `skill-name/folder/file` (contracts,
section 3). They are found in Markdown links and images, code and plain text.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

from core.domain.models import SKILL_MD, Bundle
from core.skills.bundle import is_text
from core.skills.document.frontmatter import parted
from core.skills.document.markdown import blocks, has_too_many_lines, lines_of

T = TypeVar("T", bound=Hashable)
_FOLDERS = ("references", "scripts", "assets")
# A line without any of these has no path.
_SIGNS = (*(f"{name}/" for name in _FOLDERS), f"/{SKILL_MD}")
_MARKDOWN = (".md", ".markdown")
_NAME = r"[a-z0-9][a-z0-9-]{0,63}"
# Not preceded by what makes it part of a URL, an absolute path or a longer name.
_START = r"(?<![A-Za-z0-9_/.:@~$%+\-\\])"
_IN_TEXT = re.compile(
    rf"{_START}(?P<up>(?:\.\.?/)*)(?:\$?\{{\w{{1,40}}\}}/)?"
    rf"(?P<path>{_NAME}/SKILL\.md(?![A-Za-z0-9_-])|(?:{_NAME}/)?(?:{'|'.join(_FOLDERS)})/"
    r"[^\s\"'`<>|(){}\[\],;*?!$\\、。，！？：；「」『』（）《》…]+)(?P<after>.?)"
)
# Followed by one of these it is a pattern for paths, not a path.
_TEMPLATE = frozenset("<{*$[?…")
_EXTENSION = re.compile(r".*\.[A-Za-z0-9]{1,12}(?![A-Za-z0-9])", re.DOTALL)
_LINK = re.compile(
    r"\]\(\s*(?:<(?P<pointed>[^<>]*)>|(?P<bare>[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
)
_DEFINITION = re.compile(r" {0,3}\[[^\[\]]{1,999}\]:\s*(?:<(?P<pointed>[^<>]*)>|(?P<bare>\S+))")
CODE_SPAN = re.compile(r"(?<!`)(`{1,8})(?!`)(?:(?!\1(?!`)).){1,2000}?(?<!`)\1(?!`)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, order=True)
class Reference:
    """A reference in `file` at `line` (from 1).

    `skill` is the other skill that it leads to, None for the same one; `path` is the file's path
    there. `resolved` says whether that file exists.
    """

    file: str
    line: int
    skill: str | None
    path: str
    resolved: bool

    @property
    def target(self) -> str:
        """The reference as it is to be written."""
        return f"{self.skill}/{self.path}" if self.skill else self.path

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def in_order(skills: Mapping[T, Bundle]) -> list[T]:
    """Return the keys of skills, each after those of the skills that it refers to."""
    named: dict[str, T] = {}
    referred: dict[T, set[str]] = {}
    for key, bundle in skills.items():
        named.setdefault(bundle.name, key)
        referred[key] = {found.skill for found in find_references(bundle) if found.skill}
    ordered: dict[T, None] = {}

    def visit(key: T, above: frozenset[T]) -> None:
        for name in sorted(referred[key]):
            other = named.get(name)
            if other is not None and other not in above and other not in ordered:
                visit(other, above | {other})
        ordered[key] = None

    for key in skills:
        if key not in ordered:
            visit(key, frozenset({key}))
    return [*ordered]


def find_references(
    bundle: Bundle, others: Mapping[str, Collection[str]] | None = None
) -> tuple[Reference, ...]:
    """Return the references in all text files of a skill, in order, each once per line.

    `others` are the paths of the skills that it may refer to; a reference to any other is dangling.
    URLs, absolute paths and patterns such as `references/<topic>.md` do not count.
    """
    known = {name: frozenset(paths) for name, paths in (others or {}).items()}
    folder = _Folder(bundle.name, frozenset(bundle.files), known)
    found: dict[Reference, None] = {}
    for path in sorted(bundle.files, key=lambda path: (path != SKILL_MD, path)):
        data = bundle.files[path].data
        if is_text(data):
            found.update(dict.fromkeys(_in_file(path, data.decode("utf-8"), folder)))
    return tuple(found)


def dangling(references: Collection[Reference]) -> tuple[Reference, ...]:
    """Return the references that lead nowhere."""
    return tuple(reference for reference in references if not reference.resolved)


@dataclass(frozen=True)
class _Folder:
    """What references are resolved against."""

    name: str
    files: frozenset[str]
    others: Mapping[str, frozenset[str]]

    def reference(self, file: str, line: int, path: str, *, is_link: bool) -> Reference | None:
        """Resolve a path found in `file`; None if it is not a reference to a file.

        A link is relative to the folder of its file, a path in text to that of the skill; if that
        leads nowhere, the other way round.
        """
        here = _joined(posixpath.dirname(file), path)
        root = _joined("", path)
        for place in (here, root) if is_link else (root, here):
            if place in self.files:
                return Reference(file, line, None, place, resolved=True)
        other = _other_skill(here if path.startswith("../") else root)
        if other and other[0] != self.name:
            return self._elsewhere(file, line, *other, is_link=is_link)
        if other and other[1] in self.files:
            return Reference(file, line, None, other[1], resolved=True)
        if here.startswith("../"):
            return None
        is_relative = is_link and not _begins_in_folder(path)
        place = other[1] if other else here if is_relative else root
        return self._missing(file, line, place, is_link=is_link)

    def _elsewhere(
        self, file: str, line: int, skill: str, path: str, *, is_link: bool
    ) -> Reference | None:
        """Resolve a path of another skill."""
        known = self.others.get(skill)
        if known is None and not is_link and not _has_extension(path):
            return None
        return Reference(file, line, skill, path, resolved=path in (known or ()))

    def _missing(self, file: str, line: int, place: str, *, is_link: bool) -> Reference | None:
        """Return a dangling reference; a path in text must look like a file of the skill."""
        is_folder = any(path.startswith(f"{place.rstrip('/')}/") for path in self.files)
        if not place or place == "." or is_folder:
            return None
        if not is_link and not _has_extension(place):
            return None
        return Reference(file, line, None, place, resolved=False)


def _in_file(file: str, text: str, folder: _Folder) -> Iterator[Reference]:
    is_markdown = file.lower().endswith(_MARKDOWN)
    if not is_markdown and not any(sign in text for sign in _SIGNS):
        return
    # Only links ask what is code; parsing 20 MB of Markdown for it took 18 s.
    has_links = is_markdown and ("](" in text or "]:" in text)
    code = _code_lines(text) if has_links else frozenset[int]()
    odd = [path for path in folder.files if re.search(r"[^\w./-]", path)]
    for number, raw in enumerate(lines_of(text)):
        line = unicodedata.normalize("NFC", raw.rstrip("\r\n"))
        if is_markdown and number not in code:
            links, line = _links(line)
            for target in dict.fromkeys(links):
                found = _linked(file, number + 1, target, folder)
                if found:
                    yield found
        for path in dict.fromkeys(_paths(line, folder, odd)):
            found = folder.reference(file, number + 1, path, is_link=False)
            if found:
                yield found


def _code_lines(text: str) -> frozenset[int]:
    """Return the lines, from 0, of code blocks: what looks like a link in one is none.

    In a text too long to be read as Markdown no line counts as code.
    """
    head, body = parted(text)
    if has_too_many_lines(body):
        return frozenset()
    above = len(lines_of(head))
    return frozenset(
        line
        for block in blocks(body)
        if block.kind in {"fence", "code_block"}
        for line in range(above + block.first, above + block.after)
    )


def _links(line: str) -> tuple[list[str], str]:
    """Return the targets of a line's links and images, and the line without them."""
    if "](" not in line and "]:" not in line:
        return [], line
    hidden = CODE_SPAN.sub(lambda span: " " * len(span[0]), line)
    definition = _DEFINITION.match(hidden)
    found = [definition] if definition else [*_LINK.finditer(hidden)]
    spans = [link.span("bare" if link["bare"] is not None else "pointed") for link in found]
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(line)]
    rest = " ".join(line[end:start] for end, start in zip(ends, starts, strict=True))
    return [line[start:end] for start, end in spans], rest


def _linked(file: str, line: int, target: str, folder: _Folder) -> Reference | None:
    bare = re.split(r"[?#]", target.strip(), maxsplit=1)[0]
    path = unicodedata.normalize("NFC", unquote(bare))
    if not path or _SCHEME.match(path) or path.startswith(("/", "\\", "~", "$", "{", "<")):
        return None
    if not _TEMPLATE.isdisjoint(path):
        return None
    return folder.reference(file, line, path, is_link=True)


def _paths(line: str, folder: _Folder, odd: list[str]) -> Iterator[str]:
    """Yield the paths that a line of text or code names."""
    if not any(sign in line for sign in _SIGNS):
        return
    for found in _IN_TEXT.finditer(line):
        start = found.start("path")
        whole = [path for path in odd if line.startswith(path, start)]
        if whole:
            yield max(whole, key=len)
        elif _has_extension(found["path"]) or found["after"] not in _TEMPLATE:
            yield found["up"] + _trimmed(found["path"], folder)


def _trimmed(path: str, folder: _Folder) -> str:
    """Return a path without what the sentence adds to it: an anchor, a full stop, a particle."""
    path = path.split("#", 1)[0].rstrip(".:-_/&=+~^%@")
    if path in folder.files:
        return path
    found = _EXTENSION.match(path)
    if found:
        return found[0]
    return max((file for file in folder.files if path.startswith(file)), key=len, default=path)


def _other_skill(place: str) -> tuple[str, str] | None:
    """Split a path that leaves this skill's folder into skill and path, else return None."""
    beside = place.removeprefix("../")  # the folder that contains the other skills
    skill, _, path = beside.partition("/")
    if not path or skill in _FOLDERS or not re.fullmatch(_NAME, skill):
        return None
    leads_out = beside != place or path == SKILL_MD or _begins_in_folder(path)
    return (skill, path) if leads_out else None


def _begins_in_folder(path: str) -> bool:
    return path.startswith(tuple(f"{name}/" for name in _FOLDERS)) and not path.endswith("/")


def _has_extension(path: str) -> bool:
    return re.search(r"[^/]\.[A-Za-z0-9]{1,12}$", path) is not None


def _joined(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))
