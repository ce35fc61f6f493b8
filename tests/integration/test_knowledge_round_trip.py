"""Export, import into an empty database, export: the same lines, byte for byte."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import SKILL_MD, Kind
from tests.support.databases import fresh_database
from tests.support.importing import AGENTS, Line, Place, short

DOCUMENT = (
    "---\r\nname: refund\r\ndescription: How to refund. Use it for refunds.\r\n---\r\n# 환불\r\n"
)
SKILL: Line = {
    "kind": "SKILL",
    "name": "refund",
    "agent_id": "a",
    "other_agent_ids": ["b"],
    "content": DOCUMENT,
    "files": {
        "SKILL.md": {"executable": True},
        "assets/logo.bin": {"base64": "AP/+AA=="},
        "references/수수료.md": {"text": "# 수수료\r\n\tno newline at the end"},
        "scripts/run.sh": {"text": "#!/bin/sh\necho 1\n", "executable": True},
    },
}
XML = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="n" namespace="x">
  <!-- kept -->
  <decision id="approve" name="approval">
    <decisionTable id="t" hitPolicy="UNIQUE">
      <input id="i"><inputExpression id="e" typeRef="number"><text>amount</text></inputExpression>
      </input>
      <output id="o" name="by" typeRef="string"/>
      <rule id="r"><inputEntry id="c"><text>&gt; 5</text></inputEntry>
        <outputEntry id="v"><text>"lead"</text></outputEntry></rule>
    </decisionTable>
  </decision>
</definitions>"""
LINES: tuple[Line, ...] = (
    {"kind": "MEMORY", "id": "m2", "agent_id": "a", "content": "두 번째\n줄 \u200fשלום 👩‍💻"},
    {"kind": "MEMORY", "id": "M1", "agent_id": "b", "content": "  kept\tas it is "},
    {"kind": "MEMORY", "id": "m2", "agent_id": "c", "content": "the same id elsewhere"},
    {
        "kind": "MEMORY",
        "id": "m3",
        "agent_id": "a",
        "content": "until then, for her",
        "valid_until": "2020-05-31T14:59:59.999999Z",
        "scope": "user",
        "user": "kim",
    },
    {"kind": "DMN_RULE", "id": "r1", "agent_id": "a", "content": XML},
    SKILL,
    {
        "kind": "SKILL",
        "name": "shared",
        "tenant_id": "u",
        "content": DOCUMENT.replace("refund", "shared", 1),
    },
)


@asynccontextmanager
async def empty_place(server: str, template: str, home: Path) -> AsyncIterator[Place]:
    settings = load_settings({"skill_worker_home": home}, env_file=None)
    with fresh_database(server, template) as database:
        given = settings.model_copy(update={"database_url": SecretStr(database)})
        async with open_app(given) as app:
            for agent in AGENTS:
                await app.stores.agents.save(agent)
            yield Place(app)


async def test_an_export_is_what_an_import_takes(
    server: str, template: str, tmp_path: Path
) -> None:
    async with empty_place(server, template, tmp_path / "1") as first:
        assert set(short(await first.take(*LINES))) == {"created"}
        exported = await first.give()
        assert short(await first.take(*exported)) == ["known"] * len(exported)
        assert await first.give() == exported
    async with empty_place(server, template, tmp_path / "2") as second:
        assert set(short(await second.take(*reversed(exported)))) == {"created"}
        assert await second.give() == exported
        bundle = await second.app.stores.skills.read("refund", "t")
        assert bundle is not None
        assert bundle.files[SKILL_MD].data == DOCUMENT.encode()
        assert bundle.files["assets/logo.bin"].data == b"\x00\xff\xfe\x00"
        assert bundle.files["scripts/run.sh"].executable
        assert (await second.app.stores.agents.get("t", "b")).skills == ("refund",)
        assert (await second.app.stores.agents.get("u", "c")).skills == ()
    places = [
        (line["kind"], line["tenant_id"], line.get("id", line.get("name"))) for line in exported
    ]
    assert places == [
        ("MEMORY", "t", "M1"),
        ("MEMORY", "t", "m2"),
        ("MEMORY", "t", "m3"),
        ("MEMORY", "u", "m2"),
        ("DMN_RULE", "t", "r1"),
        ("SKILL", "t", "refund"),
        ("SKILL", "u", "shared"),
    ]


async def test_white_space_around_a_memory_is_left_out_and_all_within_stays(
    server: str, template: str, tmp_path: Path
) -> None:
    inner = "위\u2028아래\x1f\x07\x85가\r\n\t  끝\u200b"
    line: Line = {"kind": "MEMORY", "id": "m", "agent_id": "a", "tenant_id": "t"}
    async with empty_place(server, template, tmp_path / "1") as first:
        await first.take({**line, "content": f"\u2028\x1c \n{inner}\x85\u3000"})
        exported = await first.give()
        assert exported == [{**line, "content": inner}]
        assert short(await first.take(*exported)) == ["known"]
    async with empty_place(server, template, tmp_path / "2") as second:
        assert short(await second.take(*exported)) == ["created"]
        assert await second.give() == exported


async def test_a_part_can_be_exported(server: str, template: str, tmp_path: Path) -> None:
    async with empty_place(server, template, tmp_path) as place:
        await place.take(*LINES)
        memories = await place.give(Kind.MEMORY, tenant="t")
        assert [line["id"] for line in memories] == ["M1", "m2", "m3"]
        of_b = await place.give(agent="b")
        assert [line.get("id", line.get("name")) for line in of_b] == ["M1", "refund"]
        assert (of_b[1]["agent_id"], "other_agent_ids" in of_b[1]) == ("b", False)
        assert [line["name"] for line in await place.give(Kind.SKILL, tenant="u")] == ["shared"]


async def test_a_skill_that_is_known_still_comes_to_its_agents(
    server: str, template: str, tmp_path: Path
) -> None:
    async with empty_place(server, template, tmp_path) as place:
        await place.take({**SKILL, "other_agent_ids": []})
        assert short(await place.take(SKILL)) == ["known"]
        assert (await place.app.stores.agents.get("t", "b")).skills == ("refund",)


async def test_a_skill_name_that_is_taken_is_refused_unless_told_to_replace(
    server: str, template: str, tmp_path: Path
) -> None:
    async with empty_place(server, template, tmp_path) as place:
        await place.take(SKILL)
        files = json.loads(json.dumps(SKILL["files"]))
        files["scripts/run.sh"] = {"text": "#!/bin/sh\necho 2\n", "executable": True}
        del files["assets/logo.bin"]
        other = {**SKILL, "files": files}
        assert "the name 'refund' is taken by SKILL refund" in short(await place.take(other))[0]
        assert short(await place.take(other, replace=True)) == ["updated"]
        assert (await place.give(Kind.SKILL))[0]["files"] == files
        assert short(await place.take(other, replace=True)) == ["known"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Bad Name", "content": "x"}, "hyphen-case"),
        ({"content": "no frontmatter"}, "frontmatter"),
        ({"files": {"../x": {"text": "x"}}}, ".."),
    ],
)
async def test_a_skill_that_breaks_a_rule_is_refused(
    server: str, template: str, tmp_path: Path, changed: Line, said: str
) -> None:
    async with empty_place(server, template, tmp_path) as place:
        (result,) = await place.take({**SKILL, **changed})
        assert said in short([result])[0]
        assert await place.give() == []
