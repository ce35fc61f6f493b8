"""Bring a folder to what an agent knows: all is looked at before anything is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.delivery.files.blocks import (
    by_hand,
    drop_block,
    find_block,
    head_of,
    mark_of,
    put_block,
)
from core.delivery.files.edits import Edit, Place, edit_at, found_at
from core.delivery.files.knowing import Known
from core.delivery.files.outline import Block, Key, Outline, Whole, changed, mixed
from core.delivery.files.record import PATH, Record, Written, read_record, stood, written
from core.delivery.files.rendering import Style, render
from core.domain.errors import Refused, SkillWorkerError
from core.domain.hashing import sha256
from core.domain.messages import Message, joined
from core.domain.models import SkillFile
from core.domain.ports import Folder, Repository

_TOLD = 20


@dataclass(frozen=True)
class Cause:
    """The change that made an item what it is, or ended it, and the feedback behind it."""

    change_id: str
    feedback_id: str | None = None
    at: datetime | None = None


@dataclass
class Synced:
    """What came of it: paths written and removed, edits by hand, what was left out, commits.

    `ends` is when the first of the memories is over; `is_held_up` if edits kept it from writing.
    """

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    edits: Sequence[Edit] = ()
    warnings: Sequence[str] = ()
    commits: list[str] = field(default_factory=list)
    is_held_up: bool = False
    ends: datetime | None = None


Ask = Callable[[], Awaitable[Known]]
AskCause = Callable[[Key], Awaitable[Cause | None]]
OnEdits = Callable[[Sequence[Edit]], Awaitable[bool]]


@dataclass(frozen=True)
class FileSync:
    """Writes one source, an agent in a layout, to a folder.

    `on_edits` is told of what people changed, and says whether to write all the same. With a
    `repository` each change becomes a commit of its own.
    """

    folder: Folder
    style: Style
    ask: Ask
    on_edits: OnEdits
    cause_of: AskCause
    repository: Repository | None = None

    async def sync(self) -> Synced:
        """Write what is known. Raises Refused, InvalidInput before anything is written."""
        async with self.folder.locked():
            known = await self.ask()
            outline, warnings = await asyncio.to_thread(render, known, self.style)
            agent = known.agent
            mark = mark_of(self.style.layout, agent.tenant_id, agent.id)
            run = _Run(self.folder, mark, read_record(await self.folder.read(PATH)), outline)
            edits = await run.look()
            if self.repository:
                await self._check(self.repository, run)
            done = Synced(edits=edits, warnings=warnings, ends=known.ends)
            if edits and not await self.on_edits(edits):
                done.is_held_up = True
                return done
            if self.repository is None:
                await run.write(outline, done)
            else:
                await self._commit(self.repository, run, done, agent.name or agent.id)
        return done

    async def _check(self, repository: Repository, run: _Run) -> None:
        """Raise if a commit would take along what people wrote and have not committed."""
        await repository.check([*run.paths, PATH])
        for place in run.places.values():
            if place.is_whole or place.text is None:
                continue
            marks = [place.mark, *run.record.sources]
            before = (await repository.committed(place.path) or b"").decode("utf-8", "replace")
            texts = [by_hand(place.path, text, marks) for text in (before, place.text)]
            if head_of(texts[1]) != texts[1] and texts[0] != texts[1]:
                raise Refused(
                    Message("files.uncommitted", path=place.path),
                    hint=Message("files.hint_uncommitted"),
                )

    async def _commit(self, repository: Repository, run: _Run, done: Synced, agent: str) -> None:
        """Write and commit change by change; what cannot be committed is not written either."""
        old = run.stood()
        steps = await self._steps(old, run.outline)
        seen: frozenset[Key] = frozenset()
        for at, (cause, keys) in enumerate(steps, start=1):
            seen |= keys
            is_last = at == len(steps)
            before = dict(run.files)
            await run.write(run.outline if is_last else mixed(old, run.outline, seen), done)
            try:
                commit = await repository.commit([*run.paths, PATH], _message(agent, cause, keys))
            except BaseException:
                await run.put_back(before)
                raise
            if commit:
                done.commits.append(commit)

    async def _steps(
        self, old: Outline, new: Outline
    ) -> Sequence[tuple[Cause | None, frozenset[Key]]]:
        """Return what to commit one after another: each change with its items, in their order."""
        groups: dict[str, tuple[Cause | None, set[Key]]] = {}
        for key in sorted(changed(old, new)):
            cause = await self.cause_of(key)
            group = groups.setdefault(cause.change_id if cause else "", (cause, set()))
            group[1].add(key)
        steps = [(cause, frozenset(keys)) for cause, keys in groups.values()]
        return sorted(steps, key=_moment) or [(None, frozenset())]


def _moment(step: tuple[Cause | None, frozenset[Key]]) -> tuple[bool, float, str]:
    cause = step[0]
    at = cause.at.timestamp() if cause and cause.at else 0.0
    return cause is None, at, cause.change_id if cause else ""


def _message(agent: str, cause: Cause | None, keys: frozenset[Key]) -> str:
    what = ", ".join(map(str, sorted(keys)[:3])) + (", …" if len(keys) > 3 else "")
    subject = " ".join(f"Sync what {agent} knows{': ' if what else ''}{what}".split())
    if cause is None:
        return f"{subject}\n"
    trailers = [f"Feedback-Id: {cause.feedback_id}"] if cause.feedback_id else []
    return "\n".join((subject, "", *trailers, f"Change-Id: {cause.change_id}", ""))


@dataclass
class _Run:
    """One sync: the folder as it was read, and what is written to it."""

    folder: Folder
    mark: str
    record: Record
    outline: Outline
    files: dict[str, SkillFile | None] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """All paths that are ours, or are to be."""
        return sorted({*self.record.of(self.mark), *self.outline})

    async def look(self) -> Sequence[Edit]:
        """Read all that is there, and return what was changed by hand.

        Raises Refused with all that stands in the way.
        """
        problems: list[SkillWorkerError] = []
        edits: list[Edit] = []
        self.files[PATH] = await self.folder.read(PATH)
        for path in self.paths:
            try:
                place = await self._place(path)
                self.places[path] = place
                edit = edit_at(place)
            except SkillWorkerError as error:
                problems.append(error)
                continue
            if edit:
                edits.append(edit)
        if problems:
            more = [Message("input.more", n=len(problems) - _TOLD)] if problems[_TOLD:] else []
            told = joined([*(problem.message for problem in problems[:_TOLD]), *more])
            raise Refused(told, hint=problems[0].hint)
        return edits

    async def _place(self, path: str) -> Place:
        self.files[path] = await self.folder.read(path)
        return Place(
            path,
            self.mark,
            self.files[path],
            self.record.of(self.mark).get(path),
            self.outline.get(path),
            self.record.others(self.mark, path),
        )

    def stood(self) -> Outline:
        """Return what was written before, as far as it is still there."""
        found: dict[str, Block | Whole] = {}
        for path, known in self.record.of(self.mark).items():
            part = stood(path, self.files[path], known, self.mark)
            if part is not None:
                found[path] = part
        return found

    async def write(self, outline: Outline, done: Synced) -> None:
        """Write an outline, and the record of it."""
        files = dict(self._changes(outline))
        record = self.record.with_source(self.mark, self._written(outline))
        after = record.as_file()
        if after != self.files[PATH]:
            files[PATH] = after
        if files:
            await self.folder.write(files)
        self.files.update(files)
        for path, file in files.items():
            if path != PATH:
                _note(done, path, is_there=file is not None)

    def _written(self, outline: Outline) -> Mapping[str, Written]:
        is_lost = self._has_lost_record()
        return {
            path: one.model_copy(update={"found": "" if is_lost else found_at(self.places[path])})
            for path, one in written(outline).items()
        }

    def _has_lost_record(self) -> bool:
        """Whether a block of ours is there and no record: what says the same was written then."""
        if self.record.of(self.mark):
            return False
        blocks = (one for one in self.places.values() if not one.is_whole)
        return any(find_block(one.path, one.text or "", one.mark) for one in blocks)

    async def put_back(self, before: Mapping[str, SkillFile | None]) -> None:
        """Write what was there before."""
        changes = {path: file for path, file in before.items() if self.files[path] != file}
        await self.folder.write(changes)

    def _changes(self, outline: Outline) -> Iterator[tuple[str, SkillFile | None]]:
        for path in self.paths:
            before = self.files[path]
            after = self._after(path, before, outline.get(path))
            if after != before:
                yield path, after

    def _after(
        self, path: str, before: SkillFile | None, wanted: Block | Whole | None
    ) -> SkillFile | None:
        if isinstance(wanted, Whole):
            return wanted.file
        known = self.record.of(self.mark).get(path)
        if wanted is None and (known is None or before is None):
            return before
        if wanted is None and known is not None and known.key is not None:
            is_theirs = before is not None and sha256(before.data) == known.found
            return before if is_theirs or self.record.others(self.mark, path) else None
        text = before.data.decode("utf-8") if before else None
        if wanted is not None:
            text = put_block(path, text, self.mark, wanted.body, wanted.head)
        elif text is not None:
            text = drop_block(path, text, self.mark)
        if text is None:
            return None
        return SkillFile(data=text.encode("utf-8"), executable=bool(before and before.executable))


def _note(done: Synced, path: str, *, is_there: bool) -> None:
    kept, other = (done.written, done.removed) if is_there else (done.removed, done.written)
    if path in other:
        other.remove(path)
    if path not in kept:
        kept.append(path)
