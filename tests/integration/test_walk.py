"""One piece of work stays within few files and rooms (`python -m tests.walk` shows which)."""

from __future__ import annotations

import json
from subprocess import PIPE

import pytest

from tests.support.forked import script

# Among them are those that derive, run and judge the cases of a change.
MEMORY_FILES, MEMORY_ROOMS, POD_FILES = 79, 13, 109


@pytest.mark.timeout(600)
def test_a_memory_and_a_skill_pass_few_files() -> None:
    with script("from tests.walk import main; main(['--json'])", stdout=PIPE) as walking:
        out, _ = walking.communicate()
    assert walking.returncode == 0
    walks = json.loads(out)
    assert walks.keys() == {"memory", "skill in a pod", "approval", "search"}
    assert all(walk["files"] > 10 for walk in walks.values())
    assert walks["memory"]["files"] <= MEMORY_FILES
    assert walks["memory"]["rooms"] <= MEMORY_ROOMS
    assert walks["skill in a pod"]["files"] <= POD_FILES
