"""Whether chains of digests are whole: which row was changed, taken out, put in or moved (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models.audit import (
    ERASED,
    ChainEntry,
    ChainHead,
    ChainProblem,
    Fault,
    Verification,
)
from core.domain.models.base import Model


class AuditRules(Model):
    """The section `audit` of `skill-worker.yaml`: for how many days calls are on record."""

    keep_calls_days: float = Field(default=400, gt=0, le=36_500)


GENESIS = "0" * 64
_OWN = frozenset({"seq", "digests"})  # what an entry says besides the facts of its row


class ChainCheck:
    """Looks at the entries of chains, tenant by tenant, each in the order of `seq`.

    `known` are heads from outside, as from the log: a chain must contain them. Without `rows` the
    entries come from a file, and are not compared with the rows of a database.
    """

    def __init__(self, known: Iterable[ChainHead] = (), *, rows: bool) -> None:
        self._known = {(head.tenant_id, head.seq): head.digest for head in known}
        self._rows = rows
        self._entries = self._erased = 0
        self._heads: dict[str, ChainHead] = {}
        self._problems: list[ChainProblem] = []
        self._bare: dict[tuple[str, str, str], ChainEntry] = {}  # by kind, id and content

    def see(self, entry: ChainEntry) -> None:
        """Look at the next entry."""
        self._entries += 1
        before = self._heads.get(entry.tenant_id)
        self._link(entry, before)
        if before is None or entry.seq > before.seq:
            self._heads[entry.tenant_id] = ChainHead.model_validate(
                entry.model_dump(include={"tenant_id", "seq", "digest"})
            )
        body = _read(entry.body)
        if body is None:
            return  # its digest is wrong too, or it was chained like that: both are told
        self._compare(entry, body)
        self._contents(entry, body)
        if entry.kind == "erasure":
            self._cover(body)

    def insert(self, tenant_id: str, kind: str, subject: str) -> None:
        """Note a row that no entry is about."""
        said = Message("audit.inserted", kind=kind, id=subject)
        self._problems.append(
            ChainProblem(
                fault=Fault.INSERTED, tenant_id=tenant_id, kind=kind, subject=subject, message=said
            )
        )

    def end(self) -> Verification:
        """Return what was found, after the last entry."""
        for (_, _, content), entry in self._bare.items():
            self._tell(Fault.CHANGED, entry, Message("audit.erased_unsaid", content=content))
        for (tenant_id, seq), _ in sorted(self._known.items()):
            head = self._heads.get(tenant_id)
            if head is None or head.seq < seq:
                said = Message("audit.cut", seq=seq, last=head.seq if head else 0)
                self._problems.append(
                    ChainProblem(fault=Fault.MISSING, tenant_id=tenant_id, seq=seq, message=said)
                )
        return Verification(
            entries=self._entries,
            erased=self._erased,
            heads=tuple(self._heads.values()),
            problems=tuple(self._problems),
        )

    def _link(self, entry: ChainEntry, before: ChainHead | None) -> None:
        last = before.seq if before else 0
        if entry.seq <= last:
            self._tell(Fault.REORDERED, entry, Message("audit.behind", seq=entry.seq, last=last))
        elif entry.seq > last + 1:
            said = Message("audit.gap", first=last + 1, last=entry.seq - 1)
            self._tell(Fault.MISSING, entry, said)
        elif entry.digest != text_hash((before.digest if before else GENESIS) + entry.body):
            self._tell(Fault.CHANGED, entry, Message("audit.unlinked", seq=entry.seq))
        known = self._known.get((entry.tenant_id, entry.seq))
        if known is not None and known != entry.digest:
            said = Message("audit.other_head", seq=entry.seq)
            self._tell(Fault.CHANGED, entry, said)

    def _compare(self, entry: ChainEntry, body: Mapping[str, object]) -> None:
        facts = {key: value for key, value in body.items() if key not in _OWN}
        place = {"tenant_id": entry.tenant_id, "kind": entry.kind, "id": entry.subject}
        if body.get("seq") != entry.seq or not place.items() <= facts.items():
            self._tell(Fault.REORDERED, entry, Message("audit.moved", seq=entry.seq))
        elif self._rows and entry.facts is None:
            self._tell(Fault.MISSING, entry, Message("audit.gone"))
        elif self._rows and entry.facts is not None:
            for name in _different(facts, entry.facts):
                self._tell(Fault.CHANGED, entry, Message("audit.other_fact", field=name))

    def _contents(self, entry: ChainEntry, body: Mapping[str, object]) -> None:
        digests = body.get("digests")
        if entry.contents is None or not isinstance(digests, dict):
            return
        for name in sorted({*digests, *entry.contents}):
            text, salt = entry.contents.get(name), entry.salts.get(name)
            if name in digests and salt is None and text in {None, "", ERASED}:
                self._erased += 1
                self._bare[entry.kind, entry.subject, name] = entry
            elif text is None or salt is None or text_hash(salt + text) != digests.get(name):
                self._tell(Fault.CHANGED, entry, Message("audit.other_fact", field=name))

    def _cover(self, body: Mapping[str, object]) -> None:
        """Strike out the contents that an erasure names: `{"kind:id": [content]}`."""
        covers = body.get("covers")
        for subject, names in covers.items() if isinstance(covers, dict) else ():
            kind, _, row = subject.partition(":")
            for name in names:
                self._bare.pop((kind, row, name), None)

    def _tell(self, fault: Fault, entry: ChainEntry, said: str) -> None:
        self._problems.append(
            ChainProblem(
                fault=fault,
                tenant_id=entry.tenant_id,
                seq=entry.seq,
                kind=entry.kind,
                subject=entry.subject,
                message=said,
            )
        )


def _read(body: str) -> Mapping[str, object] | None:
    try:
        read = json.loads(body)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _different(one: Mapping[str, object], other: Mapping[str, object]) -> Sequence[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def exported(entry: ChainEntry, *, contents: bool) -> Iterator[tuple[str, object]]:
    """Yield the fields of an entry in a file, from which `imported` makes it again."""
    yield from entry.model_dump(include={"tenant_id", "seq", "kind", "subject"}).items()
    yield "body", entry.body
    yield "digest", entry.digest
    if contents and entry.contents is not None:
        yield "contents", dict(entry.contents)
        yield "salts", dict(entry.salts)
