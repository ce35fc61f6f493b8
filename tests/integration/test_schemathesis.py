"""Schemathesis finds nothing: whatever a call contains, the API answers as its document says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.api_server import Served, api_server

HOOKS = "tests.support.schemathesis_hooks"
STREAMS = "events$"  # they do not end: tests of their own cover them
OPERATORS = "^/v1/intake/"  # a pause is for all tenants, and so is who may ask for it
# Calls that follow each other by links depend on what the ones before have left, which no seed
# makes the same: they are for the night, where a rare case is looked into and blocks nobody.
REPEATABLE = ("--phases", "examples,coverage,fuzzing", "--generation-deterministic")


@pytest.fixture
def served(database: str, tmp_path: Path) -> Served:
    with api_server(database, tmp_path) as opened:
        yield opened


def search(served: Served, secret: str, *options: str) -> tuple[int, str]:
    """Run Schemathesis with all its checks; return its exit code and output."""
    examples = os.environ.get("API_TEST_EXAMPLES", "4")
    options = (
        *("--header", f"Authorization: Bearer {secret}"),
        *("--exclude-checks", "positive_data_acceptance"),  # the hooks have one that knows words
        *("--max-examples", examples),
        *("--suppress-health-check", "too_slow"),  # that is a matter of the machine
        *("--continue-on-failure", "--no-color", *options),
    )
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": HOOKS}
    environment["API_TEST_KNOWN_IDS"] = json.dumps(served.known)
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            "run",
            f"{served.url}/v1/openapi.json",
            *options,
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.timeout(3600)  # for the longer search
@pytest.mark.parametrize(
    "how", [pytest.param(REPEATABLE, id="ci"), pytest.param((), marks=pytest.mark.nightly)]
)
def test_it_finds_nothing(served: Served, how: tuple[str, ...]) -> None:
    others = f"{STREAMS}|{OPERATORS}"
    code, said = search(served, served.of_t, "--exclude-path-regex", others, *how)
    assert code == 0, said
    code, said = search(served, served.of_all, "--include-path-regex", OPERATORS, *how)
    assert code == 0, said
