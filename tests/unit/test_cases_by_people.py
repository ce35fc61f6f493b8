"""With whose knowledge a case is tried that a person adds: the item's agent, or one that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from core.changes.cases.by_people import MOST_TABLES, CasesByPeople
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.models import Agent, Kind, KnowledgeItem, Scope
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.ports import Agents, CaseRunner, Cases, Knowledge
from tests.unit.test_merging import table


class Book:
    """Cases, agents that list a skill, and a runner that passes all it is given; each a port."""

    def __init__(self, *holders: str) -> None:
        self.holders = holders
        self.cases: dict[str, Case] = {}
        self.ran: list[str] = []
        self.noted: list[str] = []
        self.asked: list[int] = []

    async def having(self, tenant_id: str, name: str) -> Sequence[Agent]:
        assert (tenant_id, name) == ("t", "m")
        return [Agent(id=one, tenant_id="t", name=one) for one in self.holders]

    async def add(self, case: Case) -> None:
        self.cases[case.id] = case

    async def edit(self, case: Case) -> None:
        self.cases[case.id] = case

    async def get(self, case_id: str) -> Case:
        return self.cases[case_id]

    async def note(self, results: Sequence[CaseResult]) -> None:
        self.noted += [one.case.id for one in results]

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        self.ran += [one.id for one in cases]
        return [CaseResult(case=one, passed=True) for one in cases]

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        del wanted
        self.asked.append(limit)
        at = int(cursor or 0)
        found = [*self.cases.values()][at : at + limit]
        return found, str(at + limit) if at + limit < len(self.cases) else None

    def service(self) -> CasesByPeople:
        async def masked(body: CaseBody) -> CaseBody:
            return body.model_copy(update={"text": body.text.replace("secret", "***")})

        return CasesByPeople(
            cases=cast("Cases", self),
            runner=cast("CaseRunner", self),
            knowledge=cast("Knowledge", self),
            agents=cast("Agents", self),
            masked=masked,
            new_id=lambda: str(len(self.cases) + 1),
        )


def item(kind: Kind = Kind.MEMORY, agent_id: str = "a", **more: object) -> KnowledgeItem:
    known = {"id": "m", "kind": kind, "tenant_id": "t", "agent_id": agent_id, "name": "the name"}
    return KnowledgeItem.model_validate({**known, "content": "x", **more})


def body(check: str = "recall", text: str = "who?", **more: object) -> CaseBody:
    return CaseBody.model_validate({"check": check, "text": text, **more})


CHOSEN = body("chosen", "refund it")
SHARED = {"scope": Scope.TENANT}


@pytest.mark.parametrize(
    ("of", "holders", "given", "agent"),
    [
        (item(), (), None, "a"),
        (item(), (), "a", "a"),
        (item(**SHARED), (), None, "a"),
        (item(**SHARED), (), "b", "b"),
        (item(Kind.SKILL, ""), ("a",), None, "a"),
        (item(Kind.SKILL, ""), ("a", "b"), "b", "b"),
        (item(Kind.SKILL, "b"), ("a", "b"), None, "b"),
        (item(Kind.SKILL, "b"), ("a", "b"), "a", "a"),
        (item(Kind.SKILL, "z"), ("a",), None, "a"),
    ],
)
async def test_a_case_is_tried_with_an_agent_that_has_the_item(
    of: KnowledgeItem, holders: Sequence[str], given: str | None, agent: str
) -> None:
    book = Book(*holders)
    asked = CHOSEN if of.kind is Kind.SKILL else body()
    result = await book.service().add(of, asked, agent_id=given, by="kim")
    made = result.case
    assert (made.agent_id, made.id, made.item_id, made.item_name) == (
        agent,
        "case-1",
        "m",
        "the name",
    )
    assert (made.tenant_id, made.kind, made.by) == ("t", of.kind, "kim")
    assert (made.role, made.origin, result.passed) == ("regression", "person", True)
    assert book.ran == book.noted == ["case-1"]


@pytest.mark.parametrize(
    ("of", "holders", "given", "code"),
    [
        (item(), (), "b", "cases.of_another"),
        (item(Kind.SKILL, ""), (), None, "cases.on_no_list"),
        (item(Kind.SKILL, ""), ("a", "b"), None, "cases.which_agent"),
        (item(Kind.SKILL, "z"), ("a", "b"), None, "cases.which_agent"),
        (item(Kind.SKILL, ""), ("a",), "z", "cases.which_agent"),
    ],
)
async def test_who_has_to_name_an_agent_is_told_which_there_are(
    of: KnowledgeItem, holders: Sequence[str], given: str | None, code: str
) -> None:
    asked = CHOSEN if of.kind is Kind.SKILL else body()
    with pytest.raises(InvalidInput) as refused:
        await Book(*holders).service().add(of, asked, agent_id=given, by="kim")
    assert refused.value.message.code == code  # type: ignore[union-attr]


async def test_what_a_person_writes_is_stored_masked_and_fits_its_kind() -> None:
    book = Book()
    service = book.service()
    made = (await service.add(item(), body(text="the secret"), agent_id=None, by="kim")).case
    assert made.body.text == "the ***"
    edited = await service.edit(made, body(text="a secret too"), by="lee")
    assert (edited.case.body.text, edited.case.by) == ("a *** too", "lee")
    for wrong in (service.add(item(), CHOSEN, agent_id=None, by="kim"),
                  service.edit(made, CHOSEN, by="lee")):  # fmt: skip
        with pytest.raises(InvalidInput):
            await wrong
    off = made.model_copy(update={"status": CaseStatus.DISABLED})
    with pytest.raises(Refused):
        await service.edit(off, body(), by="lee")


async def test_what_cannot_be_run_here_says_why_and_keeps_its_place() -> None:
    book = Book()
    task = body("behaviour", "do it", must=["x"])
    for number, (asked, status) in enumerate(
        ((body(), "green"), (body(), "disabled"), (task, "green"), (body(), "red"))
    ):
        known = {"id": f"k{number}", "tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
                 "item_id": "m", "role": "proof", "origin": "person", "status": status}  # fmt: skip
        book.cases[f"k{number}"] = Case.model_validate({**known, "body": asked})
    done = await book.service().run_these([*book.cases.values()])
    assert [one.case.id for one in done.results] == ["k0", "k1", "k2", "k3"]
    assert [one.passed for one in done.results] == [True, None, None, True]
    assert [one.why and one.why.code for one in done.results] == [  # type: ignore[union-attr]
        "", "cases.is_disabled", "case.needs_model", "",
    ]  # fmt: skip
    assert book.ran == book.noted == ["k0", "k3"]


@pytest.mark.parametrize(
    ("there", "limit", "ran", "more", "asked"),
    [
        (3, 9, 3, False, [9]), (3, 3, 3, False, [3]), (3, 2, 2, True, [2]),
        (250, 1000, 250, False, [100, 100, 100]), (250, 150, 150, True, [100, 50]),
        (200, 200, 200, False, [100, 100]), (0, 5, 0, False, [5]),
    ],
)  # fmt: skip
async def test_cases_are_run_page_by_page_up_to_a_limit(
    there: int, limit: int, ran: int, more: bool, asked: list[int]
) -> None:
    book = Book()
    for number in range(there):
        known = {"id": f"k{number}", "tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
                 "item_id": "m", "role": "proof", "origin": "person"}  # fmt: skip
        book.cases[f"k{number}"] = Case.model_validate({**known, "body": body()})
    done = await book.service().run(CaseFilter(), limit)
    assert (len(done.results), done.more, book.asked) == (ran, more, asked)


ROWS = {"r1": ("> 100", '"lead"', ""), "r2": ("<= 100", '"clerk"', "")}


class Covered(Book):
    """A book beside the tables of a tenant, by id; what is no text is not there."""

    def __init__(self, tables: Mapping[str, str], *asked: Case) -> None:
        super().__init__()
        self.tables = tables
        self.cases = {one.id: one for one in asked}
        self.looked: list[str] = []

    async def get(self, *key: str) -> Case:  # both a case and an item are asked for by `get`
        if len(key) == 1:
            return await super().get(key[0])
        kind, tenant, item_id = key
        self.looked.append(item_id)
        if (kind, tenant) != (Kind.DMN_RULE, "t") or item_id not in self.tables:
            raise NotFound("no such table")
        content = self.tables[item_id]
        return cast("Case", item(Kind.DMN_RULE, id=item_id, content=content))

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        assert (limit, cursor) == (1000, None)
        assert (wanted.tenant_id, wanted.kind, wanted.check) == ("t", Kind.DMN_RULE, "decision")
        return [one for one in self.cases.values() if one.item_id == wanted.item_id], None


def decided(case_id: str, amount: int, item_id: str = "t1", **given: object) -> Case:
    known: dict[str, object] = {
        "id": case_id,
        "tenant_id": "t",
        "agent_id": "a",
        "kind": Kind.DMN_RULE,
        "item_id": item_id,
        "body": CaseBody(check=Check.DECISION, inputs={"amount": amount}),
        "role": CaseRole.REGRESSION,
        "origin": CaseOrigin.PERSON,
        "status": CaseStatus.RED,
    }
    return Case.model_validate(known | given)


@pytest.mark.parametrize(
    ("cases", "uncovered"),
    [
        ((), (1, 2)),
        ((decided("c", 500),), (2,)),
        ((decided("c", 500), decided("d", 5)), ()),
        # One that is disabled decides nothing, nor does one that cannot be decided.
        ((decided("c", 500, status=CaseStatus.DISABLED),), (1, 2)),
        (
            (decided("c", 0, body=CaseBody(check=Check.DECISION, inputs={"x": 1})),),
            (1, 2),
        ),
        ((decided("c", 500, item_id="t2"),), (1, 2)),
    ],
)
async def test_rows_that_no_case_decides_by_are_told(
    cases: Sequence[Case], uncovered: tuple[int, ...]
) -> None:
    book = Covered({"t1": table(ROWS)}, *cases)
    found = await book.service().coverage_of("t", "t1")
    assert found is not None
    assert (found.tenant_id, found.item_id, found.item_name) == ("t", "t1", "the name")
    assert (found.rows, found.uncovered) == (2, uncovered)


async def test_of_what_is_no_readable_table_nothing_is_told() -> None:
    book = Covered({"bad": "<broken"})
    assert await book.service().coverage_of("t", "bad") is None
    assert await book.service().coverage_of("t", "gone") is None


@pytest.mark.parametrize(
    ("wanted", "looked"),
    [
        ({}, ["t1", "t2"]),
        ({"tenant_id": "t", "item_id": "t3"}, ["t1", "t2", "t3"]),
        ({"tenant_id": "t", "item_id": "t3", "kind": Kind.DMN_RULE}, ["t1", "t2", "t3"]),
        ({"tenant_id": "t", "item_id": "t3", "kind": Kind.SKILL}, ["t1", "t2"]),
        ({"item_id": "t3"}, ["t1", "t2"]),
        ({"tenant_id": "t"}, ["t1", "t2"]),
    ],
)
async def test_the_tables_of_a_list_are_looked_at_each_once(
    wanted: Mapping[str, object], looked: Sequence[str]
) -> None:
    listed = [decided("c1", 1), decided("c2", 2, "t2"), decided("c3", 3)]
    listed.append(decided("c4", 4, "skill", kind=Kind.SKILL))
    book = Covered({name: table(ROWS) for name in ("t1", "t3")}, *listed)
    found = await book.service().coverage(CaseFilter.model_validate(wanted), listed)
    assert book.looked == looked
    assert [one.item_id for one in found] == [name for name in looked if name != "t2"]
    many = [decided(f"c{n}", n, f"t{n}") for n in range(30)]
    await book.service().coverage(CaseFilter(), many)
    assert len(book.looked) == len(looked) + MOST_TABLES


async def test_of_no_cases_none_are_run() -> None:
    book = Book("a")
    done = await book.service().run(CaseFilter(), 0)
    assert (done.results, done.more, book.asked) == ((), False, [])
