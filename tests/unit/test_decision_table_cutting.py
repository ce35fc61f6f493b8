"""One decision of a document with several tables is extracted into its own document."""

from __future__ import annotations

import pytest

from core.decision_table import parse_xml
from core.decision_table.document.tables import cut_each, cut_out
from core.domain.errors import RuleInvalid
from tests.unit.test_decision_table_edits import FOREIGN

_OPEN, _CLOSE = "<dmn:decision ", "</dmn:decision>"
_ONE = FOREIGN[FOREIGN.index(_OPEN) : FOREIGN.index(_CLOSE) + len(_CLOSE)]
_LOGIC = _ONE[_ONE.index("<dmn:decisionTable") : _ONE.index("\n  " + _CLOSE)]
OTHER = _ONE.replace("d1", "d2").replace("'Fee'", "'세금'").replace('name="Fee"', 'name="세금"')
MODEL = "<dmn:businessKnowledgeModel name='계산'><dmn:encapsulatedLogic>{}" \
    "</dmn:encapsulatedLogic></dmn:businessKnowledgeModel>"  # fmt: skip
TWO = FOREIGN.replace(_ONE, _ONE + "<!-- between -->" + OTHER + MODEL.format(_LOGIC))


def test_all_but_the_logic_of_others_keeps_its_bytes() -> None:
    cut = cut_out(TWO, "세금")
    assert cut.left_out == ("Fee", "계산")
    assert len(cut_each(TWO)) == 3
    table = parse_xml(cut.xml)
    assert (table.name, len(table.rows)) == ("세금", 3)
    assert OTHER in cut.xml
    assert "<!-- between -->" in cut.xml
    assert "name = 'Fee'>\n    <dmn:variable name=\"Fee\"/>\n  </dmn:decision>" in cut.xml
    assert cut.xml.split("<di:DMNDI>")[1] == TWO.split("<di:DMNDI>")[1]


def test_a_document_with_one_table_stays_as_it_is() -> None:
    cut = cut_out("\ufeff" + FOREIGN.replace("\n", "\r\n"), "d1")
    assert (cut.xml, cut.left_out) == ("\ufeff" + FOREIGN.replace("\n", "\r\n"), ())


@pytest.mark.parametrize("name", ["없는 표", "계산"])
def test_a_name_that_no_decision_table_has_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(RuleInvalid, match=r"has: 'Fee', '세금'"):
        cut_out(TWO, name)
