"""The files in `docs/deploy`, parsed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import typer
import yaml

from core.app.settings import Settings
from core.entrypoints.cli.app import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
SYSTEMD = DEPLOY / "systemd"
SETTINGS = {name.upper() for name in Settings.model_fields}
WORKLOADS = {"Deployment", "Job"}
Tree = Any  # any YAML value


def documents(path: Path) -> list[Tree]:
    """Return the documents of a YAML file."""
    return [found for found in yaml.safe_load_all(path.read_text("utf-8")) if found]


def manifests() -> list[Tree]:
    """Return every Kubernetes object."""
    return [found for path in sorted(KUBERNETES.rglob("*.yaml")) for found in documents(path)]


def manifest(kind: str, name: str) -> Tree:
    """Return one Kubernetes object."""
    [found] = [
        m for m in manifests() if (m["kind"], m.get("metadata", {}).get("name")) == (kind, name)
    ]
    return found


def containers(workload: Tree) -> list[Tree]:
    """Return a workload's containers, init containers first."""
    pod = workload["spec"]["template"]["spec"]
    return [*pod.get("initContainers", []), *pod["containers"]]


def compose_services() -> Mapping[str, Tree]:
    """Return the services of compose.yaml by name."""
    [found] = documents(DEPLOY / "compose.yaml")
    services: Mapping[str, Tree] = found["services"]
    return services


def env_file(path: Path) -> dict[str, str]:
    """Return the NAME=VALUE lines of a file, including commented ones."""
    return dict(
        re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$", path.read_text("utf-8"), re.MULTILINE)
    )


def unit(name: str) -> list[tuple[str, str]]:
    """Return the NAME=VALUE lines of a systemd unit, in order; names may repeat."""
    lines = (SYSTEMD / name).read_text("utf-8").splitlines()
    return [
        (key, value)
        for key, _, value in (line.partition("=") for line in lines)
        if value and not key.startswith("#")
    ]


def instructions(stage: str) -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions of one stage and of those it is built from."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.partition(" ")[::2] for line in text.splitlines() if line and line[0] not in "# "]
    stages: dict[str, list[tuple[str, str]]] = {}
    current: list[tuple[str, str]] = []
    for word, rest in lines:
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            current = [*stages.get(base, []), (word, rest)]
            stages[name] = current
        else:
            current.append((word, rest.strip()))
    return stages[stage]


@cache
def _program() -> Any:
    return typer.main.get_command(app)


def parse_command(words: list[str]) -> None:
    """Parse a command of the program without running it. Raises KeyError, click's UsageError."""
    command: Any = _program()
    rest = list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    command.make_context(command.name, rest)


def blocks(text: str, *languages: str) -> list[str]:
    """Return the fenced blocks of a page that are in one of the languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for language, block in found if language in languages]


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the words after `skill-worker` in each command that a page quotes."""
    lines = [line for block in blocks(text, "", "bash") for line in block.splitlines()]
    spans = re.findall(r"`([^`\n]*skill-worker [^`\n]*)`", text)
    for line in (*lines, *spans):
        said = re.split(r"\s{2,}#", line)[0].strip()
        found = re.search(r"(?:^|/bin/|worker |--rm )skill-worker ([a-z-]+(?: .*)?)$", said)
        if found:
            yield shlex.split(found[1])
