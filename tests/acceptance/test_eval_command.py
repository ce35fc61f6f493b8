"""Judging a model by labelled feedback, by what an agent knows, and by runs on record."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

from starlette.responses import Response

from tests.support.home import Home
from tests.support.openai_server import Json, call, openai_server
from tests.support.waiting import AT_LAST

RULE = "Orders over 1000000 KRW need a manager's approval."
AGENT = {"id": "desk", "name": "Desk", "goal": "Answers orders"}
LEARNS = {
    "id": "learns",
    "lang": "en",
    "feedback": "Always show amounts in KRW without decimals.",
    "expect": [{"kind": "MEMORY", "operation": "CREATE"}],
    "must_keep": ["KRW"],
}
THANKS = {"id": "thanks", "lang": "en", "feedback": "thank you!", "expect": [{"kind": "NONE"}]}
TABLE = {
    "kind": "DMN_RULE",
    "id": "t1",
    "name": "Approval",
    "inputs": {"amount": "number"},
    "outputs": {"who": "string"},
    "rows": [["<= 1000000", "desk"], ["> 1000000", "manager"]],
}
SKILL = {"kind": "SKILL", "id": "s1", "name": "refund", "description": "Refund.", "steps": ["Pay"]}
KNOWN = {
    "id": "known",
    "lang": "ko",
    "feedback": "고마워요!",
    "known": [TABLE, SKILL, {"kind": "MEMORY", "id": "m1", "text": "금액은 원화로 적는다"}],
    "expect": [{"kind": "MEMORY", "operation": "DELETE", "target": "m1"}],
}


def written(path: Path, *cases: dict[str, object]) -> str:
    made = [json.dumps({"agent": AGENT, "known": [], **case}) for case in cases]
    path.write_text("\n".join(made), encoding="utf-8")
    return str(path)


UNSTORED = {
    **KNOWN,
    "id": "unstored",
    "known": [{**SKILL, "id": one, "name": "Not a name of a skill"} for one in "ab"],
}


def test_a_model_is_judged_by_a_set_of_ones_own(home: Home, tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", LEARNS, THANKS, KNOWN)
    out, junit = tmp_path / "a.json", tmp_path / "a.xml"
    files = ("--out", str(out), "--junit", str(junit), "--least", "0.7")
    code, shown, told = home.call("eval", "run", own, "--model", "offline", *files)
    assert code == 1, told
    assert "2/3 67%" in shown
    assert "0/1 0%" in shown  # the Korean one
    assert 'failures="1"' in junit.read_text("utf-8")
    found = home.ask("eval", "compare", str(out), str(out))["paired"]
    assert isinstance(found, dict)
    assert (found["both"], found["neither"], found["better"]) == (2, 1, "undecided")


@contextmanager
def stopping_at(number: int) -> Iterator[str]:
    """Yield the address of a model that sees nothing to learn; Ctrl-C comes while it is asked."""
    asked = itertools.count(1)
    ready: Queue[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Queue()

    def answer(given: Json) -> Response:
        if next(asked) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return call("no_action", reason="only thanks", category="noise")(given)

    async def serve() -> None:
        done = asyncio.Event()
        async with openai_server([]) as server:
            server.always = answer
            ready.put((server.url, asyncio.get_running_loop(), done))
            await done.wait()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    url, loop, done = ready.get(timeout=AT_LAST)
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


def test_what_was_decided_before_ctrl_c_is_written_and_the_rest_named(
    home: Home, tmp_path: Path
) -> None:
    own = written(tmp_path / "own.jsonl", *({**THANKS, "id": f"c{n}"} for n in range(4)))
    out, junit = tmp_path / "a.json", tmp_path / "a.xml"
    files = ("--out", str(out), "--junit", str(junit), "--concurrency", "1")
    with stopping_at(2) as url:
        home.monkeypatch.setenv("LLM_PROXY_URL", url)
        home.monkeypatch.setenv("LLM_API_KEY", "k")
        code, shown, told = home.call("eval", "run", own, "--model", "openai:gpt-4o", *files)
    assert code == 130, told
    report = json.loads(out.read_text("utf-8"))
    decided = {one["id"] for one in report["results"] if one["is_right"]}
    assert 0 < len(decided) == len(report["results"]) < 4
    assert decided | set(report["undecided"]) == {"c0", "c1", "c2", "c3"}
    left = 4 - len(decided)
    assert f"not decided: {left} of 4 cases" in shown
    assert f"{len(decided)}/{len(decided)} 100%" in shown
    assert f'failures="0" errors="0" skipped="{left}"' in junit.read_text("utf-8")


def test_what_cannot_be_judged_or_kept_is_told_before_a_model_is_asked(
    home: Home, tmp_path: Path
) -> None:
    own = written(tmp_path / "own.jsonl", LEARNS, KNOWN)
    (tmp_path / "cp949.jsonl").write_bytes("환불".encode("cp949"))
    (tmp_path / "cut.jsonl").write_text('{"id": "c3"', encoding="utf-8")
    nowhere, not_utf8 = str(tmp_path / "none" / "a.json"), str(tmp_path / "cp949.jsonl")
    wrong = {
        (own, "--model", "offline", "--out", nowhere): f"{nowhere} cannot be written",
        (own, "--model", "offline", "--junit", str(tmp_path)): "cannot be written",
        (own, "--model", "offline", "--lang", "fr"): "no cases in the language 'fr'",
        (own,): "--model offline",
        (not_utf8, "--model", "offline"): f"{not_utf8} is not UTF-8 text",
        (str(tmp_path / "cut.jsonl"), "--model", "offline"): "line 1: invalid JSON",
    }
    for given, why in wrong.items():
        code, shown, told = home.call("eval", "run", *given)
        assert (code in {1, 4}, shown) == (True, "")
        assert why in told
        assert "judging" not in told
    assert "it has cases in: en, ko" in home.call("eval", "run", own, "--lang", "fr")[2]


def test_what_is_known_and_cannot_be_stored_fails_its_case_alone(
    home: Home, tmp_path: Path
) -> None:
    own = written(tmp_path / "own.jsonl", THANKS, UNSTORED)
    (report,) = home.ask("eval", "run", own, "--model", "offline", "--no-floor")["reports"]  # type: ignore[misc]
    right, failed = report["results"]  # type: ignore[index, call-overload]
    assert (right["is_right"], failed["is_right"]) == (True, False)
    assert "'a'" in failed["failed"]


def test_a_case_without_knowledge_is_decided_by_what_is_there(home: Home, tmp_path: Path) -> None:
    learns = {**LEARNS, "known": None, "tenant": "t", "agent": {"id": "a"}}
    own = written(tmp_path / "own.jsonl", learns)
    (report,) = home.ask("eval", "run", own, "--model", "offline")["reports"]  # type: ignore[misc]
    (result,) = report["results"]  # type: ignore[index, call-overload]
    assert (result["is_right"], result["is_kept"]) == (True, None)  # type: ignore[index, call-overload]
    assert home.items("knowledge", "list") == home.items("feedback", "list") == []
    nobody = written(tmp_path / "own.jsonl", {**learns, "agent": {"id": "nobody"}})
    assert "nobody" in str(home.fails("eval", "run", nobody, "--model", "offline", code=5))


def test_tagged_runs_judge_two_variants(home: Home, tmp_path: Path) -> None:
    assert home.fails("eval", "compare", "offline", "offline", "--tag", "golden", code=1)
    for text in (RULE, "thank you!"):
        home.call("feedback", "add", "--agent", "a", "--tenant", "t", "--text", text)
    home.call("run", "--once", "--offline")
    runs = [str(run["id"]) for run in home.items("runs", "list")]
    for run in runs:
        home.call("runs", "tag", run, "golden")
    (tmp_path / "react_system.md").write_text("Decide.", encoding="utf-8")
    other = f"offline@{tmp_path}"
    found = home.ask("eval", "compare", "offline", other, "--tag", "golden")["paired"]
    assert isinstance(found, dict)
    assert (found["cases"], found["both"], found["better"]) == (2, 2, "undecided")
    code, shown, _ = home.call("runs", "replay", runs[0], "--model", "offline")
    assert (code, "It decides the same." in shown) == (0, True)
    code, shown, _ = home.call("runs", "show", runs[0])
    assert "golden" in shown


def test_a_run_that_decides_otherwise_ends_with_one(home: Home) -> None:
    home.call("feedback", "add", "--agent", "a", "--tenant", "t", "--text", RULE)
    home.call("run", "--once", "--offline")
    (run,) = home.items("runs", "list")
    home.fails("runs", "replay", "nothing", "--model", "offline", code=5)
    home.policy("locked")
    code, shown, _ = home.call("runs", "replay", str(run["id"]), "--model", "offline", "--json")
    found = json.loads(shown)
    assert (code, found["likeness"], found["status_repeated"]) == (1, "otherwise", "no_action")
