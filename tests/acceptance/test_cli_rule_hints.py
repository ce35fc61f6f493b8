"""A file that is not DMN 1.1 to 1.5 is named, with what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.decision_table import to_xml
from core.domain.models import DecisionRow, DecisionTable, InputColumn, OutputColumn
from core.entrypoints.cli.app import run

GOOD = to_xml(
    DecisionTable(
        name="환불",
        inputs=(InputColumn(name="금액", type="number"),),
        outputs=(OutputColumn(name="승인"),),
        rows=(DecisionRow(id="r1", inputs=("> 1",), outputs=('"팀장"',)),),
    ),
    decision_id="refund",
)
START, END = GOOD.index("<decisionTable"), GOOD.index("</decisionTable>") + len("</decisionTable>")
DMN_1_6 = GOOD.replace("/20191111/", "/20240513/")


@pytest.mark.parametrize(
    ("xml", "hint"),
    [
        (DMN_1_6, "Save or export it as DMN 1.1 to 1.5"),
        ("<!DOCTYPE html><html/>", "Take the `<!DOCTYPE …>` out"),
        (GOOD.replace("?>", "?><?xml-stylesheet href='a'?>", 1), "Take the `<?…?>` out"),
        ("<html><body>404</body></html>", "Give a DMN document (1.1 to 1.5)"),
        ("<html><br></html>", "Give a DMN document (1.1 to 1.5)"),
        (GOOD[:START] + GOOD[END:], "Give a decision a <decisionTable>"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("check", "--decision", "환불"),
        ("decide", "--input", "금액=2", "--file"),
    ],
)
def test_the_file_and_the_way_out_are_named(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: tuple[str, ...],
    xml: str,
    hint: str,
) -> None:
    file = tmp_path / "환불.dmn"
    file.write_text(xml, encoding="utf-8")
    name, *options = command
    assert run(["rule", name, *options, str(file)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: {file}: ")
    assert f"\nhint: {hint}" in err
