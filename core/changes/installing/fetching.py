"""Fetch a published skill, check that it is what was pinned, and that it is a skill."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.domain.errors import BundleInvalid, InvalidInput, NotFound
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle
from core.domain.models.installed import Published
from core.domain.ports import Publishers
from core.safety.masking import mask
from core.skill_quick_validate import Problem, check_bundle, errors_of
from core.skills.bundle import (
    MAX_BUNDLE_BYTES,
    NoSkill,
    SkillRead,
    bundle_hash,
    read_skill_file,
    read_skill_folder,
)
from core.skills.commands import bundle_tool_problems
from core.skills.document.frontmatter import read_frontmatter, read_values
from core.skills.published.index_file import MAX_INDEX_BYTES, Found, look_up, read_index
from core.skills.published.places import GitPlace, NamePlace, PathPlace, Place, UrlPlace

MOST = 2 * MAX_BUNDLE_BYTES


@dataclass(frozen=True)
class Wanted:
    """What a fetched skill must be: `pin` is the SHA-256 of its file or of its content.

    `digest` is that of its content, `commit` and `version` where it was then, `index` the one
    that named it.
    """

    pin: str = ""
    digest: str = ""
    commit: str = ""
    version: str = ""
    index: str = ""


ANYTHING = Wanted()


class Offer(NamedTuple):
    """A published skill, under its published name, with what is to be said about it."""

    bundle: Bundle
    problems: Sequence[Problem]
    published: Published


class _Fetched(NamedTuple):
    read: SkillRead
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Fetching:
    """Fetches from all kinds of places; names are looked up in `indexes`."""

    publishers: Publishers
    indexes: Sequence[str] = ()

    async def fetch(self, place: Place, wanted: Wanted = ANYTHING) -> Offer:
        """Return what is published at a place.

        Raises InvalidInput, also if it is not what was wanted; NotFound, DependencyDown.
        """
        if mask(place.source).findings:
            raise InvalidInput(Message("place.secret"), hint=Message("place.hint_secret"))
        fetched = await self._fetched(place, wanted)
        return await asyncio.to_thread(_offer, place, fetched, wanted)

    async def _fetched(self, place: Place, wanted: Wanted) -> _Fetched:
        if isinstance(place, PathPlace):
            return await asyncio.to_thread(_at_path, place.path)
        if isinstance(place, GitPlace):
            return await self._of_git(place, wanted.commit)
        if isinstance(place, UrlPlace):
            return await self._of_file(place.url, place.sha256)
        found = await self._look_up(place, wanted)
        fetched = await self._of_file(found.url, found.sha256, named_by=found.index)
        return fetched._replace(facts={**fetched.facts, **found.model_dump()})

    async def _of_file(self, url: str, pin: str, *, named_by: str = "") -> _Fetched:
        data = await self.publishers.file(url, most=MOST, named_by=named_by)
        digest = await asyncio.to_thread(sha256, data)
        if pin and pin != digest:
            raise _lies(url, pin, digest)
        return _Fetched(await asyncio.to_thread(read_skill_file, data), {"sha256": digest})

    async def _of_git(self, place: GitPlace, commit: str) -> _Fetched:
        tree = await self.publishers.tree(place.url, commit or place.ref, place.folder)
        asked = commit or (place.ref if len(place.ref) in {40, 64} else "")
        if asked and _is_hex(asked) and asked != tree.commit:
            raise _lies(place.source, asked, tree.commit)
        bundle = Bundle(name=place.folder.rpartition("/")[2], files=tree.files)
        return _Fetched(SkillRead(bundle), {"ref": place.ref, "commit": tree.commit})

    async def _look_up(self, place: NamePlace, wanted: Wanted) -> Found:
        """Return where a name is. Raises InvalidInput if two indexes have it: either may be meant.

        Raises NotFound if none has.
        """
        indexes = [wanted.index] if wanted.index else [*self.indexes]
        if not indexes:
            raise InvalidInput(
                Message("index.none", name=place.name), hint=Message("index.hint_none")
            )
        if wanted.version:
            place = NamePlace(place.name, wanted.version)
        found = [one for one in [await self._in_index(place, url) for url in indexes] if one]
        if not found:
            raise NotFound(
                Message("index.lacks", name=place.name, indexes=", ".join(indexes)),
                hint=Message("index.hint_lacks", name=place.name),
            )
        if len(found) > 1:
            urls = ", ".join(one.index for one in found)
            raise InvalidInput(
                Message("index.several", name=place.name, indexes=urls),
                hint=Message("index.hint_several"),
            )
        return found[0]

    async def _in_index(self, place: NamePlace, url: str) -> Found | None:
        data = await self.publishers.file(url, most=MAX_INDEX_BYTES)
        index = await asyncio.to_thread(read_index, data, url)
        return look_up(index, place, url)


def _is_hex(text: str) -> bool:
    return all(char in "0123456789abcdef" for char in text)


def _at_path(path: Path) -> _Fetched:
    """Read a folder or a file. Raises NotFound, NoSkill, InvalidInput."""
    if path.is_dir():
        return _Fetched(read_skill_folder(path), {})
    if not path.is_file():
        raise NotFound(Message("cli.no_file", path=path), hint=Message("cli.hint_path"))
    try:
        with path.open("rb") as handle:
            data = handle.read(MOST + 1)
    except OSError as error:
        raise InvalidInput(Message("file.unreadable", path=path, why=error)) from error
    return _Fetched(read_skill_file(data), {"sha256": sha256(data)})


def _offer(place: Place, fetched: _Fetched, wanted: Wanted) -> Offer:
    """Return a skill under its own name, if it is what was wanted. Raises InvalidInput."""
    bundle, problems = _sound(place, fetched.read)
    if isinstance(place, NamePlace) and bundle.name != place.name:
        raise InvalidInput(Message("index.other_name", name=place.name, found=bundle.name))
    digest = bundle_hash(bundle)
    if wanted.digest and wanted.digest != digest:
        raise _lies(place.source, wanted.digest, digest)
    packed = fetched.facts.get("sha256", "")
    if wanted.pin and wanted.pin not in {digest, packed}:
        raise _lies(place.source, wanted.pin, packed or digest)
    facts = {"version": _version(bundle), **fetched.facts}
    published = Published(source=place.source, name=bundle.name, digest=digest, **facts)
    return Offer(bundle, problems, published)


def _sound(place: Place, read: SkillRead) -> tuple[Bundle, Sequence[Problem]]:
    """Return a skill as its document names it, by the verdict of `skill validate`."""
    problems: Sequence[Problem] = read.problems
    if not (isinstance(place, PathPlace) and place.path.is_dir()):
        bundle = read.bundle
        if not bundle.name:  # at the root of a repository, which may be called anything
            bundle = Bundle(name=_own_name(bundle), files=bundle.files)
        found = [*read.problems, *check_bundle(bundle), *bundle_tool_problems(bundle)]
        problems = sorted(found, key=lambda problem: problem.severity != "error")
        if errors_of(problems):
            raise NoSkill(problems)
    return Bundle(name=_own_name(read.bundle), files=read.bundle.files), problems


def _own_name(bundle: Bundle) -> str:
    if SKILL_MD not in bundle.files:
        return ""
    try:
        return read_frontmatter(bundle.document).name
    except (BundleInvalid, UnicodeDecodeError):
        return ""


def _version(bundle: Bundle) -> str:
    """Return the version that a skill states of itself in its `metadata`, "" if none."""
    node = read_values(bundle.document).get("metadata")
    inner = node.value.get("version") if node and isinstance(node.value, dict) else None
    return str(inner.value)[:80] if inner and isinstance(inner.value, str) else ""


def _lies(source: str, wanted: str, found: str) -> InvalidInput:
    return InvalidInput(
        Message("place.other_digest", source=source, wanted=wanted, found=found),
        hint=Message("place.hint_digest"),
    )
