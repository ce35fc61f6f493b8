"""Harmful learnings are stopped by the cases of what was learnt before, good ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.models import Kind
from tests.evals.cases import SCENES, judged, opened, play


@pytest.mark.parametrize("kind", [*SCENES])
async def test_harm_is_stopped_and_good_is_learnt(
    kind: Kind, database: str, tmp_path: Path
) -> None:
    async with opened(tmp_path, gate=True, database=database) as app:
        found = await judged(app, kind, 3)
    assert (found.stopped, found.passed) == (3, 3), "\n".join(found.wrong)


@pytest.mark.nightly
async def test_of_sixty_learnings_a_kind_no_harm_is_done(tmp_path: Path) -> None:
    found = await play(tmp_path, 30, gate=True)
    assert all(one.is_kept for one in found), "\n".join(map(str, found))


@pytest.mark.nightly
async def test_without_the_gate_the_harm_is_done(tmp_path: Path) -> None:
    found = await play(tmp_path, 6, gate=False)
    # What else stops some of it: a table without its rows, a skill like another.
    stopped, harmful = (sum(getattr(one, what) for one in found) for what in ("stopped", "harmful"))
    assert stopped <= harmful / 3, "\n".join(map(str, found))
