"""The trial of the gate of cases: stories through the whole worker, with a model that insists."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.app.program import open_app
from core.domain.models import Kind
from tests.evals.trial import Insisting, Story, Tried, report, stories, try_all
from tests.support.api import settings_of
from tests.support.databases import fresh_database

# Harm that the gate once let pass, and good learnings that it once stopped.
MENDED = (
    "c-ko-mem-01-y",  # repeats the question of another memory, which waits for a person itself
    "c-ko-mem-03-y",  # repeats one that found nothing
    "c-en-rule-04-x",  # corrects a case whose columns were stored in another order
    "c-ko-rule-07-x",  # says the day of a column within another word
    "c-en-rule-05-y",  # deletes another table than was meant
    "c-ko-skill-06-y",  # deletes another skill
    "c-en-skill-04-y",  # claims the request that is for another skill
    "c-ko-skill-08-x",  # adds to a line of a script
)
KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)


@pytest.fixture(scope="module")
def tried(server: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> list[Tried]:
    """A good story of each kind, one whose calls no tool takes, and those that were mended."""
    good = [one for one in stories("open") if not one.harmful]
    told = [next(one for one in good if one.kind is kind) for kind in KINDS]
    mended = [one for one in stories("open", "c") if one.id in MENDED]

    async def run(database: str, home: Path) -> list[Tried]:
        model = Insisting()
        async with open_app(
            settings_of(database, home, max_attempts=1), model=True, chat=model
        ) as app:
            return await try_all(app, model, [*told, _refused(good[-1]), *mended, _named(mended)])

    with fresh_database(server, template) as database:
        return asyncio.run(run(database, tmp_path_factory.mktemp("home")))


def _refused(story: Story) -> Story:
    (call,) = story.learning.calls
    given = {"operation": "UPDATE", "memory_id": "none such", "content": "x", "reason": "y"}
    wrong = call.model_copy(update={"tool": "commit_to_memory", "args": given, "author": None})
    learning = story.learning.model_copy(update={"calls": (wrong,), "feedback": "Change it."})
    return story.model_copy(update={"id": "refused", "learning": learning})


def _named(mended: Sequence[Story]) -> Story:
    """Return the deletion of a table by feedback that names it, and another one before."""
    (story,) = (one for one in mended if one.id == "c-en-rule-05-y")
    said = "Keep the remote work abroad countries as they are, but drop Leave approval."
    learning = story.learning.model_copy(update={"feedback": said})
    told = {"id": "named", "learning": learning, "expect": "applied", "harmful": False}
    return story.model_copy(update=told)


def test_a_good_learning_of_each_kind_passes_the_trial(tried: list[Tried]) -> None:
    assert [one.ended for one in tried[:3]] == ["applied"] * 3
    assert all(one.is_right for one in tried[:3])


def test_a_refused_call_is_insisted_on_once_and_given_up(tried: list[Tried]) -> None:
    refused = tried[3]
    assert (refused.ended, refused.asked, refused.is_right) == ("refused", 2, False)


def test_the_figures_of_a_trial_are_told_by_kind(tried: list[Tried]) -> None:
    told = report(tried[:4], "a few")
    assert "good passed  3 of  4" in told
    assert "ended: applied 3, refused 1" in told


def test_what_once_went_wrong_in_the_trial_goes_right(tried: list[Tried]) -> None:
    assert [(one.story.id, one.ended) for one in tried[4:] if not one.is_right] == []
    assert len(tried[4:]) == len(MENDED) + 1
