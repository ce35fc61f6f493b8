"""A kind of knowledge that `new kind` writes is learnt, changed, searched and taken back."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import JsonValue

from core.app.program import App, open_app
from core.domain.errors import ConfigurationError, Refused
from core.domain.kinds import TextKind, check_kind
from core.domain.models import (
    Agent,
    ChangeFilter,
    ChangeStatus,
    FeedbackStatus,
    HistoryFilter,
    Kind,
    KnowledgeItem,
    NewFeedback,
    ReceiptStatus,
)
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.entrypoints.cli.app import run
from core.testing.contracts.kind import Examples, KindContract, KindWorld
from core.testing.scripted_model import ScriptedChatModel, calls, says
from tests.support.api import Api, built_api, one_of, settings_of
from tests.support.home import Home

GLOSSARY = Kind("GLOSSARY")
TERM: dict[str, JsonValue] = {
    "term": "거래액",
    "meaning": "반품 전 주문 금액의 합",
    "also": ["GMV"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on Python's path with the package as pip leaves an editable one."""
    folder = tmp_path_factory.mktemp("new")
    assert run(["new", "kind", "glossary", "--to", str(folder)]) == 0
    package = folder / "skill-worker-glossary"
    info = package / "src/skill_worker_glossary-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: skill-worker-glossary\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[skill_worker.kinds]\nglossary = skill_worker_glossary:GlossaryKind\n"
    )
    sys.path.insert(0, str(package / "src"))
    yield package
    sys.path.remove(str(package / "src"))


@asynccontextmanager
async def opened(database: str, home: Path, *said: object, kinds: str) -> AsyncIterator[App]:
    config = home / "skill-worker.yaml"
    config.write_text(kinds, encoding="utf-8")
    settings = settings_of(database, home, skill_worker_config=config, max_attempts=1)
    async with open_app(settings, model=True, chat=ScriptedChatModel(script=[*said])) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield app


async def say(app: App, text: str) -> str:
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=text)
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    await app.run(True, 1, asyncio.Event(), lambda _: None)
    return feedback_id


def commits(**args: JsonValue) -> object:
    return calls(("commit_to_glossary", {"reason": "그렇게 쓴다", **args}))


async def terms(app: App) -> list[KnowledgeItem]:
    return [*await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=GLOSSARY)]


async def shown(app: App, item: KnowledgeItem) -> None:
    """Check that the API shows the item like any other."""
    with built_api(app) as built:
        api, who = Api(app, built), one_of("t", Role.READ)

        async def asked(path: str, code: int = 200) -> dict[str, Any]:
            answer = await api.call("GET", path, who=who)
            assert answer.status_code == code, answer.text
            found: dict[str, Any] = answer.json()
            return found

        (listed,) = (await asked("/v1/knowledge?kind=GLOSSARY"))["items"]
        assert (listed["kind"], listed["name"]) == ("GLOSSARY", item.name)
        known = await asked(f"/v1/knowledge/item?id={item.id}&kind=GLOSSARY")
        assert known["item"]["content"] == item.content
        traced = await asked(f"/v1/knowledge/provenance?id={item.id}")
        assert traced["path"] == "glossary.txt"
        view = await asked(f"/v1/changes/{item.change_id}/review")
        (file,) = view["diff"]["files"]
        assert file["path"] == "glossary.txt"
        assert (await asked("/v1/graph?tenant_id=t"))["nodes"]
        assert "GLOSSARY" in (await asked("/v1/search?q=GMV&kind=POEM", 422))["hint"]


async def test_a_term_is_learnt_changed_deleted_and_brought_back(
    database: str, tmp_path: Path, site: Path
) -> None:
    assert site.is_dir()
    ids: list[str] = []
    script = [
        commits(operation="create", content=TERM),
        says("배웠습니다"),
        lambda _: commits(
            operation="UPDATE",
            glossary_id=ids[0],
            content={"term": "거래액", "meaning": "취소 전 주문 금액의 합", "also": ["총액"]},
        ),
        says("고쳤습니다"),
        commits(operation="CREATE", content={"term": "  거래액 ", "meaning": "다른 뜻"}),
        lambda _: calls(
            ("get_knowledge_detail", {"knowledge_type": "GLOSSARY", "knowledge_id": ids[0]})
        ),
        calls(("no_action", {"reason": "이미 있습니다", "category": "noise"})),
        lambda _: commits(operation="DELETE", glossary_id=ids[0]),
        says("지웠습니다"),
    ]
    async with opened(database, tmp_path, *script, kinds="kinds: [glossary]") as app:
        await say(app, "거래액은 반품 전 주문 금액의 합입니다")
        (made,) = await terms(app)
        ids.append(made.id)
        assert (made.name, made.version) == ("거래액", 1)
        assert made.content == "term: 거래액\nmeaning: 반품 전 주문 금액의 합\nalso:\n- GMV"
        found = await app.stores.search.search(
            "주문 금액", tenant_id="t", agent_id="a", kind=GLOSSARY, limit=5
        )
        assert [(hit.id, hit.kind) for hit in found] == [(made.id, GLOSSARY)]

        await shown(app, made)

        await say(app, "정정합니다. 취소 전 주문 금액의 합입니다")
        (now,) = await terms(app)
        assert now.content.endswith("취소 전 주문 금액의 합\nalso:\n- GMV\n- 총액")
        refused = await say(app, "거래액은 다른 뜻입니다")
        events = await app.stores.reader.events(refused)
        assert next(e.data["status"] for e in events if e.name == "tool.called") == "error"
        assert len(await terms(app)) == 1
        await say(app, "거래액은 이제 쓰지 않습니다")
        assert await terms(app) == []

        changes, _ = await app.stores.reader.changes(ChangeFilter(), limit=9, cursor=None)
        assert {c.kind for c in changes} == {GLOSSARY}
        assert (await app.revert(changes[0].id, "쓴다")).status is ReceiptStatus.APPLIED
        (back,) = await terms(app)
        assert (back.content, back.version) == (now.content, 3)
        past, _ = await app.stores.reader.history(HistoryFilter(), limit=9, cursor=None)
        assert [record.knowledge_type for record in past] == [GLOSSARY] * 4


async def test_without_its_package_a_term_is_read_and_not_changed(
    database: str, tmp_path: Path, site: Path
) -> None:
    assert site.is_dir()
    learnt = commits(operation="CREATE", content=TERM)
    more = commits(operation="CREATE", content={"term": "정산", "meaning": "월말에 보내는 돈"})
    rules = "rules:\n- {when: {kind: GLOSSARY, target: 정산}, then: hold}\nkinds: [glossary]"
    script = (learnt, says("예"), more, says("예"))
    async with opened(database, tmp_path, *script, kinds=rules) as app:
        await say(app, "거래액은 반품 전 주문 금액의 합입니다")
        held = await say(app, "정산은 월말에 보내는 돈입니다")
        assert (await app.stores.inbox.get(held)).status is FeedbackStatus.HELD
    async with opened(database, tmp_path, kinds="") as app:
        (known,) = await terms(app)
        assert known.name == "거래액"
        (page,) = await app.stores.pages.browse(
            tenant_id="t", agent_id=None, kind=None, after=None, limit=9
        )
        assert (page.kind, page.name) == (GLOSSARY, "거래액")
        changes, _ = await app.stores.reader.changes(ChangeFilter(), limit=9, cursor=None)
        waiting, applied = changes
        missing = "GLOSSARY comes with the package skill-worker-glossary 0.1.0"
        with pytest.raises(Refused, match=missing):
            await app.gate.decisions.approve(waiting.id, by="kim")
        assert (await app.stores.changes.get(waiting.id)).status is ChangeStatus.HELD
        receipt = await app.revert(applied.id, "falsch")
        assert receipt.status is ReceiptStatus.REFUSED
        assert missing in receipt.message
    with pytest.raises(ConfigurationError, match="names the kind GLOSSARY"):
        async with opened(database, tmp_path, kinds=rules.replace("kinds: [glossary]", "")):
            pass


def brings(home: Home, *contents: str) -> tuple[int, list[str]]:
    """Import these contents as terms; return the exit code, and why lines were refused."""
    lines = [
        {"kind": "GLOSSARY", "tenant_id": "t", "agent_id": "a", "content": text}
        for text in contents
    ]
    file = home.path / "given.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    code, out, err = home.call("knowledge", "import", str(file), "--json")
    return code, [str(one["reason"]) for one in json.loads(out or err)["problems"]]


def test_people_bring_list_edit_and_export_terms(home: Home, site: Path) -> None:
    assert site.is_dir()
    config = home.path / "skill-worker.yaml"
    config.write_text("kinds: [glossary]\n", encoding="utf-8")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(config))
    bomb = "a: &a [x, x]\nb: [*a, *a]"
    done = brings(
        home,
        "term: GMV\nmeaning: all that was ordered",
        "term:   gmv \nmeaning: something else",
        "term: 정산\nmeaning: |-\n  월말에\n  보내는 돈\n",
        "no yaml: [",
        "term: x",
        bomb,
        'term: y\nmeaning: "a\\ab"',
        "term: z\nmeaning: " + "z" * 16_384,
        "term: GMV\nmeaning: all that was ordered",
    )
    assert done[0] == 1
    told = done[1]
    assert len(told) == 6
    for reason, part in zip(
        told, ("GMV", "YAML", "meaning", "refer to itself", "U+0007", "16384"), strict=True
    ):
        assert part in reason
    listed = home.items("knowledge", "list", "--kind", "glossary")
    assert {item["name"] for item in listed} == {"GMV", "정산"}
    assert home.fails("knowledge", "list", "--kind", "POEM", code=1)["hint"] == (
        "known are MEMORY, DMN_RULE, SKILL, GLOSSARY"
    )
    assert home.call("knowledge", "list", "--kind", "agent_skills")[0] == 2
    code, exported, _ = home.call("knowledge", "export", "--kind", "GLOSSARY")
    lines = [json.loads(line) for line in exported.splitlines()]
    assert (code, sorted(line["content"] for line in lines)) == (
        0,
        [
            "term: GMV\nmeaning: all that was ordered",
            "term: 정산\nmeaning: |-\n  월말에\n  보내는 돈",
        ],
    )

    home.policy("all")
    assert brings(home, "term: 마감\nmeaning: 월말")[0] == 0
    (held,) = home.held()
    bad, good = home.path / "bad.txt", home.path / "good.txt"
    bad.write_text("term: 마감\n", encoding="utf-8")
    good.write_text("term: 마감\nmeaning:   말일 전 영업일  \n", encoding="utf-8")
    assert "meaning" in str(home.fails("changes", "edit", held, "--file", str(bad), code=1))
    home.ask("changes", "edit", held, "--file", str(good))
    home.ask("changes", "approve", held)
    (hit,) = home.items("knowledge", "search", "영업일", "--kind", "glossary", "--tenant", "t")
    assert hit["name"] == "마감"
    (item,) = [one for one in home.items("knowledge", "list") if one["name"] == "마감"]
    assert item["content"] == "term: 마감\nmeaning: 말일 전 영업일"
    home.ask("history", "verify")

    explained = home.ask("policy", "explain", "--kind", "glossary", "--operation", "DELETE")
    assert "commit_to_glossary" in json.dumps(explained)
    config.write_text("kinds: [glossaries]\n", encoding="utf-8")
    assert "glossaries" in str(home.fails("knowledge", "list", code=4)["message"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (object, "is no core.domain.kinds.TextKind"),
        (type("Nameless", (TextKind,), {"key": str}), "'' is no name for a kind"),
        (type("Taken", (TextKind,), {"key": str, "name": "SKILL"}), "'SKILL' is no name"),
        (type("Bare", (TextKind,), {"key": str, "name": "POEM"}), "no title in en, ko"),
    ],
)
def test_what_is_no_kind_says_what_it_lacks(given: object, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        check_kind(given)


class Term(Model):
    term: str
    note: str = ""


class Forgetful(TextKind[Term]):
    """Writes less than it was told, and breaks on some terms."""

    name = "POEM"
    titles: ClassVar = {"en": "Poem", "ko": "시"}
    about = "poems"
    content = Term

    def key(self, content: Term) -> str:
        return content.term if content.term != "zero" else str(1 / 0)

    def text(self, content: Term) -> str:
        return f"term: {content.term}"


async def test_a_package_that_loses_words_or_breaks_is_named() -> None:
    world = KindWorld(Forgetful())
    assert (await world.commit({"term": "x"})).status is ReceiptStatus.APPLIED
    lost = await world.commit({"term": "y", "note": "and more"})
    assert (lost.status, "does not read back" in lost.message) == (ReceiptStatus.REFUSED, True)
    broke = await world.commit({"term": "zero"})
    assert "the package a-package 1.0 of the kind POEM failed: ZeroDivisionError" in broke.message
    assert [item.name for item in await world.known()] == ["x"]


class TestGlossary(KindContract):
    """What `new kind` writes passes the suite that comes with it."""

    @pytest.fixture
    def kind(self, site: Path) -> TextKind[Any]:
        assert site.is_dir()
        return check_kind(import_module("skill_worker_glossary").GlossaryKind)

    @pytest.fixture
    def examples(self) -> Examples:
        return [TERM, {"term": "정산", "meaning": "월말에\n보내는 돈: 수수료를 뺍니다"}]
