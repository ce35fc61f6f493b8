"""Knowledge import, export and agent setup, as users call the commands."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.support.commands import finish, start
from tests.support.used_home import served_home, used_home

MEMORY: dict[str, JsonValue] = {"kind": "MEMORY", "agent_id": "a"}


@pytest.fixture(scope="module")
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as here:
        add_agent(here)
        yield here


@pytest.fixture
def own_home() -> Iterator[Path]:
    with used_home() as here:
        yield here


def add_agent(home: Path) -> None:
    arguments = ("--tenant", "t", "--name", "A", "--goal", "Always answer in Korean.")
    code, _, err = finish(home, "agents", "add", "--id", "a", *arguments)
    assert code == 0, err


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(map(str, lines)), encoding="utf-8")
    return path


def line(number: int) -> str:
    return json.dumps(
        {**MEMORY, "content": f"사실 {number}: 값은 {number * 7919}이다"}, ensure_ascii=False
    )


def test_an_import_names_bad_lines_and_an_export_gives_the_good_ones(home: Path) -> None:
    file = write(home / "in.jsonl", line(1), "{oops", line(1), line(2))
    code, out, err = finish(home, "knowledge", "import", str(file))
    assert (code, out) == (1, "2 created, 1 known, 1 refused, 1 with a warning\n")
    assert "line 2: it is no JSON" in err
    assert "line 4: warning: near MEMORY" in err
    code, out, _ = finish(home, "knowledge", "import", str(file), "--json")
    told = json.loads(out)
    assert (code, told["counts"]["known"], told["counts"]["refused"]) == (1, 3, 1)
    assert [(item["line"], item["outcome"]) for item in told["items"]] == [
        (1, "known"),
        (3, "known"),
        (4, "known"),
    ]
    assert told["problems"][0]["line"] == 2
    assert finish(home, "knowledge", "export", "-o", str(home / "out.jsonl"))[0] == 0
    exported = [json.loads(text) for text in (home / "out.jsonl").read_text("utf-8").splitlines()]
    assert {item["content"] for item in exported} == {
        json.loads(line(n))["content"] for n in (1, 2)
    }
    code, out, _ = finish(home, "knowledge", "import", "out.jsonl", "--dry-run")
    assert (code, out) == (0, "dry run, nothing was stored: 2 known\n")


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("knowledge", "import", "nothing.jsonl"), 5, "not_found"),
        (("knowledge", "import", "in.jsonl", "--agent", "nobody"), 5, "not_found"),
        (("agents", "setup", "nobody"), 5, "not_found"),
    ],
)
def test_each_failure_has_its_code(
    home: Path, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    given, out, _ = finish(home, *arguments, "--json")
    assert (given, json.loads(out)["error"]["kind"]) == (code, kind)


def test_an_import_that_is_stopped_says_how_far_it_is_and_goes_on(own_home: Path) -> None:
    add_agent(own_home)
    many = write(own_home / "many.jsonl", *(line(number) for number in range(3000)))
    process = start(own_home, "knowledge", "import", str(many))
    while '"items": []' in finish(own_home, "changes", "list", "--limit", "1", "--json")[1]:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130
    stored = int(out.split(" created")[0])
    assert 0 < stored < 3000
    assert "repeat the import to go on" in err
    few = write(own_home / "few.jsonl", *(line(number) for number in range(stored + 1)))
    repeated = finish(own_home, "knowledge", "import", str(few))[1]
    # It is similar to the others.
    assert repeated == f"1 created, {stored} known, 1 with a warning\n"


def test_an_agent_is_set_up_once(home: Path) -> None:
    code, out, _ = finish(home, "agents", "setup", "a", "--json")
    first = json.loads(out)
    assert (code, first["new"], first["status"]) == (0, True, "queued")
    assert json.loads(finish(home, "agents", "setup", "a", "--json")[1])["new"] is False
    assert finish(home, "run", "--once", "--offline")[0] == 0
    assert "Always answer in Korean." in finish(home, "knowledge", "list")[1]
    assert "asked for it before: completed" in finish(home, "agents", "setup", "a")[1]
    assert finish(home, "agents", "setup", "a", "--again")[1].startswith("queued ")
    assert finish(home, "agents", "add", "--id", "n", "--tenant", "t", "--name", "N")[0] == 0
    code, _, err = finish(home, "agents", "setup", "n")
    assert code == 1
    assert "neither goal nor persona" in err
