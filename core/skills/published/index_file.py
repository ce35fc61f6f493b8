"""Index files: by name, which versions of skills are published, where, and with which digest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urljoin

from pydantic import Field

from core.domain.errors import InvalidInput, NotFound
from core.domain.input_formats.json_text import parse_model
from core.domain.messages import Message
from core.domain.models.base import Model
from core.skills.published.places import VERSION, NamePlace, check_address

MAX_INDEX_BYTES = 4 * 2**20
_Version = Annotated[str, Field(pattern=f"^{VERSION.pattern}$", max_length=80)]
_PARTS = re.compile(r"[0-9]+|[A-Za-z-]+")


class SkillsConfig(Model):
    """The section `skills` of skill-worker.yaml: the indexes in which names are looked up."""

    indexes: tuple[Annotated[str, Field(pattern=r"^https?://\S+$")], ...] = ()


class IndexedVersion(Model):
    """Where one version is: `url`, which may be relative to the index, and the file's SHA-256."""

    url: str = Field(min_length=1, max_length=2_000)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class IndexedSkill(Model):
    """A skill with its versions."""

    description: str = ""
    versions: Mapping[_Version, IndexedVersion]


class IndexFile(Model):
    """A whole index; `format` is 1."""

    format: int = Field(default=1, ge=1, le=1)
    skills: Mapping[str, IndexedSkill]


class Found(Model):
    """What an index says about a name."""

    index: str
    version: str
    url: str
    sha256: str


def read_index(data: bytes, url: str) -> IndexFile:
    """Parse an index. Raises InvalidInput, which names it and the field."""
    try:
        return parse_model(data, IndexFile)
    except InvalidInput as error:
        raise InvalidInput(Message("index.wrong", url=url, why=error.message)) from None


def look_up(index: IndexFile, wanted: NamePlace, url: str) -> Found | None:
    """Return where a name's wanted version is, None if the index lacks the name.

    Raises NotFound if it lacks the version.
    """
    skill = index.skills.get(wanted.name)
    if skill is None:
        return None
    version = wanted.version or _newest(skill)
    entry = skill.versions.get(version)
    if entry is None:
        known = ", ".join(sorted(skill.versions, key=_order))
        raise NotFound(
            Message("index.no_version", name=wanted.name, version=version or "–", url=url),
            hint=Message("index.has", versions=known or "–"),
        )
    where = urljoin(url, entry.url)
    check_address(where)
    return Found(index=url, version=version, url=where, sha256=entry.sha256)


def _newest(skill: IndexedSkill) -> str:
    """Return the newest version that is no pre-release, "" if there is none."""
    released = [version for version in skill.versions if "-" not in version.partition("+")[0]]
    return max(released, key=_order, default="")


def _order(version: str) -> tuple[tuple[int, ...], tuple[tuple[int, int | str], ...]]:
    """Return what versions are ordered by, as semantic versions are."""
    plain, _, pre = version.partition("+")[0].partition("-")
    numbers = [int(part) for part in plain.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    parts = [(0, int(part)) if part.isdigit() else (1, part) for part in _PARTS.findall(pre)]
    return tuple(numbers), tuple(parts) if pre else ((2, 0),)
