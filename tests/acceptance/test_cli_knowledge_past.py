"""`skill-worker knowledge show --as-of`, as users call it: what was known when, and its cause."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from core.entrypoints.cli.app import run
from tests.acceptance.test_cli import Answer
from tests.support.home import Home

WON, DOLLAR = "금액은 원화로 적는다", "금액은 달러로 적는다"
_RULE = {
    "inputs": [{"name": "금액", "type": "number"}],
    "outputs": [{"name": "승인자", "type": "string"}],
    "rows": [{"inputs": {"금액": "> 10"}, "outputs": {"승인자": '"팀장"'}}],
}
_SKILL = (
    "---\nname: refund\ndescription: How to refund a part of an order.\n---\n# Refund\n\nPay.\n"
)


class Past(Home):
    """Commands, with short forms of those about the past."""

    def show(self, *arguments: str) -> Answer:
        """Run `knowledge show --json`, and return its answer."""
        return dict(self.ask("knowledge", "show", *arguments))

    def missing(self, *arguments: str, code: int = 5) -> tuple[str, str]:
        """Run `knowledge show --json`, and return the message and hint of its failure."""
        error = self.fails("knowledge", "show", *arguments, code=code)
        return str(error["message"]), str(error["hint"])

    def revert(self, change_id: JsonValue) -> None:
        """Revert a change."""
        assert self.call("changes", "revert", str(change_id))[0] == 0


@pytest.fixture
def home(home: Home) -> Past:
    return Past(**vars(home))


def now() -> str:
    return datetime.now(UTC).isoformat()


def option(hint: str) -> str:
    """Return the time that a hint suggests."""
    return hint.split("--as-of ")[1]


def test_a_memory_that_was_superseded_is_shown_as_it_stood(home: Past) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    then = now()
    home.bring(kind="MEMORY", id="m", content=DOLLAR)
    current, old = home.show("m"), home.show("m", "--as-of", then)
    assert (current["content"], current["version"], current["replaces"]) == (DOLLAR, 2, 1)
    assert current["relationship"] == "SUPERSEDES"
    assert (old["content"], old["version"], old["replaces"]) == (WON, 1, None)
    assert old["valid_to"] == current["valid_from"]
    assert (old["as_of"], current["valid_to"]) == (then, None)
    said = home.call("knowledge", "show", "m")[1]
    assert "version:      2 of 2" in said
    assert "valid until:  now" in said
    assert "relationship: SUPERSEDES version 1" in said
    assert "reason:       brought in from in.jsonl, line 1" in said
    home.revert(current["change_id"])
    said = home.call("knowledge", "show", "m")[1]
    assert f"reverts:      {current['change_id']}" in said
    assert "relationship: replaces version 2" in said


def test_before_it_was_known_and_after_it_was_deleted_the_hint_leads_to_it(home: Past) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    message, hint = home.missing("m", "--as-of", "2001-01-01")
    assert message.startswith("there was no MEMORY 'm' at 2001-01-01T")
    shown = home.show("m", "--as-of", option(hint))
    assert (shown["content"], shown["valid_from"]) == (WON, shown["valid_from"])
    home.revert(shown["change_id"])
    message, hint = home.missing("m")
    assert message.startswith("MEMORY 'm' was deleted at ")
    assert home.show("m", "--as-of", option(hint))["content"] == WON
    assert home.missing("m", "--as-of", now())[1] == hint.replace(
        "it stood until then as version 1", f"version 1 ({spans(shown, hint)}) ended before"
    )


def spans(shown: Answer, hint: str) -> str:
    """Return the span of a version that ended a microsecond after the time of a hint."""
    start = str(shown["valid_from"]).replace("Z", "+00:00")
    end = datetime.fromisoformat(option(hint)) + timedelta(microseconds=1)
    return f"{start} until {end.isoformat()}"


def test_a_deleted_skill_comes_back_with_its_files(home: Past) -> None:
    files: JsonValue = {"scripts/pay.sh": {"text": "#!/bin/sh\n", "executable": True}}
    home.bring(kind="SKILL", name="refund", content=_SKILL, files=files)
    current = home.show("refund")
    home.revert(current["change_id"])
    message, hint = home.missing("refund")
    assert message.startswith("SKILL 'refund' was deleted at ")
    old = home.show("refund", "--as-of", option(hint))
    assert old["content"] == _SKILL == current["content"]
    assert old["files"] == current["files"] == [
        {"path": "SKILL.md", "size": len(_SKILL), "executable": False},
        {"path": "scripts/pay.sh", "size": 10, "executable": True},
    ]  # fmt: skip
    said = home.call("knowledge", "show", "refund", "--as-of", option(hint))[1]
    assert "scripts/pay.sh  10" in said


def test_a_table_as_it_stood_is_a_grid(home: Past) -> None:
    rule: JsonValue = json.loads(json.dumps(_RULE))
    home.bring(kind="DMN_RULE", id="r", name="승인", rule=rule)
    said = home.call("knowledge", "show", "r", "--as-of", now())[1]
    assert "승인 (UNIQUE)" in said
    assert "│ > 10" in said


def test_a_name_that_one_item_has_stands_for_its_id(home: Past) -> None:
    rule: JsonValue = json.loads(json.dumps(_RULE))
    home.bring(kind="DMN_RULE", id="r", name="주문 승인 Lead", rule=rule)
    then = now()
    decomposed = unicodedata.normalize("NFD", "주문 승인 LEAD")
    assert home.show(decomposed)["id"] == home.show("주문 승인 lead", "--as-of", then)["id"] == "r"
    home.bring(
        kind="DMN_RULE", id="s", name="주문 승인 lead", rule=rule, agent_id="b", tenant_id="other"
    )
    message, hint = home.missing("주문 승인 Lead", code=1)
    assert message.endswith(": r (DMN_RULE of 't'), s (DMN_RULE of 'other')")
    assert hint == "give the id of one"
    assert home.show("주문 승인 Lead", "--tenant", "other")["id"] == "s"
    assert home.missing("주문")[0] == "nothing known has the id or the name '주문'"


def test_an_id_of_two_tenants_asks_whose(home: Past) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    then = now()
    home.bring(kind="MEMORY", id="m", content=DOLLAR, agent_id="b", tenant_id="other")
    message, hint = home.missing("m", code=1)
    assert message == "'m' is known in several places: MEMORY of 'other', MEMORY of 't'"
    assert hint == "add --tenant or --kind"
    assert home.show("m", "--tenant", "other")["content"] == DOLLAR
    assert home.show("m", "--as-of", then)["content"] == WON
    assert home.missing("m", "--kind", "SKILL")[0] == "nothing known has the id or the name 'm'"


@pytest.mark.parametrize("text", ["soon", "2026-02-30", "2026-11-21T02:12+25:00", ""])
def test_what_is_no_time_is_a_wrong_call(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert run(["knowledge", "show", "m", "--as-of", text, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "is no time" in error["message"]
    assert "2026-11-20" in error["hint"]
