"""What agents use: recall, decide, open skills, and say what came of it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from core.decision_table import Decided, InputsMissing, decide, parse_xml
from core.domain.errors import BundleInvalid, InvalidInput, NotFound, RuleInvalid
from core.domain.hashing import text_hash
from core.domain.messages import Message, joined
from core.domain.models import (
    SKILL_MD,
    Agent,
    Bundle,
    DecisionTable,
    Kind,
    KnowledgeItem,
    Page,
    Scope,
)
from core.domain.models.access import Role
from core.domain.models.uses import OutcomeReport, Use, UsedItem, Way
from core.domain.tasks import aside
from core.domain.text import to_json
from core.entrypoints.auth import utc_now
from core.entrypoints.service.agent_items import (
    Decision,
    LoadedFile,
    MatchedRow,
    MissingInput,
    OutcomeTaken,
    Recalled,
    Recollection,
    RefusedItem,
    SkillDetail,
    TableInUse,
)
from core.entrypoints.service.feedback import FeedbackService, Taken
from core.entrypoints.service.knowledge import known_files
from core.entrypoints.service.owners import agent_in_use
from core.entrypoints.service.session import Session
from core.knowledge.search.tokens import read_question
from core.safety.masking import mask
from core.skills.bundle import bundle_hash, is_text
from core.skills.document.frontmatter import as_json, read_frontmatter
from core.skills.library import look_into

MOST_QUERY = 4_000  # characters of a query, as of a search over HTTP
MOST_HITS = 50
MOST_INPUT = 2**16  # bytes of a case as JSON
MOST_USED = 100
MOST_NOTE = 2_000
_NAMED = 20  # tables told of that an agent does have


@dataclass(frozen=True)
class AgentKnowledge:
    """What one agent may use, of the tenant named or else of the principal's.

    A principal that is an agent itself need not name it, and asks for no other. Every method raises
    Forbidden without its role; what is another agent's is NotFound. What is used is put on record:
    ids, versions and digests, no words.
    """

    session: Session
    tenant_id: str | None = None
    now: Callable[[], datetime] = utc_now

    async def agent(self, agent_id: str | None) -> Agent:
        """Return the agent that uses what it knows. Raises NotFound, InvalidInput."""
        self.session.require(Role.READ, of_agents=True)
        return await agent_in_use(self.session, agent_id, self.tenant_id)

    async def search_memories(
        self, agent_id: str | None, query: str, limit: int = 5, user: str | None = None
    ) -> Recollection:
        """Return the agent's memories that hold now, most similar first; `limit` is 1 to 50.

        What is for one end user is found only with that `user`. Raises InvalidInput.
        """
        agent = await self.agent(agent_id)
        if len(query) > MOST_QUERY:
            raise InvalidInput(Message("use.query_long", most=MOST_QUERY))
        if not 1 <= limit <= MOST_HITS:
            raise InvalidInput(Message("use.limit", most=MOST_HITS))
        if not read_question(query).counts:
            raise InvalidInput(Message("search.no_words"), hint=Message("search.give_words"))
        stores, tenant = self.session.stores, agent.tenant_id
        hits = await stores.search.search(
            query, tenant_id=tenant, agent_id=agent.id, kind=Kind.MEMORY, limit=limit, user=user
        )
        known = {item.id: item for item in await self._of_ids(agent, [hit.id for hit in hits])}
        out = await self.session.app.uses.left_out(tenant, agent.id, [*known], self.now())
        found = [(hit, known[hit.id]) for hit in hits if hit.id in known.keys() - out]
        self._note(agent, Way.RECALLED, [item for _, item in found])
        return Recollection(
            items=tuple(_recalled(item, hit.score, hit.taught_at) for hit, item in found)
        )

    async def evaluate_decision(
        self, agent_id: str | None, name: str, inputs: Mapping[str, JsonValue]
    ) -> Decision:
        """Return what the agent's table of that name or id says about a case.

        Inputs that are missing are named in the answer. Raises NotFound with the tables that there
        are; InvalidInput for inputs that are unknown, of another type or not allowed, and for a
        table that does not hold to its own hit policy.
        """
        agent = await self.agent(agent_id)
        if len(to_json(dict(inputs)).encode()) > MOST_INPUT:
            raise InvalidInput(Message("use.inputs_large", most=MOST_INPUT // 2**10))
        item = await self._table(agent, name)
        table = await aside(len(item.content), parse_xml, item.content)
        policy = table.hit_policy
        try:
            decided = decide(table, inputs, now=self.now().astimezone())
        except InputsMissing as error:
            return Decision(
                id=item.id,
                name=item.name,
                version=item.version,
                hit_policy=policy,
                missing=tuple(MissingInput(name=n, type=kind) for n, kind in error.missing.items()),
            )
        self._note(agent, Way.DECIDED, [item])
        return Decision(
            id=item.id,
            name=item.name,
            version=item.version,
            hit_policy=policy,
            output=decided.result,
            matched=_matched(table, decided),
            defaulted=decided.defaulted,
            notes=decided.notes,
        )

    async def tables(self, agent_id: str | None) -> Sequence[TableInUse]:
        """Return the agent's decision tables by name; one that cannot be read is left out."""
        agent = await self.agent(agent_id)
        listed = [_outline(item) for item in await self._listed(agent, Kind.DMN_RULE)]
        found = [table for table in listed if table is not None]
        return sorted(found, key=lambda table: (table.name, table.id))

    async def skills(
        self, agent_id: str | None, *, after: str = "", limit: int = 1000
    ) -> Page[SkillDetail]:
        """Return the skills on the agent's list by name, `next` the last one's if there are more.

        One that cannot be read is left out.
        """
        agent = await self.agent(agent_id)
        names = sorted(name for name in agent.skills if name > after)
        wanted, following = names[:limit], names[limit - 1] if len(names) > limit else None
        store, versions = self.session.stores.skills, await self._versions(agent)
        read = await look_into(
            store, agent.tenant_id, wanted, lambda bundle: _detail(bundle, versions)
        )
        details = [detail for detail in read.seen.values() if detail is not None]
        return Page(items=tuple(details), next=following)

    async def skill(self, agent_id: str | None, name: str) -> SkillDetail:
        """Return one skill on the agent's list. Raises NotFound, InvalidInput."""
        agent = await self.agent(agent_id)
        return await self._detail_of(agent, await self._skill(agent, name))

    async def load_skill(
        self, agent_id: str | None, name: str, path: str | None = None
    ) -> LoadedFile:
        """Return a file of a skill on the agent's list: without a `path` SKILL.md.

        Raises NotFound, InvalidInput.
        """
        agent = await self.agent(agent_id)
        bundle = await self._skill(agent, name)
        wanted = path or SKILL_MD
        if wanted not in bundle.files:
            raise NotFound(
                Message("no.file_of_skill", id=name, path=wanted),
                hint=Message("use.files", paths=", ".join(sorted(bundle.files)[:_NAMED])),
            )
        detail = await self._detail_of(agent, bundle)
        data = bundle.files[wanted].data
        is_plain = is_text(data) and b"\0" not in data
        self._put(agent, Way.LOADED, Kind.SKILL, [(detail.id, detail.version, detail.digest)])
        return LoadedFile(
            **detail.model_dump(exclude={"frontmatter"}),
            path=wanted,
            text=data.decode("utf-8") if is_plain else None,
            base64=None if is_plain else base64.b64encode(data).decode("ascii"),
        )

    async def report_outcome(
        self, agent_id: str | None, used: Sequence[UsedItem], success: bool, note: str | None = None
    ) -> OutcomeTaken:
        """Put down how a task ended to the items used in it, and return to which.

        An item that is gone meanwhile, or another agent's, is refused with the reason, and the rest
        counts. A task in which nothing was used counts for what was left out of it. Secrets in the
        note are masked. Raises InvalidInput.
        """
        agent = await self.agent(agent_id)
        if len(used) > MOST_USED:
            raise InvalidInput(Message("use.how_many", most=MOST_USED))
        if note is not None and len(note) > MOST_NOTE:
            raise InvalidInput(Message("use.note_long", most=MOST_NOTE))
        standing = await self._standing(agent, [item.id for item in used])
        kept: dict[str, UsedItem] = {}
        refused: list[RefusedItem] = []
        for item in used:
            reason = await self._refusal(agent, item, standing)
            if reason is not None:
                refused.append(RefusedItem(id=item.id, version=item.version, reason=reason))
                continue
            version = item.version or standing[item.id]
            kept[f"{item.id} {version}"] = UsedItem(id=item.id, version=version)
        left_out: Sequence[str] = ()
        if kept or not used:
            left_out = await self.session.app.uses.report(
                OutcomeReport(
                    at=self.now(),
                    tenant_id=agent.tenant_id,
                    agent_id=agent.id,
                    used=tuple(kept.values()),
                    success=success,
                    note=mask(note).text if note else "",
                )
            )
        return OutcomeTaken(
            kept=tuple(kept.values()), refused=tuple(refused), left_out=tuple(left_out)
        )

    async def give_feedback(
        self, agent_id: str | None, text: str, about: str | None = None
    ) -> Taken:
        """Take in what the agent was told about itself; `about` says on what occasion.

        It passes the same intake as any feedback. Raises InvalidInput.
        """
        self.session.require(Role.SUBMIT, of_agents=True)
        agent = await agent_in_use(self.session, agent_id, self.tenant_id)
        entry = {"agent_ids": [agent.id], "content": text, "task": about or ""}
        (taken,) = await FeedbackService(self.session).add([entry], agent.tenant_id)
        return taken

    async def _of_ids(self, agent: Agent, ids: Sequence[str]) -> Sequence[KnowledgeItem]:
        if not ids:
            return []
        return await self.session.stores.knowledge.taken(
            Kind.MEMORY, agent.tenant_id, agent.id, ids=ids, contents=()
        )

    async def _listed(self, agent: Agent, kind: Kind) -> Sequence[KnowledgeItem]:
        return await self.session.stores.knowledge.list(
            tenant_id=agent.tenant_id, agent_id=agent.id, kind=kind
        )

    async def _versions(self, agent: Agent) -> Mapping[str, int]:
        return {item.id: item.version for item in await self._listed(agent, Kind.SKILL)}

    async def _table(self, agent: Agent, name: str) -> KnowledgeItem:
        known_as = Kind.DMN_RULE, agent.tenant_id, agent.id, name
        found = await self.session.stores.knowledge.find_named(*known_as)
        if found is not None:
            return found
        listed = await self._listed(agent, Kind.DMN_RULE)
        for item in listed:
            if item.id == name:
                return item
        known = joined(sorted(item.name for item in listed)[:_NAMED], ", ")
        raise NotFound(
            Message("use.no_table", agent=agent.id, name=name),
            hint=Message("use.tables", names=known) if known else Message("use.no_tables"),
        )

    async def _skill(self, agent: Agent, name: str) -> Bundle:
        """Return a skill on the agent's list. Raises NotFound, in the same words for any other."""
        bundle = None
        if name in agent.skills:
            bundle = await self.session.stores.skills.read(name, agent.tenant_id)
        if bundle is None:
            known = ", ".join(sorted(agent.skills)[:_NAMED])
            raise NotFound(
                Message("skills.not_listed", agent=agent.id, names=name),
                hint=Message("use.skills", names=known) if known else "",
            )
        return bundle

    async def _detail_of(self, agent: Agent, bundle: Bundle) -> SkillDetail:
        versions = await self._versions(agent)
        detail = await aside(bundle.size, _detail, bundle, versions)
        if detail is None:
            raise InvalidInput(Message("use.skill_unreadable", name=bundle.name))
        return detail

    async def _standing(self, agent: Agent, ids: Sequence[str]) -> Mapping[str, int]:
        """Return those of the ids that the agent may use now, with their versions."""
        found = {
            name: version
            for name, version in (await self._versions(agent)).items()
            if name in agent.skills
        }
        for kind in (Kind.MEMORY, Kind.DMN_RULE):
            items = await self.session.stores.knowledge.taken(
                kind, agent.tenant_id, agent.id, ids=ids, contents=()
            )
            is_own = {item.id for item in items if _is_of(item, agent)}
            found |= {item.id: item.version for item in items if item.id in is_own}
        return found

    async def _refusal(
        self, agent: Agent, item: UsedItem, standing: Mapping[str, int]
    ) -> Message | None:
        current = standing.get(item.id)
        if current is not None:
            is_ahead = item.version is not None and item.version > current
            return Message("use.no_version", id=item.id, version=current) if is_ahead else None
        known = await self.session.stores.past.last(item.id, tenant_id=agent.tenant_id, kind=None)
        if any(one.valid_to is not None and one.agent_id == agent.id for one in known):
            return Message("use.gone", id=item.id)
        return Message("use.not_known", id=item.id)

    def _note(self, agent: Agent, way: Way, items: Sequence[KnowledgeItem]) -> None:
        for item in items:
            self._put(agent, way, item.kind, [(item.id, item.version, text_hash(item.content))])

    def _put(
        self, agent: Agent, way: Way, kind: Kind, items: Sequence[tuple[str, int, str]]
    ) -> None:
        at = self.now()
        self.session.app.uses.note(
            [
                Use(
                    at=at,
                    tenant_id=agent.tenant_id,
                    agent_id=agent.id,
                    kind=kind,
                    item_id=item_id,
                    version=version,
                    digest=digest,
                    way=way,
                )
                for item_id, version, digest in items
            ]
        )


def _is_of(item: KnowledgeItem, agent: Agent) -> bool:
    return item.agent_id == agent.id or item.scope is Scope.TENANT


def _recalled(item: KnowledgeItem, score: float, taught_at: datetime | None) -> Recalled:
    return Recalled(
        id=item.id,
        version=item.version,
        content=item.content,
        score=score,
        taught_at=taught_at,
        valid_until=item.valid_until,
        scope=item.scope,
        user=item.user,
    )


def _matched(table: DecisionTable, decided: Decided) -> tuple[MatchedRow, ...]:
    return tuple(
        MatchedRow(id=row.id, annotation=source.annotation, counts=row.id in decided.fired)
        for row, source in zip(decided.rows, table.rows, strict=True)
        if row.matches
    )


def _outline(item: KnowledgeItem) -> TableInUse | None:
    try:
        table = parse_xml(item.content)
    except RuleInvalid:
        return None
    return TableInUse(
        id=item.id,
        name=item.name,
        version=item.version,
        inputs={column.name: column.type for column in table.inputs},
        outputs={column.name: column.type for column in table.outputs},
    )


def _detail(bundle: Bundle, versions: Mapping[str, int]) -> SkillDetail | None:
    """Return a skill by its head and files; None if the head cannot be read."""
    try:
        document = bundle.document
        head = read_frontmatter(document)
    except (BundleInvalid, UnicodeDecodeError):
        return None
    return SkillDetail(
        id=bundle.name,
        name=bundle.name,
        description=head.description,
        version=versions.get(bundle.name, 1),
        digest=bundle_hash(bundle),
        files=known_files(bundle.files),
        frontmatter=as_json(document),
    )
