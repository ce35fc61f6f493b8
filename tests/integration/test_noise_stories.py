"""Noise teaches nothing: each story through the whole worker, with the offline stand-in."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import FeedbackStatus
from tests.evals.noise import LEARNT, NOTHING, Told, confusion, stories, tell
from tests.support.databases import fresh_database

STORIES = stories()


@pytest.fixture(scope="module")
def told(server: str, template: str) -> dict[str, Told]:
    """The outcomes of all stories, given at once to one worker."""

    async def run(database: str, home: Path) -> list[Told]:
        settings = load_settings({"skill_worker_home": home}, env_file=None).model_copy(
            update={"database_url": SecretStr(database)}
        )
        async with open_app(settings, model=True, offline=True) as app:
            return await tell(app, STORIES)

    with fresh_database(server, template) as database, tempfile.TemporaryDirectory() as home:
        return {t.story.says: t for t in asyncio.run(run(database, Path(home)))}


def test_there_are_enough_stories_in_both_languages() -> None:
    korean = [s for s in STORIES if any("ㄱ" <= char <= "힣" for char in s.says)]
    assert len(STORIES) >= 60
    assert len(korean) >= 30
    assert len(STORIES) - len(korean) >= 30
    assert {story.ends for story in STORIES} >= {*NOTHING, "MEMORY", "DMN_RULE"}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.says[:30])
def test_a_story_ends_as_it_should(story: object, told: dict[str, Told]) -> None:
    ended = told[story.says]  # type: ignore[attr-defined]
    assert ended.ended == ended.story.ends, ended.reason
    if ended.story.ends in LEARNT:
        assert (ended.status, ended.changes) == (FeedbackStatus.COMPLETED, 1)
        assert len(ended.knows) == 1
    else:
        assert (ended.status, ended.changes) == (FeedbackStatus.NO_ACTION, 0)
        assert ended.knows == tuple(sorted(ended.story.known))


def test_the_table_counts_what_became_what(told: dict[str, Told]) -> None:
    table = confusion([*told.values()])
    assert f"{len(told)} of {len(told)} ended as expected" in table
