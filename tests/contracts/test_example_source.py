"""The source in the docs works as printed there, and passes the contract."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from core.domain.errors import ConfigurationError

PAGE = Path(__file__).parents[2] / "docs/how-to/add-a-source.md"
NAMES: dict[str, object] = {"__name__": __name__}
_FILE = re.compile(r'^```python title="(\w+)\.py"\n(.*?)^```', re.M | re.S)
for name, block in _FILE.findall(PAGE.read_text("utf-8")):
    exec(compile(block, str(PAGE), "exec"), NAMES)
    module = sys.modules.setdefault(name, ModuleType(name))  # the next file imports from it
    vars(module).update(NAMES)

JsonlSource = NAMES["JsonlSource"]
TestJsonlSource = NAMES["TestJsonlSource"]


async def test_a_bad_line_keeps_no_other_out(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    said.write_text('no json\n{"id": "1", "tenant_id": "t", "agent_ids": ["a"], "content": "x"}\n')
    source = JsonlSource(said, tmp_path / "ended")  # type: ignore[operator]
    assert [piece.id for piece in (await source.fetch(9)).pieces] == ["1"]


async def test_a_missing_file_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere"):
        await JsonlSource(tmp_path / "nowhere", tmp_path / "ended").ping()  # type: ignore[operator]
