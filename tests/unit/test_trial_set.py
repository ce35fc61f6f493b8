"""The stories of the trial of the gate of cases; of the sealed half failures are only counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from pydantic import JsonValue, ValidationError

from core.agent.loop.tool_args import ARGUMENTS
from core.domain.models import Kind, SkillArtifact, SkillEdits
from core.domain.models.base import Model
from tests.evals.trial import Asked, Call, Story, share, stories, together

ANSWERS: Mapping[str, type[Model]] = {"SkillArtifact": SkillArtifact, "SkillEdits": SkillEdits}
ASKS = {
    "recall": {"question"},
    "silence": {"question"},
    "unsaid": {"text"},
    "decision": {"inputs", "outputs"},
    "chosen": {"request"},
    "not_chosen": {"request"},
    "stands": {"text"},
    "withdrawn": {"text"},
    "script": {"script", "input", "output"},
}
OF_KIND = {
    Kind.MEMORY: {"recall", "silence", "unsaid"},
    Kind.DMN_RULE: {"decision"},
    Kind.SKILL: {"chosen", "not_chosen", "stands", "withdrawn", "script"},
}
# The half and the hand of each file, and how many pairs it has of each kind, Korean and English.
HANDS = (("open", "a"), ("sealed", "a"), ("open", "c"))
SIZES = {
    **{(kind, "open", "a"): (8, 7) for kind in OF_KIND},
    **{(kind, "sealed", "a"): (7, 8) for kind in OF_KIND},
    (Kind.MEMORY, "open", "c"): (8, 7),
    (Kind.DMN_RULE, "open", "c"): (7, 8),
    (Kind.SKILL, "open", "c"): (8, 7),
}


def _calls(story: Story) -> list[Call]:
    return [*story.before, *story.learning.calls]


def _cases(call: Call) -> list[dict[str, JsonValue]]:
    cases = call.args["cases"]
    assert isinstance(cases, list)
    return [case for case in cases if isinstance(case, dict)]


@pytest.mark.parametrize(("half", "by"), HANDS)
def test_each_kind_has_as_many_harmful_as_good_learnings(half: str, by: str) -> None:
    counted = Counter((one.kind, one.lang, one.harmful, one.expect) for one in stories(half, by))
    assert counted == {
        (kind, lang, expect == "stopped", expect): size
        for kind in OF_KIND
        for lang, size in zip(("ko", "en"), SIZES[kind, half, by], strict=True)
        for expect in ("stopped", "applied")
    }


def test_no_learning_is_said_twice_in_the_trial() -> None:
    said = [one.learning.feedback for hand in HANDS for one in stories(*hand)]
    assert len(said) - len(set(said)) == 0


@pytest.mark.parametrize(("half", "by"), HANDS)
def test_twins_of_the_trial_begin_from_the_same_knowledge(half: str, by: str) -> None:
    known: dict[str, list[Story]] = {}
    for one in stories(half, by):
        known.setdefault(one.story, []).append(one)
    same = [x.before == y.before and x.harmful != y.harmful for x, y in known.values()]
    assert same.count(False) == 0


@pytest.mark.parametrize(("half", "by"), HANDS)
def test_calls_of_the_trial_fit_the_write_tools(half: str, by: str) -> None:
    def fails(asked: Asked, to: Mapping[str, type[Model]]) -> bool:
        given = {name: value for name, value in asked.args.items() if name != "cases"}
        try:
            to[asked.tool].model_validate(given)
        except ValidationError:
            return True
        return False

    called = [call for one in stories(half, by) for call in _calls(one)]
    written = [call.author for call in called if call.author is not None]
    assert sum(fails(call, ARGUMENTS) for call in called) == 0
    assert sum(fails(author, ANSWERS) for author in written) == 0


@pytest.mark.parametrize(("half", "by"), HANDS)
def test_cases_of_the_trial_say_what_they_check(half: str, by: str) -> None:
    wrong = [
        case
        for one in stories(half, by)
        for call in _calls(one)
        for case in _cases(call)
        if case["check"] not in OF_KIND[one.kind]
        or set(case) - {"check", "section", "of"} != ASKS[str(case["check"])]
    ]
    few = [
        item for one in stories(half, by) for item in one.before if not 2 <= len(_cases(item)) <= 4
    ]
    assert (len(wrong), len(few)) == (0, 0)


def test_together_harm_and_good_of_a_language_are_of_two_agents() -> None:
    ids = Counter(one.id for one in together(stories("open", "c")))
    assert ids == {"ko-good": 23, "ko-harmful": 23, "en-good": 22, "en-harmful": 22}


def test_a_share_is_told_with_its_interval_by_wilson() -> None:
    assert share([True] * 8 + [False] * 2) == " 8 of 10 (49-94 %)"
    assert share([]) == "none"
