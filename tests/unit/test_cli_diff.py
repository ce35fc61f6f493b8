"""The diff of a change: file by file, row by row, safe for binary files."""

from __future__ import annotations

import hashlib

from core.decision_table import to_xml
from core.domain.models import DecisionRow, DecisionTable, FileRef, InputColumn, OutputColumn
from core.entrypoints.cli.diff import files_diff
from core.entrypoints.cli.grid import table_lines, table_text

BLOBS: dict[str, bytes] = {}


def _file(data: bytes, *, executable: bool = False) -> FileRef:
    digest = hashlib.sha256(data).hexdigest()
    BLOBS[digest] = data
    return FileRef(sha256=digest, size=len(data), executable=executable)


def test_only_files_that_changed_show() -> None:
    same = _file(b"same\n")
    before = {"SKILL.md": _file("하나\n둘\n".encode()), "a.md": same, "old.md": _file(b"x\n")}
    after = {"SKILL.md": _file("하나\n셋\n".encode()), "a.md": same, "new.md": _file(b"y\n")}
    lines = files_diff("s", before, after, BLOBS).splitlines()
    assert [line for line in lines if line.startswith(("---", "+++"))] == [
        "--- a/s/SKILL.md",
        "+++ b/s/SKILL.md",
        "--- /dev/null",
        "+++ b/s/new.md",
        "--- a/s/old.md",
        "+++ /dev/null",
    ]
    assert "-둘" in lines
    assert "+셋" in lines
    assert " 하나" in lines


def test_binary_files_show_by_their_size() -> None:
    text = files_diff("s", {"a.png": _file(b"\xff\x00")}, {"a.png": _file(b"\xff\x00\x01")}, BLOBS)
    assert text == "s/a.png: binary, 2 → 3 bytes"


def test_a_file_that_becomes_executable_says_so_and_no_more() -> None:
    before, after = {"a.sh": _file(b"x\n")}, {"a.sh": _file(b"x\n", executable=True)}
    assert files_diff("s", before, after, BLOBS) == "s/a.sh: is now executable"


def test_a_table_has_a_line_for_each_row_and_other_rows_stay_put() -> None:
    row = DecisionRow(id="r1", inputs=("> 1000000",), outputs=('"팀장"',), annotation="승인")
    table = DecisionTable(
        name="주문 승인",
        inputs=(InputColumn(name="금액", type="number"),),
        outputs=(OutputColumn(name="승인자"),),
        rows=(row,),
    )
    more = table.model_copy(
        update={"rows": (row, row.model_copy(update={"id": "r2", "outputs": ('"본부장이 승인"',)}))}
    )
    one = table_lines(to_xml(table, decision_id="d"))
    two = table_lines(to_xml(more, decision_id="d"))
    assert two[:-1] == one
    assert "본부장" in two[-1]
    assert "팀장" in table_text(to_xml(table, decision_id="d"))


def test_what_is_no_table_shows_as_it_is() -> None:
    assert table_lines("<no table/>") == ["<no table/>"]
    assert table_text("<no table/>") == "<no table/>"
