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
CONFIG = """
headers = {{ Authorization = "Bearer {of_t}" }}

[[operations]]  # a pause is for all tenants, and so is who may ask for it
include-path-regex = "^/v1/intake/"
headers = {{ Authorization = "Bearer {of_all}" }}
"""
# Calls that follow each other by links depend on what the ones before have left, which no seed
# makes the same: they are for the night, where a rare case is looked into and blocks nobody. So
# are values at random, and for each parameter all values that are wrong in one and the same way.
REPEATABLE = ("--phases", "examples,coverage", "--generation-deterministic")


@pytest.fixture
def served(database: str, tmp_path: Path) -> Served:
    with api_server(database, tmp_path) as opened:
        yield opened


def search(served: Served, config: Path, *options: str, **settings: str) -> tuple[int, str]:
    """Run Schemathesis with all its checks; return its exit code and output."""
    config.write_text(CONFIG.format(of_t=served.of_t, of_all=served.of_all))
    examples = os.environ.get("API_TEST_EXAMPLES", "4")
    options = (
        *("--exclude-path-regex", STREAMS),
        *("--exclude-checks", "positive_data_acceptance"),  # the hooks have one that knows words
        *("--max-examples", examples),
        *("--suppress-health-check", "too_slow"),  # that is a matter of the machine
        *("--continue-on-failure", "--no-color", *options),
    )
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": HOOKS, **settings}
    environment["API_TEST_KNOWN_IDS"] = json.dumps(served.known)
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            f"--config-file={config}",
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
@pytest.mark.nightly
def test_it_finds_nothing(served: Served, tmp_path: Path) -> None:
    code, said = search(served, tmp_path / "config.toml")
    assert code == 0, said


@pytest.mark.timeout(600)  # on a machine that has much else to do
def test_it_finds_nothing_with_each_kind_of_value_once(served: Served, tmp_path: Path) -> None:
    code, said = search(served, tmp_path / "config.toml", *REPEATABLE, API_TEST_ONE_OF_A_KIND="1")
    assert code == 0, said
