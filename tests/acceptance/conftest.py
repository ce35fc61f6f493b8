"""The `home` that tests of commands use; a file that needs more builds its own on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.home import Home, open_home


@pytest.fixture
def home(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    """A home in which commands run, with a database of its own."""
    return open_home(database, tmp_path, monkeypatch, capsys)
