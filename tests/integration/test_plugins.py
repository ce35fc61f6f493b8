"""What `new` writes installs, passes its tests, and a worker uses it: all four kinds at once."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from core.app.bootstrap.sources import feedback_sources
from core.app.program import open_app
from core.domain.errors import ConfigurationError
from core.entrypoints.cli.app import run
from tests.support.api import settings_of
from tests.support.home import Home
from tests.support.plugins import install, on_path

NAMES = {"source": "ticket-desk", "screen": "bird", "hook": "notebook", "store": "shelf"}
NAME = NAMES["source"]
ROOT = Path(__file__).parents[2]
# As `pip install` does, in the time of an import: hatchling builds a wheel, which is unpacked.
_BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
_CONFIG = """
sources:
  ticket-desk: {said: $DESK_FOLDER/said.jsonl, ended: $DESK_FOLDER/ended.jsonl}
screen:
  plugins:
    bird: {words: [bluebird, 파랑새]}
hooks:
- name: note
  event: [change.held, change.applied]
  plugin: {notebook: {file: $DESK_FOLDER/told.jsonl}}
stores:
  skills:
    shelf: {file: $DESK_FOLDER/skills.sqlite}
"""
_SAID = (
    "Ms. Kim wants PDFs",
    "Mr. Lee calls the project Bluebird in mails",
    "How to settle a partial refund: first check the amount, then ask the lead, then pay",
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders that `new` writes, by kind."""
    folder = tmp_path_factory.mktemp("new")
    for kind, name in NAMES.items():
        assert run(["new", kind, name, "--to", str(folder)]) == 0
    return {kind: folder / f"skill-worker-{name}" for kind, name in NAMES.items()}


@pytest.fixture(scope="module")
def site(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on Python's path in which the packages are installed, one of them as pip does."""
    folder = tmp_path_factory.mktemp("site")
    made = subprocess.run(
        [sys.executable, "-c", _BUILD, str(folder)],
        cwd=packages["source"],
        capture_output=True,
        text=True,
        check=True,
    )
    with zipfile.ZipFile(folder / made.stdout.split()[-1]) as archive:
        archive.extractall(folder)
    for kind in ("screen", "hook", "store"):
        project = tomllib.loads((packages[kind] / "pyproject.toml").read_text("utf-8"))["project"]
        install(folder, project["name"], project["entry-points"])
        module = f"skill_worker_{NAMES[kind]}"
        (folder / module).symlink_to(packages[kind] / "src" / module)
    with on_path(folder):
        yield folder


@pytest.mark.nightly  # in CI the next test uses each of them; this takes a process of its own
def test_what_new_writes_passes_its_own_tests_once_it_is_installed(
    packages: dict[str, Path], site: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-c", str(packages["screen"] / "pyproject.toml"), *map(str, packages.values())),
        ],
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # 19 of a source, and at least as many of each other suite as there are today.
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= 70


def test_a_worker_uses_what_is_installed_and_named(home: Home, site: Path) -> None:
    pieces = [
        {"id": str(number), "tenant_id": "t", "agent_ids": ["a"], "content": content}
        for number, content in enumerate(_SAID)
    ]
    said = "\n".join(map(json.dumps, pieces))
    (home.path / "said.jsonl").write_text(said, encoding="utf-8")
    (home.path / "skill-worker.yaml").write_text(_CONFIG, encoding="utf-8")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(home.path / "skill-worker.yaml"))
    home.monkeypatch.setenv("DESK_FOLDER", str(home.path))
    assert home.call("run", "--once", "--offline")[0] == 0
    ended = [json.loads(line) for line in (home.path / "ended.jsonl").read_text().splitlines()]
    assert {one["id"]: one["status"] for one in ended} == {
        "0": "completed",
        "1": "held",  # by the screen
        "2": "completed",
    }
    told = [json.loads(line)[1] for line in (home.path / "told.jsonl").read_text().splitlines()]
    assert sorted(one["type"] for one in told) == [
        "change.applied",
        "change.applied",
        "change.held",
    ]
    (held,) = [one["data"] for one in told if one["type"] == "change.held"]
    assert held["findings"] == ["bird.word"]
    with sqlite3.connect(home.path / "skills.sqlite") as skills:
        kept = skills.execute("SELECT DISTINCT tenant, path FROM files ORDER BY path").fetchall()
    skills.close()
    assert ("t", "SKILL.md") in kept
    assert not [*(home.path / "home").glob("skills/*/*")]  # the worker's own store has none
    _, doctor, _ = home.call("doctor", "--json")
    checks = {check["name"]: check["detail"] for check in json.loads(doctor)["items"]}
    assert "bird of screens (skill-worker-bird 0.1.0)" in checks["plug-ins"]
    assert checks["source ticket-desk"] == "ticket-desk answers"
    assert "kept by the plug-in shelf" in checks["skill API"]


def test_a_screen_masks_what_comes_in_and_keeps_out_what_it_cannot_look_at(
    home: Home, site: Path, tmp_path: Path
) -> None:
    screens = {"skill_worker.screens": {"wary": "tests.support.plugins:open_wary"}}
    install(tmp_path, "wary-package", screens)
    config = home.path / "skill-worker.yaml"
    config.write_text(_CONFIG.replace("    bird:", "    wary: {}\n    bird:"), encoding="utf-8")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(config))
    home.monkeypatch.setenv("DESK_FOLDER", str(home.path))
    said = home.path / "said.jsonl"
    lines = [
        {"id": f"{number}", "tenant_id": "t", "agent_ids": ["a"], "content": content}
        for number, content in enumerate(("Ms. Kim is CUST-12 and likes PDFs", "poison: CUST-34"))
    ]
    said.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with on_path(tmp_path):
        code, out, _ = home.call("feedback", "add", str(said), "--json")
        assert code == 1
        (bad,) = json.loads(out)["problems"]
        assert bad["line"] == 2
        assert "screen wary could not look" in bad["reason"]
        assert home.call("run", "--once", "--offline")[0] == 0
        code, out, _ = home.call("screen", "scan", "--json")
        assert (code, json.loads(out)["items"]) == (0, [])
    pieces = home.items("feedback", "list")
    contents = {str(piece["content"]) for piece in pieces}
    assert contents == {"Ms. Kim is [masked:wary.customer] and likes PDFs"}
    assert [one["code"] for one in pieces[0]["masked"]] == ["wary.customer"]  # type: ignore
    ended = (home.path / "ended.jsonl").read_text("utf-8")
    assert [json.loads(line)["id"] for line in ended.splitlines()] == ["0"]  # the other waits


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ("nowhere: {}", "no installed package has it"),
        (f"{NAME}: {{}}", "needs said"),
        (f"{NAME}: {{said: $NOT_SET_AT_ALL}}", "NOT_SET_AT_ALL is not set"),
    ],
)
async def test_a_source_that_cannot_be_opened_is_named(
    database: str, tmp_path: Path, site: Path, sources: str, told: str
) -> None:
    config = tmp_path / "skill-worker.yaml"
    config.write_text(f"sources:\n  {sources}\n", encoding="utf-8")
    settings = settings_of(database, tmp_path, skill_worker_config=config)
    async with open_app(settings) as app:
        with pytest.raises(ConfigurationError, match=told):
            async with feedback_sources(settings, app.stores):
                pass


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("hooks: [{name: n, event: change.held, plugin: {notebook: {files: x}}}]", "file"),
        ("hooks: [{name: n, event: change.held, plugin: {a: {}, b: {}}}]", "one plug-in here"),
        ("hooks: [{name: n, event: change.held, plugin: notebook, python: a.b}]", "notify, plugin"),
        ("stores: {skills: {shelf: {}}}", "file: Field required"),
        ("stores: {skills: notebook}", "are: shelf"),
        ("screen: {plugins: {bird: {words: 7}}}", "words"),
    ],
)
def test_options_that_do_not_fit_end_the_command(
    home: Home, site: Path, config: str, told: str
) -> None:
    (home.path / "skill-worker.yaml").write_text(config, encoding="utf-8")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(home.path / "skill-worker.yaml"))
    status, _, error = home.call("run", "--once", "--offline")
    assert status == 4
    assert told in error


def test_sources_of_ours_are_entry_points_that_lead_somewhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    places = project["entry-points"]["skill_worker.sources"]
    assert set(places) == {"langfuse", "langsmith", "slack"}
    for name, place in places.items():
        module, _, function = place.partition(":")
        assert name == import_module(module).NAME
        assert callable(getattr(import_module(module), function))


def test_a_folder_that_is_there_and_a_bad_name_are_refused(
    packages: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, folder in packages.items():
        assert run(["new", kind, NAMES[kind], "--to", str(folder.parent)]) == 1
        assert "is there already" in capsys.readouterr().err
        for name in ("Ticket Desk", "../up", "", "a" * 41, "파랑새"):
            assert run(["new", kind, name]) == 2
    assert run(["new", "screen", "payee"]) == 2  # a class of findings of ours
