"""The commands in the deployment and on its pages exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.entrypoints.cli.app import run
from tests.support import deploy

PAGES = sorted(deploy.DEPLOY.glob("*.md"))


def _entry(stage: str) -> list[str]:
    given = dict(deploy.instructions(stage))
    entry: list[str] = json.loads(given["ENTRYPOINT"]) + json.loads(given["CMD"])
    return entry


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_commands_can_be_parsed(page: Path) -> None:
    commands = list(deploy.commands_in(page.read_text("utf-8")))
    assert len(commands) > 3
    for words in commands:
        deploy.parse_command(words)


def test_a_command_that_does_not_exist_is_noticed() -> None:
    [unknown] = deploy.commands_in("```\nskill-worker feedback burn ID\n```")
    with pytest.raises(KeyError):
        deploy.parse_command(unknown)


@pytest.mark.parametrize("stage", ["worker", "computer-use"])
def test_an_image_starts_a_command_of_the_program(stage: str) -> None:
    program, *words = _entry(stage)
    assert program == "skill-worker"
    deploy.parse_command(words)


def test_the_worker_is_what_is_built_where_no_target_is_named() -> None:
    froms = [rest for word, rest in _all_instructions() if word == "FROM"]
    assert froms[-1].endswith(" AS worker")
    assert _entry("worker") == ["skill-worker", "run"]


@pytest.mark.parametrize("stage", ["worker", "computer-use"])
def test_an_image_runs_as_a_number_that_is_not_root(stage: str) -> None:
    *_, user = [rest for word, rest in deploy.instructions(stage) if word == "USER"]
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)


def test_the_health_check_asks_the_page_of_life(tmp_path: Path) -> None:
    [check] = [rest for word, rest in deploy.instructions("worker") if word == "HEALTHCHECK"]
    command = json.loads(check[check.index("[") :])
    compile(command[2], "HEALTHCHECK", "exec")
    assert "/healthz" in command[2]


def _all_instructions() -> list[tuple[str, str]]:
    text = (deploy.DEPLOY / "Dockerfile").read_text("utf-8")
    lines = [line.partition(" ") for line in text.splitlines() if line[:1].isupper()]
    return [(word, rest) for word, _, rest in lines]


def test_compose_and_kubernetes_start_commands_of_the_program() -> None:
    services = deploy.compose_services().values()
    ours = [s for s in services if str(s["image"]).startswith("skill-worker")]
    commands = [service["command"] for service in ours if "command" in service]
    workloads = [m for m in deploy.manifests() if m["kind"] in deploy.WORKLOADS]
    commands += [c["args"] for workload in workloads for c in deploy.containers(workload)]
    assert len(commands) == 10
    for words in commands:
        deploy.parse_command(words)


def test_units_start_commands_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    for path in deploy.SYSTEMD.glob("*.service"):
        started = dict(deploy.unit(path.name))["ExecStart"].split()
        assert started[0] == "/opt/skill-worker/bin/skill-worker"
        deploy.parse_command(started[1:])
        assert run([*started[1:], "--help"]) == 0


def test_workers_wait_for_the_schemas() -> None:
    services = deploy.compose_services()
    waits_for = services["worker"]["depends_on"]["migrate"]["condition"]
    assert (services["migrate"]["command"], waits_for) == (
        ["db", "migrate"],
        "service_completed_successfully",
    )
    [waiting] = deploy.manifest("Deployment", "worker")["spec"]["template"]["spec"][
        "initContainers"
    ]
    assert waiting["args"] == ["db", "status"]


def test_the_build_sees_what_it_copies_and_little_else() -> None:
    lines = (deploy.DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    seen = {line[1:] for line in lines if line.startswith("!")}
    stages = deploy.instructions("build")
    copied = {name for word, rest in stages if word == "COPY" for name in rest.split()[:-1]}
    assert "*" in lines
    assert copied == seen
    assert all((deploy.ROOT / name).exists() for name in seen)
