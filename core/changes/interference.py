"""A look of the gate: whether a change takes away what other items rely on, also by a model."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from typing import Protocol

from core.decision_table import parse_tables
from core.domain.errors import LeaseLost, RuleInvalid, SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import (
    Bundle,
    Change,
    Finding,
    Kind,
    KnownText,
    Operation,
    Origin,
    ScreenSeverity,
    SkillRequest,
)
from core.domain.ports import Search, SkillStore
from core.domain.tasks import aside
from core.domain.text import decoded, shorten
from core.knowledge.interference import (
    Answer,
    Broken,
    Doubt,
    Item,
    Reliance,
    Statement,
    doubt,
    find_reliance,
    read_known,
    read_skill,
    read_table,
)
from core.safety.config import INTERFERENCE_JUDGED, FindingClass, ScreenConfig
from core.safety.findings import look_failed, severity_of

# How many others are looked at, by kind: the nearest. Of skills the whole folders are read. More
# where a model judges: among 249 items 74 of the 80 that rely on a change are found so, else 67,
# for 60 ms more of the worker; the rest say it in scripts, which the search does not read.
LIMITS = {Kind.SKILL: 8, Kind.DMN_RULE: 12, Kind.MEMORY: 20}
JUDGED_LIMITS = {Kind.SKILL: 20, Kind.DMN_RULE: 20, Kind.MEMORY: 20}
_QUERY_CHARS = 600
_QUOTE_CHARS = 200
_MOST_TOLD = 5


Added = Mapping[str, tuple[str, str]]


class JudgeReliance(Protocol):
    """A model that says whether a change breaks what other items say."""

    async def __call__(self, change: Change, doubt: Doubt) -> Sequence[Answer]:
        """Return its answers, without those it left out. Raises SkillWorkerError."""


class Interference:
    """Looks for what other items rely on in skills and decision tables that a change revises.

    What a model confirms is held, and what it denies is not told: on an unseen hand a quarter of
    the safe changes got a note by the rules. What holds by setting stays held, since a model reads
    what strangers wrote. Without `judge` the rules decide alone.

    Imports are not looked at, but for upgrades of installed skills: with a search for each of 1,000
    lines they would take several times as long.
    Memories are not either: no figures say how many safe edits of them it would stop.
    """

    def __init__(
        self,
        search: Search,
        skills: SkillStore,
        config: ScreenConfig,
        judge: JudgeReliance | None = None,
    ) -> None:
        self._search = search
        self._skills = skills
        self._config = config
        is_off = severity_of(INTERFERENCE_JUDGED, config) is None
        self._judge = None if is_off else judge

    async def __call__(self, change: Change, added: Added) -> Sequence[Finding]:
        """Return what others rely on, with both places quoted: at most five findings by rules.

        A model that fails to judge is a finding that holds. Raises LeaseLost.
        """
        severity = severity_of(FindingClass.INTERFERENCE, self._config)
        if severity is None or not _is_revised(change):
            return ()
        states = await self._states(change, added)
        if states is None:
            return ()
        before, after = states
        others = await self.nearest(change, before, after)
        size = sum(len(one.text) for one in others)
        found = await aside(size, find_reliance, before, after, others)
        told = {_key(one.item): _finding(one, severity, added) for one in found}
        if self._judge is None:
            return [*told.values()][:_MOST_TOLD]
        in_doubt = await aside(size, doubt, before, after, others, found, is_ranked=True)
        return await self._judged(self._judge, change, added, told, in_doubt)

    async def _judged(
        self,
        judge: JudgeReliance,
        change: Change,
        added: Added,
        told: Mapping[tuple[Kind, str], Finding],
        in_doubt: Doubt,
    ) -> Sequence[Finding]:
        """Return what the rules found as a model judges it, and what it found besides."""
        severity = severity_of(INTERFERENCE_JUDGED, self._config, ScreenSeverity.HOLD)
        if not in_doubt.pairs or severity is None:
            return [*told.values()][:_MOST_TOLD]
        try:
            answers = await judge(change, in_doubt)
        except LeaseLost:
            raise
        except SkillWorkerError as error:
            asked = [one.text for one in in_doubt.lines], [one.item.id for one in in_doubt.pairs]
            failed = look_failed(error.message, f"interference\0{asked}")
            return [failed, *list(told.values())[:_MOST_TOLD]]
        judged = {_key(one.item): one for one in answers}
        broken = [_confirmed(one, severity, added) for one in answers if one.is_broken]
        kept = (f for key, f in told.items() if _is_kept(f, judged.get(key)))
        return [*broken, *list(kept)[:_MOST_TOLD]]

    async def _states(self, change: Change, added: Added) -> tuple[Item, Item] | None:
        """Return the item as it stands and as it would stand; None if it cannot be read."""
        if change.kind is Kind.DMN_RULE:
            return _tables(change)
        bundle = await self._skills.read(change.target_id, change.tenant_id)
        if bundle is None or change.after is None:
            return None
        kept = change.after.files or {}
        return await aside(bundle.size, _skills, change.target_name, bundle, kept, added)

    async def nearest(self, change: Change, before: Item, after: Item) -> list[Item]:
        """Return the nearest others of the agent and of its tenant, of each kind best first."""
        query = _query(before, after)
        limits = JUDGED_LIMITS if self._judge else LIMITS
        asks = (self._near(change, query, kind, limit) for kind, limit in limits.items())
        near = [one for found in await asyncio.gather(*asks) for one in found]
        read = await asyncio.gather(*(self._read(one, change) for one in near))
        return [item for item in read if item is not None]

    async def _near(
        self, change: Change, query: str, kind: Kind, limit: int
    ) -> Sequence[KnownText]:
        nearby = await self._search.near(
            query,
            tenant_id=change.tenant_id,
            agent_id=change.agent_id,
            kind=kind,
            limit=limit + 1,
        )
        return [
            one for one in nearby.items if (one.kind, one.id) != (change.kind, change.target_id)
        ]

    async def _read(self, known: KnownText, change: Change) -> Item | None:
        if known.kind is not Kind.SKILL:
            return read_known(known.kind, known.id, known.name, known.content)
        try:
            bundle = await self._skills.read(known.id, change.tenant_id)
        except SkillWorkerError:  # the store is down, or that skill broken: the index has SKILL.md
            return read_known(known.kind, known.id, known.name, known.content)
        if bundle is None:  # deleted since the search
            return None
        texts = {path: decoded(file.data) for path, file in bundle.files.items()}
        return read_skill(known.id, known.name, texts)


def _is_revised(change: Change) -> bool:
    asked = change.request
    is_upgrade = isinstance(asked, SkillRequest) and asked.upgrades is not None
    if change.operation is not Operation.UPDATE:
        return False
    if change.origin is Origin.IMPORT and not is_upgrade:
        return False
    has_states = change.before is not None and change.after is not None
    return has_states and change.kind in {Kind.SKILL, Kind.DMN_RULE}


def _skills(name: str, bundle: Bundle, kept: Container[str], added: Added) -> tuple[Item, Item]:
    """Return a skill as it stands, and with the files that are kept and what is added."""
    before = {path: decoded(file.data) for path, file in bundle.files.items()}
    after = {path: text for path, text in before.items() if path in kept}
    after |= {path: new for path, (_, new) in added.items() if path in kept}
    return read_skill(name, name, before), read_skill(name, name, after)


def _tables(change: Change) -> tuple[Item, Item] | None:
    """Return the first table of a document that changes, as it stands and as it would stand."""
    assert change.before is not None
    assert change.after is not None
    try:
        before, after = (parse_tables(state.content) for state in (change.before, change.after))
    except RuleInvalid:
        return None
    for old, new in zip(before, after, strict=False):
        if old.table is not None and new.table is not None and old.table != new.table:
            return read_table(change.target_id, old.table), read_table(change.target_id, new.table)
    return None


def _query(before: Item, after: Item) -> str:
    """Return what to search for: the name, the lines that change, and what the item is about.

    By the name and the changed lines alone 64 of 80 were found, with the rest of the item 74.
    """
    old, new = ({one.text for one in item.statements} for item in (before, after))
    lines = [one.text for one in (*before.statements, *after.statements)]
    changed = [line for line in lines if (line in old) != (line in new)]
    told = dict.fromkeys([before.name, *changed, before.about, *lines])
    return shorten("\n".join(told), _QUERY_CHARS)


def _key(item: Item) -> tuple[Kind, str]:
    return item.kind, item.id


def _is_kept(finding: Finding, answer: Answer | None) -> bool:
    """Whether a finding by rules is told beside the answer of a model."""
    if answer is None:
        return True
    return finding.severity is ScreenSeverity.HOLD and not answer.is_broken


def _finding(found: Reliance, severity: ScreenSeverity, added: Added) -> Finding:
    quotes = _quotes(found.changed, found.relies)
    text = _said(found.kind, found.item, *quotes)
    code = f"interference.{found.kind}"
    return _at_place(code, text, severity, added, (found.item, found.changed, quotes))


def _confirmed(answer: Answer, severity: ScreenSeverity, added: Added) -> Finding:
    changed, relies = quotes = _quotes(answer.changed, answer.relies)
    text = Message(
        "second_look.interference",
        kind=answer.item.kind,
        name=_name(answer.item),
        changed=changed,
        relies=relies,
        why=shorten(answer.why, _QUOTE_CHARS),
    )
    about = answer.item, answer.changed, quotes
    return _at_place(INTERFERENCE_JUDGED, text, severity, added, about)


def _quotes(changed: Statement, relies: Statement) -> tuple[str, str]:
    return shorten(changed.text, _QUOTE_CHARS), shorten(relies.text, _QUOTE_CHARS)


def _at_place(
    code: str,
    text: Message,
    severity: ScreenSeverity,
    added: Added,
    about: tuple[Item, Statement, tuple[str, str]],
) -> Finding:
    """Return a finding; where a line went there is no place in the new text to point at."""
    other, changed, (quote, relies) = about
    at = changed.place if changed.place in added else ""
    new = added.get(at, ("", ""))[1]
    start = max(0, new.find(changed.text))
    return Finding(
        code=code,
        text=text,
        severity=severity,
        place=at,
        start=start,
        end=start + len(changed.text) if changed.text in new else start,
        quote=quote,
        digest=text_hash(f"{code}\0{other.id}\0{quote}\0{relies}"),
    )


def _name(item: Item) -> str:
    return item.id if item.kind is Kind.MEMORY else item.name


def _said(broken: Broken, other: Item, changed: str, relies: str) -> Message:
    told = {"kind": other.kind, "name": _name(other), "changed": changed, "relies": relies}
    match broken:
        case Broken.PRECONDITION:
            return Message("interference.precondition", **told)
        case Broken.STEP_ADDED:
            return Message("interference.step_added", **told)
        case Broken.STEP_REMOVED:
            return Message("interference.step_removed", **told)
        case Broken.REORDERED:
            return Message("interference.reordered", **told)
        case Broken.VALUE_CHANGED:
            return Message("interference.value_changed", **told)
