"""Who may teach what: conditions, effects, modes, and what is known before a change is made."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from core.changes.policy.conditions import BEFORE
from core.changes.policy.explaining import ALL, explain, unreachable
from core.changes.policy.review_policy import (
    Effect,
    ReviewPolicy,
    load_policy,
    parse_policy,
)
from core.domain.errors import ConfigurationError
from core.domain.models import Asker, Change, Finding, Kind, Operation, Origin, ScreenSeverity
from tests.unit.test_review_policy import FOR_ALL, change, skill

KIM = Asker(author="kim", source="api/acme")
GUEST = Asker(author="guest-7", source="supabase", roles=frozenset({"submit"}))
NOBODY = Asker(source="inbox")
PAYEE = Finding(
    code="payee.changed", text="x", severity=ScreenSeverity.HOLD, start=0, end=1, digest="d"
)
MASKED = PAYEE.model_copy(update={"severity": ScreenSeverity.MASK})
ROLES = "roles: {guest: ['guest-*', ''], lead: kim}\n"
SKILL = change(kind=Kind.SKILL, after=skill("SKILL.md"), asker=KIM)
RUNS = skill("SKILL.md").model_copy(
    update={"content": "# s\n\n```bash\ngit push -f && (cd x; rm -rf y)\n```\n"}
)
TOO_LONG = RUNS.model_copy(update={"content": "x\n" * 200_000})  # which nobody reads
GONE = change(kind=Kind.SKILL, operation=Operation.DELETE, after=None)
NOTES = RUNS.model_copy(update={"files": None})
PERSONS = change(origin=Origin.PERSON, kind=Kind.SKILL, operation=Operation.DELETE)


def policy(rules: str, end: str = "allow") -> ReviewPolicy:
    return parse_policy(f"{ROLES}rules:\n{rules}\notherwise: {end}\n", "p.yaml")


def says(author: Asker, **given: object) -> Change:
    return change(asker=author, **given)


@pytest.mark.parametrize(
    ("when", "met", "unmet"),
    [
        ("author: kim", says(KIM), says(GUEST)),
        ("author: guest-*", says(GUEST), says(NOBODY)),
        ("author: ''", says(NOBODY), says(KIM)),
        ("author: 김지은", says(Asker(author=normalize("NFD", "김지은"), source="x")), says(KIM)),
        ("author: '*'", says(NOBODY), change()),
        ("role: guest", says(GUEST), says(KIM)),
        ("role: [lead, guest]", says(NOBODY), change()),
        ("role: lead", says(KIM), says(GUEST)),
        ("role: submit", says(GUEST), says(KIM)),
        ("source: 'api/*'", says(KIM), says(NOBODY)),
        ("source: inbox", says(NOBODY), change()),
        ("finding: 'payee.*'", change(findings=(PAYEE,)), change()),
        ("finding: hold", change(findings=(PAYEE,)), change()),
        (
            "finding: mask",
            change(findings=(PAYEE.model_copy(update={"severity": ScreenSeverity.MASK}),)),
            SKILL,
        ),
        ("commands: ['rm *', 'curl *']", change(kind=Kind.SKILL, after=RUNS), SKILL),
        ("commands: 'git push *'", change(kind=Kind.SKILL, after=RUNS), change()),
        ("commands: 'git push *'", change(kind=Kind.SKILL, after=TOO_LONG), GONE),
        ("commands: 'git push *'", change(kind=Kind.SKILL, after=RUNS), change(after=NOTES)),
        ("{author: kim, kind: SKILL}", SKILL, says(KIM)),
    ],
)
def test_each_condition_is_met_by_what_it_names(when: str, met: Change, unmet: Change) -> None:
    # A change of which nobody knows any more who asked for it meets no condition about that.
    denies = policy(f"  - when: {{{when.strip('{}')}}}\n    then: deny")
    assert denies.judge(met).effect is Effect.DENY
    assert denies.judge(unmet).effect is Effect.ALLOW


@pytest.mark.parametrize(
    ("condition", "met", "unmet"),
    [
        ('author = "kim"', says(KIM), says(GUEST)),
        ("author = null", says(NOBODY), says(KIM)),
        ('roles = ["guest", "submit"]', says(GUEST), says(KIM)),
        ('list contains(roles, "lead") and kind = "SKILL"', SKILL, says(GUEST)),
        ('contains(after, "원화")', change(), SKILL),
        ("changed > 5", change(), change(after=None)),
        ("count(findings) > 0", change(findings=(PAYEE,)), change()),
        ('scopes = ["tenant"]', FOR_ALL, SKILL),
        ('list contains(files, "scripts/x")', change(after=skill("scripts/x")), SKILL),
        ('starts with(source, "api/") and not(scripts)', SKILL, says(GUEST)),
    ],
)
def test_an_if_sees_the_change(condition: str, met: Change, unmet: Change) -> None:
    holds = policy(f"  - if: '{condition}'\n    then: hold\n    because: why")
    assert holds.judge(met).effect is not Effect.ALLOW
    assert "why" in holds.judge(met).reasons
    assert "why" not in holds.judge(unmet).reasons


@pytest.mark.parametrize(
    ("then", "effect"), [("allow", "deny"), ("hold", "hold"), ("deny", "deny")]
)
def test_an_if_without_a_value_errs_on_the_loud_side(then: str, effect: str) -> None:
    """The author is nobody's: the length of that name is null."""
    rules = f"  - if: 'string length(author) > 3'\n    then: {then}"
    judged = policy(rules, "deny" if then == "allow" else "allow").judge(says(NOBODY))
    assert judged.effect == effect


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("{if: 'autor = 1', then: hold}", r"line 3: rules\.0\.if: .*'autor'"),
        ("{if: 'author +', then: hold}", r"rules\.0\.if"),
        ("{if: 'changed + 1', then: hold}", "true or false"),
        ("{if: '', then: hold}", "left empty"),
        ("{if: 'now() > @\"2026-01-01\"', then: hold}", "the present"),
        ("{when: {author: }, then: allow}", r"rules\.0\.when\.author: is left empty"),
        ("{when: {kind: []}, then: allow}", r"rules\.0\.when\.kind: is left empty"),
        ("{when: {role: gest}, then: deny}", "rule 1 names the role 'gest'.*guest"),
        ("{when: {autor: kim}, then: deny}", "there is no 'autor' here: is 'author' meant"),
        ("{then: refuse}", r"rules\.0\.then"),
        ("{when: {kind: SKILL}, then: deny, then: allow}", "'then' stands there twice"),
    ],
)
def test_a_wrong_rule_is_named_with_its_line(rule: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        parse_policy(f"{ROLES}rules:\n  - {rule}\n", "p.yaml")


def test_authors_are_given_no_role_of_tokens() -> None:
    with pytest.raises(ConfigurationError, match="tokens have a role 'review' of their own"):
        parse_policy("roles: {review: [kim]}\n", "p.yaml")


def test_the_first_rule_that_is_met_decides() -> None:
    ordered = policy(
        "  - {when: {author: kim}, then: allow}\n"
        "  - {when: {kind: SKILL}, then: deny, because: no skills}\n"
        "  - {then: hold}"
    )
    assert ordered.judge(SKILL).rule == 0
    judged = ordered.judge(SKILL.model_copy(update={"asker": GUEST}))
    assert (judged.effect, judged.reasons, judged.rule) == (Effect.DENY, ("no skills",), 1)
    assert ordered(says(GUEST)) == ("a rule of the policy",)


def test_a_refusal_binds_a_persons_decision_only_if_it_says_so() -> None:
    silent = policy("  - {when: {kind: SKILL}, then: deny}", "deny")
    assert silent.judge(PERSONS).effect is Effect.ALLOW
    said = policy("  - {when: {kind: SKILL, origin: [PERSON, AGENT]}, then: deny}")
    assert said.judge(PERSONS).effect is Effect.DENY


def test_what_is_for_the_whole_tenant_is_refused_where_a_rule_says_so() -> None:
    assert policy("  - {when: {kind: MEMORY}, then: deny}").judge(FOR_ALL).effect is Effect.DENY
    assert policy("  - {when: {kind: MEMORY}, then: allow}").judge(FOR_ALL).effect is Effect.HOLD


@pytest.mark.parametrize("origin", [Origin.AGENT, Origin.IMPORT])
def test_locked_refuses_all_that_is_asked_for(origin: Origin) -> None:
    locked = load_policy("locked")
    asked = change(origin=origin, asker=KIM)
    assert locked.judge(asked).reasons == ("what agents learn is locked",)
    assert locked.judge(FOR_ALL).effect is Effect.DENY
    assert locked.judge(PERSONS).effect is Effect.ALLOW


def test_under_locked_a_rule_may_allow_but_none_may_hold() -> None:
    rules = "rules:\n  - {when: {author: kim}, then: allow}\n  - {then: hold}\notherwise: allow\n"
    locked = parse_policy(rules, "p").under("locked")
    assert locked.judge(says(KIM)).effect is Effect.ALLOW
    assert locked.judge(says(GUEST)).effect is Effect.DENY
    assert locked.judge(PERSONS).effect is Effect.HOLD


def test_a_mode_decides_what_the_rules_do_not() -> None:
    own = parse_policy("rules: [{when: {agent: sales}, then: allow}]", "p").under("risky")
    deletes = {"operation": Operation.DELETE, "after": None}
    assert own(change(**deletes)) == ("it deletes something",)
    assert own(change(agent_id="sales", **deletes)) == ()
    complete = parse_policy("rules: []\notherwise: hold", "p").under("auto")
    assert complete(change()) != ()


DRAFT = says(GUEST, kind=Kind.SKILL, after=None)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("  - {when: {kind: SKILL}, then: deny, because: never}", "never"),
        ("  - {when: {kind: SKILL, operation: DELETE}, then: deny, because: never}", None),
        ("  - {when: {role: guest}, then: deny, because: never}", "never"),
        ("  - {when: {target: secret*}, then: deny, because: never}", None),
        ("  - {when: {target: mine-*}, then: allow}\n  - {then: deny, because: never}", None),
        ("  - {when: {scripts: true}, then: deny, because: a}\n  - {then: deny}", "a"),
        ("  - {if: 'kind = \"SKILL\"', then: deny, because: never}", "never"),
        ("  - {if: 'contains(after, \"x\")', then: deny, because: never}", None),
        ("  - {when: {author: kim}, then: allow}\n  - {then: deny, because: never}", "never"),
    ],
)
def test_before_a_change_is_made_only_what_is_sure_is_refused(rules: str, why: str | None) -> None:
    assert policy(rules).denies(DRAFT, is_draft=True) == why


def test_an_explanation_names_the_rule_and_what_others_lack() -> None:
    ruled = policy(
        "  - {name: agents, when: {agent: billing-*}, then: hold}\n"
        "  - {when: {role: guest, operation: DELETE}, then: deny, because: not guests}\n"
        "  - {if: 'contains(after, \"x\")', then: hold}"
    )
    case = says(GUEST, kind=Kind.SKILL, operation=Operation.DELETE, agent_id="sales")
    told = explain(ruled, case, ALL - BEFORE)
    assert (told.effect, told.decided_by, told.reasons) == (Effect.DENY, 2, ("not guests",))
    assert [one.met for one in told.rules] == [False, True, None]
    assert told.rules[0].not_met == ("agent",)
    assert told.rules[2].depends_on == ("content",)
    unsaid = explain(ruled, case, (ALL - BEFORE) | {"agent"})
    assert unsaid.effect is None
    assert unsaid.rules[0].depends_on == ("agent",)


@pytest.mark.parametrize(
    ("rules", "end", "effect", "rule", "reasons"),
    [
        # No rule is met: the end of all decides, and is no rule.
        ("  - {when: {agent: x}, then: hold}", "allow", Effect.ALLOW, None, 0),
        ("  - {when: {agent: x}, then: allow}", "hold", Effect.HOLD, None, 1),
        # What is not known decides nothing where all that may follow is the same.
        ("  - {when: {finding: x}, then: hold}", "hold", Effect.HOLD, None, 1),
        ("  - {when: {finding: x}, then: hold}", "allow", None, None, 0),
        ("  - {when: {finding: x}, then: hold}\n  - then: hold", "allow", Effect.HOLD, 2, 1),
        ("  - {when: {finding: x}, then: allow}\n  - then: hold", "hold", None, None, 0),
        # What would come after the rule that is met does not matter.
        ("  - then: hold\n  - {when: {finding: x}, then: deny}", "allow", Effect.HOLD, 1, 1),
    ],
)
def test_what_becomes_of_a_case_is_told_only_where_it_is_sure(
    rules: str, end: str, effect: Effect | None, rule: int | None, reasons: int
) -> None:
    told = explain(policy(rules, end), DRAFT, ALL - BEFORE)
    assert (told.effect, told.decided_by, len(told.reasons)) == (effect, rule, reasons)
    assert (told.otherwise, told.mode) == (Effect(end), None)


def test_an_explanation_shows_each_rule_and_which_are_of_the_mode() -> None:
    own = parse_policy(
        "rules:\n  - {name: mine, when: {finding: x, warned: true}, then: hold, because: so}\n"
        '  - {if: \'contains(after, "x") and changed > 5 and agent = "a"\', then: deny}\n',
        "p.yaml",
    )
    told = explain(own.under("strict"), DRAFT, ALL - BEFORE)
    mine, reading, *of_mode = told.rules
    assert (mine.rule, mine.name, mine.then, mine.because) == (1, "mine", Effect.HOLD, "so")
    assert (mine.met, mine.not_met, mine.depends_on) == (None, (), ("finding", "warned"))
    assert (reading.rule, reading.depends_on) == (2, ("changed_over", "content"))
    assert [one.mode for one in told.rules] == [None, None, *["strict"] * len(of_mode)]
    assert of_mode
    assert told.mode == "strict"


def test_rules_after_one_that_all_meet_are_told() -> None:
    assert unreachable(policy("  - {when: {kind: SKILL}, then: hold}\n  - then: deny")) == ()
    assert unreachable(policy("  - {then: hold}")) == ()
    (told,) = unreachable(policy("  - {then: hold}\n  - {when: {kind: SKILL}, then: deny}"))
    assert "rule 2" in told
    skill = "  - {when: {kind: SKILL}, then: deny}"
    (told,) = unreachable(policy(f"{skill}\n  - then: hold\n  - then: deny"))
    assert told.code == "policy.unreachable"
    assert dict(told.parameters) == {"n": 3, "end": 2}


@pytest.mark.parametrize(
    ("rule", "asks"),
    [
        ("{when: {author_accepted: false}, then: hold}", True),
        ("{if: 'author_accepted = false', then: hold}", True),
        ("{if: 'author = \"kim\"', then: hold}", False),
        ("{when: {author: kim}, then: hold}", False),
    ],
)
def test_who_was_accepted_is_asked_only_where_a_rule_wants_to_know(rule: str, asks: bool) -> None:
    assert policy(f"  - {rule}").asks_author is asks
    assert policy(f"  - then: allow\n  - {rule}").asks_author is asks
