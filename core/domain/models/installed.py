"""Installed skills: where one was published, and the published bytes that an upgrade builds on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import Field

from core.domain.models.base import FileRef, Model, absent


class Published(Model):
    """A skill as it was published, and where: what a lock pins.

    `source` is what can be fetched again; `ref` the branch, tag or commit of git as asked for, and
    `commit` what that was; `index` the address of the index that named it, and `url` the file it
    named. `sha256` is that of the archive, "" if there was none, `digest` that of the content, both
    in hex. `name` is the published name. `files` are the files as they went to the gate, under the
    name they were installed as: the base of the next upgrade.
    """

    source: str
    name: str
    digest: str
    version: str = ""
    ref: str = ""
    commit: str = ""
    index: str = ""
    url: str = ""
    sha256: str = ""
    files: Annotated[Mapping[str, FileRef], Field(default_factory=dict, exclude_if=absent)]


class Upgrade(Model):
    """What an upgrade starts from: what differs from the published `base` was learnt since.

    With `replaces` the newly published file wins where both changed the same lines.
    """

    base: Mapping[str, FileRef]
    replaces: bool = False


class InstalledSkill(Model):
    """A skill that was installed and stands, or waits for a person; by the change that did it."""

    tenant_id: str
    name: str
    published: Published
    change_id: str
    is_held: bool
    at: datetime
