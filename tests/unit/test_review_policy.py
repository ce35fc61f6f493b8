"""Which changes are held: presets, files, and the conditions of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.changes.policy.conditions import changed_characters
from core.changes.policy.review_policy import (
    ReviewPolicy,
    apply_all,
    load_policy,
    parse_policy,
)
from core.domain.errors import ConfigurationError
from core.domain.models import (
    Change,
    ChangeStatus,
    FileRef,
    Kind,
    Operation,
    Origin,
    Reach,
    Scope,
    Snapshot,
)


def change(**given: object) -> Change:
    """Return a change that creates a memory, except for what is `given`."""
    whole = {
        "id": "c",
        "key": "k",
        "digest": "d",
        "tenant_id": "acme",
        "agent_id": "billing-1",
        "kind": Kind.MEMORY,
        "target_id": "m",
        "target_name": "m",
        "operation": Operation.CREATE,
        "before": None,
        "after": Snapshot(content="금액은 원화로 적는다", name="m"),
        "base_hash": "absent",
        "status": ChangeStatus.PREPARED,
    }
    return Change.model_validate(whole | given)


def skill(*paths: str, executable: bool = False) -> Snapshot:
    files = {path: FileRef(sha256=path, size=10, executable=executable) for path in paths}
    return Snapshot(content="# s", name="s", files=files)


DELETE = change(operation=Operation.DELETE, before=Snapshot(content="x", name="m"), after=None)
WARNED = change(warnings=("row r2 can never fire",))
SCRIPTED = change(kind=Kind.SKILL, after=skill("SKILL.md", "scripts/run.py"))
RUNNABLE = change(kind=Kind.SKILL, after=skill("SKILL.md", "bin/go", executable=True))
PLAIN_SKILL = change(kind=Kind.SKILL, after=skill("SKILL.md", "references/api.md"))
LARGE = change(after=Snapshot(content="가" * 9000, name="m"))
SMALL = change()


def test_auto_holds_nothing() -> None:
    policy = load_policy("auto")
    for each in (DELETE, WARNED, SCRIPTED, LARGE, SMALL):
        assert policy(each) == apply_all(each) == ()


@pytest.mark.parametrize(
    ("waits", "because"),
    [
        (DELETE, "it deletes something"),
        (WARNED, "a check warns about it"),
        (SCRIPTED, "the skill has scripts that are run"),
        (RUNNABLE, "the skill has scripts that are run"),
        (LARGE, "it changes more than 8,000 characters"),
    ],
)
def test_risky_holds_what_deserves_a_second_look(waits: Change, because: str) -> None:
    assert load_policy("risky")(waits) == (because,)


@pytest.mark.parametrize("applies", [SMALL, PLAIN_SKILL])
def test_risky_applies_the_rest(applies: Change) -> None:
    assert load_policy("risky")(applies) == ()


def test_all_reasons_are_told() -> None:
    both = DELETE.model_copy(update={"warnings": ("it is referred to",)})
    assert load_policy("risky")(both) == ("a check warns about it", "it deletes something")


def test_all_holds_all_but_what_a_person_decided() -> None:
    policy = load_policy("all")
    assert policy(SMALL)
    assert policy(SMALL.model_copy(update={"origin": Origin.IMPORT}))
    assert policy(SMALL.model_copy(update={"origin": Origin.PERSON})) == ()


FILE = """
# 결제 담당은 먼저 본다
rules:
  - when: {tenant: acme, agent: "billing-*", kind: [MEMORY, DMN_RULE]}
    then: hold
    because: 결제는 사람이 확인한다
  - when: {warning: ["CAN NEVER FIRE", "gap"]}
    then: hold
  - when: {target: secret*}
    then: apply
otherwise: hold
"""


def test_a_file_says_who_waits_and_why(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(FILE)
    policy = load_policy(str(path))
    assert policy(SMALL) == ("결제는 사람이 확인한다",)
    other = {"agent_id": "sales"}
    assert policy(WARNED.model_copy(update=other)) == ("a rule of the policy",)
    assert policy(SMALL.model_copy(update=other | {"target_name": "secret-7"})) == ()
    waits = policy(SMALL.model_copy(update=other))
    assert waits == ("every change that no rule lets through waits",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rules: [", "no YAML"),
        ("- hold", "no mapping"),
        ("rules:\n  - when: {kinds: SKILL}\n    then: hold", "rules.0.when.kinds"),
        ("rules:\n  - when: {kind: no kind}\n    then: hold", "rules.0.when.kind.0"),
        ("rules:\n  - when: {kind: SKILL}", "rules.0.then"),
        ("otherwise: wait", "otherwise"),
        ("", "no mapping"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        parse_policy(text, "policy.yaml")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"REVIEW_POLICY=/no/such\.yaml") as error:
        load_policy("/no/such.yaml")
    assert "risky" in error.value.hint


def test_lines_that_only_move_are_no_change() -> None:
    before = Snapshot(content="a\nbb\nccc", name="m")
    moved = change(before=before, after=Snapshot(content="ccc\na\nbb", name="m"))
    assert changed_characters(moved) == 0
    cut = change(before=before, after=Snapshot(content="a\nbb\ndddd", name="m"))
    assert changed_characters(cut) == 7


def test_without_rules_nothing_waits() -> None:
    assert ReviewPolicy()(DELETE) == ()


FOR_ALL = change(
    after=Snapshot(content="x", name="m", reach=Reach(scope=Scope.TENANT)), origin=Origin.AGENT
)
WAS_FOR_ALL = change(
    before=FOR_ALL.after, after=Snapshot(content="x", name="m"), operation=Operation.UPDATE
)


@pytest.mark.parametrize("preset", ["auto", "risky", "all"])
@pytest.mark.parametrize("waits", [FOR_ALL, WAS_FOR_ALL])
def test_what_an_agent_writes_for_its_whole_tenant_is_held(preset: str, waits: Change) -> None:
    assert "it is for all agents of the tenant" in load_policy(preset)(waits)


@pytest.mark.parametrize("origin", [Origin.PERSON, Origin.IMPORT])
def test_what_a_person_brings_in_for_all_is_not_held_for_that(origin: Origin) -> None:
    assert load_policy("auto")(FOR_ALL.model_copy(update={"origin": origin})) == ()


def test_a_rule_that_names_the_scope_decides_about_it() -> None:
    applies = parse_policy("rules: [{when: {scope: tenant, agent: billing-*}, then: apply}]", "p")
    assert applies(FOR_ALL) == ()
    assert applies(FOR_ALL.model_copy(update={"agent_id": "other"})) != ()
    silent = parse_policy("rules: [{when: {agent: billing-*}, then: apply}]", "p")
    assert silent(FOR_ALL) == ("it is for all agents of the tenant",)
    users = parse_policy("rules: [{when: {scope: [user]}, then: hold, because: private}]", "p")
    private = Snapshot(content="x", name="m", reach=Reach(scope=Scope.USER, user="kim"))
    assert users(change(after=private)) == ("private",)
    assert users(SMALL) == ()
