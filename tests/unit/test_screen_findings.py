"""What a finding comes to: its severity, its quote, what it is known again by, whom to believe."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.domain.models import (
    Change,
    ChangeStatus,
    Facts,
    Finding,
    Kind,
    Operation,
    ScreenSeverity,
)
from core.safety.config import ClassSetting, ExtraPattern, ScreenConfig
from core.safety.findings import finding, lines_around, look_failed, severity_of
from core.safety.trust import Standing, Trust, raise_severity, trust_in

HOLD, NOTE, MASK = ScreenSeverity.HOLD, ScreenSeverity.NOTE, ScreenSeverity.MASK


def found(code: str = "control.dropped", context: str = "", quote: str = "") -> Finding:
    return finding(code, (0, 1), NOTE, quote=quote, context=context)


@pytest.mark.parametrize(
    ("code", "classes", "usual", "severity"),
    [
        ("control.dropped", {}, None, HOLD),
        ("harm.likely", {}, None, HOLD),
        ("tools.no_wall", {}, None, HOLD),
        ("secret.token", {}, None, NOTE),
        ("contact.mail", {}, None, NOTE),
        ("link.new_host", {}, None, NOTE),
        ("threshold.new", {}, None, NOTE),
        ("approver.new", {}, None, NOTE),
        ("interference.relies", {}, None, NOTE),
        ("crm.customer", {}, NOTE, NOTE),
        ("contact.mail", {}, HOLD, HOLD),
        ("contact.mail", {"contact": "hold"}, NOTE, HOLD),
        ("control.dropped", {"control": "note"}, None, NOTE),
        ("control.dropped", {"control": "off"}, HOLD, None),
        ("control.dropped", {"control": "off", "control.dropped": "note"}, None, NOTE),
        ("control.limit", {"control": "off", "control.dropped": "note"}, None, None),
    ],
)
def test_a_code_comes_to_what_is_set_for_it_or_its_class(
    code: str,
    classes: dict[str, ClassSetting],
    usual: ScreenSeverity | None,
    severity: ScreenSeverity | None,
) -> None:
    config = ScreenConfig.model_construct(
        classes={name: ClassSetting(value) for name, value in classes.items()}
    )
    assert severity_of(code, config, usual) is severity


def test_a_finding_is_known_again_by_its_code_and_its_line_alone() -> None:
    one = found(context="pay  it\n now", quote="pay")
    assert one.digest == found(context=" pay it now ", quote="it").digest
    assert one.digest != found(context="pay it later", quote="pay").digest
    assert one.digest != found("control.limit", context="pay it now", quote="pay").digest
    assert look_failed("away", "x").digest == look_failed("slow", "x").digest
    assert look_failed("away", "x").digest != look_failed("away", "y").digest
    assert (look_failed("away", "x").holds, look_failed("away", "x").end) == (True, 0)


def test_a_quote_is_as_long_as_a_reviewer_reads() -> None:
    assert found(quote="x" * 300).quote == "x" * 300
    assert found(quote="x" * 301).quote == "x" * 299 + "…"


def test_what_is_not_ours_to_say_is_said_by_its_name() -> None:
    own = finding("extra.heron", (0, 1), NOTE, quote="", context="", text="Heron")
    assert (own.code, own.text) == ("extra.heron", "matches the pattern Heron of skill-worker.yaml")
    assert found().text != "control.dropped"


def test_the_lines_around_a_span_end_where_they_are_too_long() -> None:
    text = f"first\nsecond\nthird\n{'x' * 3000}\nlast"
    at = text.index("second")
    assert lines_around(text, at, at + 3) == (6, 12)
    assert lines_around(text, 0, 5) == (0, 5)
    last = text.index("last")
    assert lines_around(text, last, last + 1) == (last, len(text))
    long = text.index("x")
    assert lines_around(text, long + 1500, long + 1501)[1] == long + 2501
    assert lines_around(text, long + 2500, long + 2501)[1] == long + 3000


def change(feedback_id: str | None) -> Change:
    return Change(
        id="c1",
        key="k",
        digest="d",
        tenant_id="t",
        agent_id="a",
        kind=Kind.MEMORY,
        target_id="m",
        target_name="m",
        operation=Operation.CREATE,
        before=None,
        after=None,
        base_hash="",
        status=ChangeStatus.HELD,
        feedback_id=feedback_id,
    )


@pytest.mark.parametrize(
    ("feedback", "facts", "standing"),
    [
        (None, Facts(), Standing.KNOWN),  # a person asks for it themselves
        ("f", Facts(author="kim", is_known=True), Standing.KNOWN),
        ("f", Facts(author="kim"), Standing.FIRST_TIME),
        ("f", Facts(), Standing.ANONYMOUS),
        ("f", Facts(author=""), Standing.ANONYMOUS),
    ],
)
def test_who_said_it_is_known_or_not(
    feedback: str | None, facts: Facts, standing: Standing
) -> None:
    trust = trust_in(change(feedback), facts, ScreenConfig(), has_authority=False)
    assert trust == Trust(standing=standing)


def test_how_many_said_it_and_from_where_is_told() -> None:
    config = ScreenConfig(wary_sources=("forum", "mail-*"))
    facts = Facts(author="kim", source="mail-in", others=2, spread=7)
    assert trust_in(change("f"), facts, config, has_authority=True) == Trust(
        standing=Standing.FIRST_TIME, is_wary=True, independent=3, spread=7, has_authority=True
    )
    for source in ("mail", "a-forum", None):
        of_other = facts.model_copy(update={"source": source})
        assert not trust_in(change("f"), of_other, config, has_authority=True).is_wary


@pytest.mark.parametrize(
    ("trust", "raised"),
    [
        (Trust(standing=Standing.FIRST_TIME, has_authority=True, spread=2), True),
        (Trust(standing=Standing.ANONYMOUS, has_authority=True, spread=2), True),
        (Trust(standing=Standing.FIRST_TIME, has_authority=True, spread=1), False),
        (Trust(standing=Standing.FIRST_TIME, has_authority=False, spread=2), False),
        (Trust(standing=Standing.KNOWN, has_authority=True, spread=2), False),
        (
            Trust(standing=Standing.FIRST_TIME, has_authority=True, spread=2, independent=2),
            False,
        ),
        (Trust(is_wary=True, independent=9), True),
    ],
)
def test_what_nobody_answers_for_is_held(trust: Trust, raised: bool) -> None:
    relied = found("interference.relies"), found("second_look.interference")
    told = raise_severity([found(), *relied], trust)
    assert [one.severity for one in told] == [HOLD if raised else NOTE, NOTE, NOTE]


@pytest.mark.parametrize(
    ("name", "code"),
    [("Staff  Numbers!", "staff_numbers"), ("사번", "pattern"), ("_E-1_", "e_1")],
)
def test_a_pattern_has_a_code_of_plain_letters(name: str, code: str) -> None:
    own = ExtraPattern(name=name, pattern="x", severity=MASK)
    assert (own.code, own.masks) == (code, True)
    assert not ExtraPattern(name=name, pattern="x").masks


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"classes": {"controls": "off"}}, "controls"),
        ({"classes": {"control.dropped": "off"}}, "control.dropped"),
        ({"classes": {"crm.customer": "off"}}, "crm.customer"),
        ({"classes": {"crm": "off"}, "plugins": {"erp": None}}, "crm"),
        ({"plugins": {"control": None}}, "control"),
        ({"plugins": {"second_look": None}}, "second_look"),
        ({"plugins": {"CRM": None}}, "CRM"),
        ({"plugin_seconds": 0}, "plugin_seconds"),
        ({"plugin_seconds": 601}, "plugin_seconds"),
        ({"second_look": ""}, "second_look"),
        ({"second_look": "m" * 201}, "second_look"),
    ],
)
def test_a_setting_of_the_screen_that_fits_nothing_is_refused(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        ScreenConfig.model_validate(given)


def test_settings_of_the_screen_are_taken_as_yaml_reads_them() -> None:
    looks = [
        ScreenConfig.model_validate({"second_look": given}).second_look
        for given in (True, False, "auto", "gpt-5")
    ]
    assert looks == ["on", "off", "auto", "gpt-5"]
    config = ScreenConfig.model_validate(
        {
            "classes": {"crm": "off", "crm.customer": "hold", "second_look.interference": "off"},
            "plugins": {"crm": None},
            "plugin_seconds": 600,
        }
    )
    assert config.classes["crm.customer"] is ClassSetting.HOLD
