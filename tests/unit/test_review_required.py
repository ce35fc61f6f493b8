"""What waits for a person whatever the policy says, and what the policy asks about an author."""

from __future__ import annotations

import json

import pytest

from core.changes.policy.review_policy import named_briefly, parse_policy, required_review
from core.domain.models import (
    Change,
    Kind,
    MemoryRequest,
    Operation,
    Origin,
    SkillRequest,
)
from core.domain.models.requests import Lister
from tests.support.react import item_change

MANY = tuple(Lister(id=f"a{n}", name=f"a{n}") for n in range(12))
PAY = SkillRequest(operation=Operation.DELETE, target_id="pay", reason="r", listed_by=MANY[:2])
MUST = MemoryRequest(
    operation=Operation.UPDATE, target_id="m", content="x", reason="r", must_wait="both changed it"
)


def change(kind: Kind = Kind.MEMORY, **given: object) -> Change:
    return item_change(kind, "m", "the name", "x").model_copy(update=given)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (change(), []),
        (change(request=MUST), ["both changed it"]),
        (change(request=MUST.model_copy(update={"must_wait": ""})), []),
        (change(origin=Origin.WORKER), ["policy.lesson"]),
        (change(origin=Origin.WORKER, request=MUST), ["both changed it", "policy.lesson"]),
        (change(Kind.SKILL, request=PAY, after=None), ["policy.others_list"]),
        (change(Kind.SKILL, request=PAY), []),
        (change(Kind.AGENT_SKILLS, request=PAY, after=None), []),
        (change(Kind.SKILL, request=PAY.model_copy(update={"listed_by": ()}), after=None), []),
    ],
)
def test_some_changes_wait_under_every_policy(made: Change, said: list[str]) -> None:
    assert [getattr(one, "code", one) for one in required_review(made)] == said


def test_of_many_who_list_a_skill_ten_are_named() -> None:
    assert named_briefly(MANY[:2]) == "a0, a1"
    assert "a9" in named_briefly(MANY[:10])
    assert "2" not in named_briefly(MANY[:10]).replace("a2", "")
    more = named_briefly(MANY)
    assert "a9" in more
    assert "a10" not in more
    assert "2" in more.replace("a2", "")


@pytest.mark.parametrize(
    ("when", "asks"),
    [({"author_accepted": True}, True), ({"author": "kim"}, False), ({"kind": "MEMORY"}, False)],
)
def test_a_policy_asks_about_an_author_only_where_a_rule_does(
    when: dict[str, object], asks: bool
) -> None:
    rules = [{"name": "r", "when": when, "then": "hold", "because": "r"}]
    policy = parse_policy(json.dumps({"rules": rules, "otherwise": "allow"}), "a policy")
    assert policy.asks_author is asks
