"""What tests of commands begin with; a file that needs more builds its own `home` on this one."""

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
    """A place where commands run, with a database of its own."""
    return open_home(database, tmp_path, monkeypatch, capsys)
