"""Hooks that run here: programs without a shell, Python, the model, messages to people."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from pydantic import JsonValue

from core.adapters.hooks.local import CommandAsker, PythonAsker
from core.delivery.asking import HookTarget
from core.delivery.hooks import Hook
from core.delivery.notices import notice_text
from core.domain.messages import Message
from core.domain.models import Change
from core.domain.models.deliveries import Decision, Notice, Outcome, Sent
from tests.support.waiting import until

AT = datetime(2026, 1, 1, tzinfo=UTC)
NOTICE = Notice("dlv_1", "change.held", AT, "t", {"target_name": "Kim; rm -rf $HOME"})


async def no_change(change_id: str) -> Change:
    raise AssertionError(change_id)


def program(*lines: str) -> CommandAsker:
    return CommandAsker([sys.executable, "-c", "\n".join(lines)], {"MARK": "1"}, None)


async def test_a_program_gets_json_and_little_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROXY_API_KEY", "secret")
    sent = await program(
        "import json, os, sys",
        "data = json.load(sys.stdin)['data']",
        "known = sorted(set(os.environ) - {'LC_CTYPE'})",
        "print(json.dumps({'decision': 'deny', 'note': f\"{data['target_name']} {known}\"}))",
    ).ask(NOTICE)
    assert sent.answer is not None
    assert sent.answer.decision is Decision.DENY
    assert sent.answer.note == "Kim; rm -rf $HOME ['LANG', 'MARK', 'PATH']"


async def test_a_program_that_ends_badly_is_tried_again() -> None:
    sent = await program("import sys; sys.exit(3)").ask(NOTICE)
    assert (sent.outcome, sent.status) == (Outcome.LATER, "exit 3")
    missing = await CommandAsker(["/no/such/program"], {}, None).ask(NOTICE)
    assert (missing.outcome, missing.status) == (Outcome.LATER, "start")


async def test_a_program_that_is_cut_off_is_killed_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = program(
        "import os, subprocess, sys, time",
        "wait = [sys.executable, '-c', 'import time; time.sleep(60)']",
        "one = subprocess.Popen(wait)",
        "two = subprocess.Popen(wait, start_new_session=True)",
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{one.pid}} {{two.pid}}')",
        "time.sleep(60)",
    )
    asked = asyncio.create_task(command.ask(NOTICE))
    await until(
        lambda: asyncio.to_thread(lambda: pids.exists() and pids.read_text().count(" ") == 2)
    )
    asked.cancel()  # as its time-out does
    with pytest.raises(asyncio.CancelledError):
        await asked
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 3
    await until(lambda: asyncio.to_thread(lambda: not any(map(_runs, started))))


async def test_what_takes_too_long_is_tried_again() -> None:
    given = {"name": "slow", "event": "change.held", "command": ["x"], "timeout": 0.01}
    slow = HookTarget(
        Hook.model_validate(given), program("import signal", "signal.pause()"), no_change
    )
    sent = await slow.ask(NOTICE)
    assert (sent.outcome, sent.status) == (Outcome.LATER, "timeout")


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def in_words(given: dict[str, JsonValue]) -> str:
    return f"saw {given['type']}"


async def refuses(given: dict[str, JsonValue]) -> bool:
    await asyncio.sleep(0)
    return False


@pytest.mark.parametrize(
    ("name", "decision", "note"),
    [("in_words", Decision.ALLOW, "saw change.held"), ("refuses", Decision.HOLD, "")],
)
async def test_a_function_is_called_and_its_answer_read(
    name: str, decision: Decision, note: str
) -> None:
    sent = await PythonAsker(f"{__name__}:{name}").ask(NOTICE)
    assert sent.answer is not None
    assert (sent.answer.decision, sent.answer.note) == (decision, note)


async def test_a_function_that_is_not_there_is_named() -> None:
    hook = Hook.model_validate({"name": "p", "event": "change.held", "python": "no.such:thing"})
    sent = await HookTarget(hook, PythonAsker("no.such:thing"), no_change).ask(NOTICE)
    assert "no.such:thing" in str(sent.error)
    assert "package.module:function" in str(sent.error)


class Raises:
    async def ask(self, notice: Notice) -> Sent:
        raise ZeroDivisionError(notice.data["target_name"])


async def test_a_defect_in_a_hook_is_told_without_the_words_of_the_event() -> None:
    hook = Hook.model_validate({"name": "p", "event": "change.held", "python": "a:b"})
    sent = await HookTarget(hook, Raises(), no_change).ask(NOTICE)
    assert (sent.outcome, "ZeroDivisionError" in str(sent.error)) == (Outcome.LATER, True)
    assert "Kim" not in str(sent.error)


@pytest.mark.parametrize(
    ("language", "title", "why"),
    [
        ("en", "Waits for your review: Kim", "Why: every change"),
        ("ko", "검토를 기다립니다: Kim", "이유: "),
    ],
)
def test_people_are_told_in_their_language_with_the_link(
    language: str, title: str, why: str
) -> None:
    data: dict[str, JsonValue] = {
        "target_name": "Kim",
        "kind": "MEMORY",
        "operation": "CREATE",
        "because": [Message("policy.every_change")],
        "url": "https://learn.example.com/console/review?id=c1",
    }
    told, body = notice_text(Notice("d", "change.held", AT, "t", data), language)
    assert told == title
    assert why in body
    assert ("every change" in body) is (language == "en")
    assert body.endswith("https://learn.example.com/console/review?id=c1")
