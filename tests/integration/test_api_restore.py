"""Restoring a version over HTTP: the exact tree whatever its content, never past the policy."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.models import Bundle
from tests.support.api import Api, opened_api
from tests.support.asking import ask, fails, restore
from tests.support.examples import seeds
from tests.support.learning import Files, Teacher

PATHS = (
    "references/요금표.md",
    "references/deep/er/a b.md",
    "scripts/run.sh",
    "scripts/tool",
    "assets/logo.png",
    "assets/empty",
)
CONTENTS = (b"", b"\0\xff\xfe", b"#!/bin/sh\r\necho 1\r\n", "환불\n".encode(), b"no end of line")


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, skill_refresh_seconds=0.001) as opened:
        yield opened


def folder(chance: random.Random) -> Files:
    """Return files of any content and mode."""
    paths = chance.sample(PATHS, chance.randrange(len(PATHS) + 1))
    return {path: (chance.choice(CONTENTS), chance.random() < 0.5) for path in paths}


async def tree(api: Api) -> Bundle:
    found = await api.app.stores.skills.read("refund", "t")
    assert found is not None
    return found


@pytest.mark.parametrize("seed", seeds(3, in_ci=1))
async def test_whatever_stood_in_between_the_exact_tree_comes_back(api: Api, seed: int) -> None:
    chance = random.Random(seed)
    teacher = Teacher(api.app)
    stood: dict[int, Bundle] = {}
    for version in range(1, 8):
        body = f"step {version}" + chance.choice(["\n", "\r\n", ""])
        await teacher.skill("refund", body, folder(chance), new=version == 1)
        stood[version] = await tree(api)
    last = 7
    for version in chance.sample(range(1, 8), 5):
        held = await tree(api)
        ahead = await restore(api, id="refund", version=version, dry_run=True)
        assert await tree(api) == held
        done = await restore(api, id="refund", version=version)
        assert await tree(api) == stood[version]
        assert (ahead["status"], done["status"]) in {("prepared", "applied"), ("known", "known")}
        last += done["status"] == "applied"
    listed = await ask(api, "knowledge/versions", id="refund")
    assert isinstance(listed["items"], list)
    assert len(listed["items"]) == last


async def test_what_the_policy_holds_waits_and_changes_nothing(
    database: str, tmp_path: Path
) -> None:
    async with opened_api(database, tmp_path) as free:
        teacher = Teacher(free.app)
        target = str((await teacher.memory("원화로")).target_id)
        await teacher.memory("달러로", target)
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules: []\notherwise: hold\n")
    async with opened_api(database, tmp_path, review_policy=str(policy)) as api:
        waiting = await restore(api, id=target, version=1)
        assert waiting["status"] == "held"
        stands = await ask(api, "knowledge/item", id=target)
        assert isinstance(stands["item"], dict)
        assert stands["item"]["content"] == "달러로"
        assert (await restore(api, id=target, version=2))["status"] == "known"


async def test_where_the_skill_server_is_down_the_rest_is_shown_and_said_so(
    database: str, tmp_path: Path
) -> None:
    down = {
        "skill_api_base_url": "http://127.0.0.1:9",
        "skill_api_timeout_seconds": 0.2,
        "skill_api_max_retries": 0,
        "skill_refresh_seconds": 0.001,
    }
    async with opened_api(database, tmp_path) as whole:
        await Teacher(whole.app).memory("원화로 적는다")
        await Teacher(whole.app).skill("refund", "R\n")
    async with opened_api(database, tmp_path, **down) as api:
        page = await ask(api, "knowledge")
        assert isinstance(page["items"], list)
        assert [item["kind"] for item in page["items"] if isinstance(item, dict)] == [
            "MEMORY",
            "SKILL",
        ]
        found, graph = await ask(api, "search", q="원화"), await ask(api, "graph")
        for answer in (page, found, graph):
            assert isinstance(answer["warnings"], list)
            assert "skill" in str(answer["warnings"][0])
        assert found["items"]
        assert (await fails(api, "knowledge/item", id="refund"))[0] == 503
        listed = await ask(api, "knowledge/versions", id="refund")
        assert isinstance(listed["items"], list)
        assert len(listed["items"]) == 1
