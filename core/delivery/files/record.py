"""The record of what was written, kept in the folder itself: it tells our files from others'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue, ValidationError

from core.delivery.files.blocks import Chunk, chunks, digest, find_block, head_of
from core.delivery.files.outline import Block, Key, Outline, Whole
from core.domain.errors import InvalidInput
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import SkillFile
from core.domain.models.base import Model
from core.domain.text import to_json

PATH = ".skill-worker/sync.json"


class Written(Model):
    """A file as it was written: a whole one of an item, or a block with its entries.

    Digests are SHA-256: of a whole file, or else of the block's body, of the frontmatter and of
    each entry. `found`: that of a whole file that was there before and said the same.
    """

    sha256: str
    found: str = ""
    key: str | None = None
    executable: bool = False
    head: str = ""
    entries: Mapping[str, str] = {}


class Record(Model):
    """What each source wrote: its mark -> path -> file."""

    version: Literal[1] = 1
    sources: Mapping[str, Mapping[str, Written]] = {}

    def of(self, mark: str) -> Mapping[str, Written]:
        """Return what one source wrote."""
        return self.sources.get(mark, {})

    def others(self, mark: str, path: str) -> Mapping[str, Written]:
        """Return what other sources wrote to a path, by their marks."""
        return {
            name: files[path]
            for name, files in self.sources.items()
            if name != mark and path in files
        }

    def with_source(self, mark: str, files: Mapping[str, Written]) -> Record:
        """Return the record after a source was written again."""
        sources = {**self.sources, mark: files}
        return Record(sources={name: sources[name] for name in sources if sources[name]})

    def as_file(self) -> SkillFile | None:
        """Return the record as a file, the same for the same content; None if it is empty."""
        if not self.sources:
            return None
        sources: dict[str, JsonValue] = {
            name: {
                path: files[path].model_dump(mode="json", exclude_defaults=True)
                for path in sorted(files)
            }
            for name, files in sorted(self.sources.items())
        }
        text = to_json({"version": self.version, "sources": sources})
        return SkillFile(data=f"{text}\n".encode())


def read_record(file: SkillFile | None) -> Record:
    """Return the record in a file; an empty one without it. Raises InvalidInput."""
    if file is None:
        return Record()
    try:
        record = Record.model_validate_json(file.data)
        for files in record.sources.values():
            for written in files.values():
                for key in (*written.entries, *filter(None, (written.key,))):
                    Key.read(key)
    except (ValidationError, ValueError):
        raise InvalidInput(
            Message("files.record", path=PATH), hint=Message("files.hint_record")
        ) from None
    return record


def written(outline: Outline) -> dict[str, Written]:
    """Return the record of an outline."""
    return {path: _written(part) for path, part in outline.items()}


def _written(part: Block | Whole) -> Written:
    if isinstance(part, Whole):
        return Written(
            sha256=sha256(part.file.data), key=str(part.key), executable=part.file.executable
        )
    entries = {str(key): digest(text) for key, text in sorted(part.entries.items())}
    head = digest(part.head) if part.head else ""
    return Written(sha256=digest(part.body.rstrip("\n") + "\n"), head=head, entries=entries)


def stood(path: str, file: SkillFile | None, known: Written, mark: str) -> Block | Whole | None:
    """Return what is left on disk of what was written: entries as they were, a file as it is."""
    if file is None:
        return None
    if known.key is not None:
        return Whole(Key.read(known.key), file)
    text = file.data.decode("utf-8")
    found = find_block(path, text, mark)
    if found is None:
        return None
    by_digest = {digest(chunk.text): chunk for chunk in chunks(found.body)}
    entries = {
        Key.read(key): by_digest[value].text
        for key, value in known.entries.items()
        if value in by_digest
    }
    lead = found.body[: len(found.body) - len(_after_lead(found.body))]
    return Block(lead, entries, head_of(text).replace("\r\n", "\n") if known.head else "")


def _after_lead(body: str) -> str:
    """Return a body from its first heading of a kind on."""
    at = body.find("\n### ")
    return "" if at < 0 else body[at:]


def ours(chunk: Chunk, known: Written) -> bool:
    """Whether an entry is as it was written."""
    return digest(chunk.text) in known.entries.values()
