"""Files of DMN 1.1 to 1.5 are read, decided, edited and cut as they are."""

from __future__ import annotations

import pytest

from core.decision_table import (
    check_table,
    decide,
    edit_xml,
    not_evaluated,
    parse_tables,
    parse_xml,
    same_table,
)
from core.decision_table.document.tables import CutOut, cut_each
from core.domain.errors import RuleInvalid
from core.domain.models import MergeMode, RuleDraft, Severity
from tests.support.dmn_files import NAMESPACES, loans

APPLICANT = {"age": 40, "joined": "2019-05-01", "job": {"title": "baker"}}


@pytest.mark.parametrize("version", NAMESPACES)
def test_the_tables_of_a_file_are_read_with_their_types(version: str) -> None:
    eligible, fee = parse_tables(loans(version))
    assert eligible.table is not None
    assert fee.table is not None
    assert [(one.name, one.type, one.allowed) for one in eligible.table.inputs] == [
        ("applicant.age", "number", ""),
        ("score", "number", "[0..1000]"),
    ]
    assert [(one.name, one.type) for one in fee.table.inputs] == [("Eligibility", "string")]
    assert eligible.table.rows[0].annotation == "Nobody under 18"
    errors = [
        found
        for read in (eligible.table, fee.table)
        for found in check_table(read)
        if found.severity is Severity.ERROR
    ]
    assert errors == []


@pytest.mark.parametrize("version", NAMESPACES)
@pytest.mark.parametrize(
    ("applicant", "score", "answer"),
    [
        (APPLICANT, 700, "yes, baker"),
        (APPLICANT | {"joined": "2022-05-01"}, 700, "yes"),
        (APPLICANT | {"age": 17}, 700, "no"),
        (APPLICANT, 10, "ask"),
    ],
)
def test_a_case_with_an_object_is_decided(
    version: str, applicant: dict[str, object], score: int, answer: str
) -> None:
    table = parse_xml(loans(version), decision="Eligibility")
    case = {"applicant": applicant, "score": score}
    assert decide(table, case).result == {"answer": answer}  # type: ignore[arg-type]


def test_a_member_of_another_type_is_named() -> None:
    table = parse_xml(loans("1.5"), decision="Eligibility")
    with pytest.raises(RuleInvalid, match=r"applicant\.joined.*'soon'"):
        decide(table, {"applicant": APPLICANT | {"joined": "soon"}, "score": 700})  # type: ignore[dict-item]
    with pytest.raises(RuleInvalid, match=r"'score'.*1001"):
        decide(table, {"applicant": APPLICANT, "score": 1001})  # type: ignore[dict-item]


@pytest.mark.parametrize("version", NAMESPACES)
def test_an_edit_keeps_the_rest_of_a_file_and_its_version(version: str) -> None:
    (one, _) = cut_each(loans(version))
    assert isinstance(one, CutOut)
    draft = RuleDraft.model_validate(
        {"rows": [{"inputs": {"score": "< 300"}, "outputs": {"answer": '"no"'}, "before": "good"}]}
    )
    edited = edit_xml(one.xml, draft, MergeMode.EXTEND, new_row_id=lambda: "new")
    assert [row.id for row in parse_xml(edited).rows] == ["young", "new", "good", "rest"]
    added = edited.split('<dmn:rule id="new">')[1].split("</dmn:rule>")[0]
    assert edited.replace(f'<dmn:rule id="new">{added}</dmn:rule>', "").split() == one.xml.split()
    assert NAMESPACES[version] in edited
    assert '<tool:colour of="box">red</tool:colour>' in edited


def test_a_table_is_the_same_in_every_version() -> None:
    files = {version: cut_each(loans(version))[0] for version in ("1.2", "1.3", "1.4", "1.5")}
    texts = [cut.xml for cut in files.values() if isinstance(cut, CutOut)]
    assert len(texts) == len(files)
    assert all(same_table(texts[0], text) for text in texts)


def test_each_table_of_a_file_becomes_a_document_of_its_own() -> None:
    one, other = cut_each(loans("1.5"))
    assert isinstance(one, CutOut)
    assert isinstance(other, CutOut)
    assert (parse_xml(one.xml).name, parse_xml(other.xml).name) == ("Eligibility", "Fee")
    assert "t_fee" not in one.xml
    assert "t_ok" not in other.xml
    assert other.xml.count("<dmn:decision ") == one.xml.count("<dmn:decision ") == 3


def test_what_is_not_evaluated_is_named() -> None:
    assert not_evaluated(loans("1.5")) == (
        "the import of 'urn:rates' is not followed",
        "decision 'Total' is a literalExpression, which is not evaluated: a table that uses it "
        "takes its value as an input",
        "businessKnowledgeModel 'Rounding' is not evaluated",
    )


def test_a_table_in_another_language_is_refused() -> None:
    other = loans("1.1").replace('<dmn:inputEntry id="e1">',
                                 '<dmn:inputEntry id="e1" expressionLanguage="juel">')  # fmt: skip
    (read, _) = parse_tables(other)
    assert "the expression language 'juel' is not supported" in read.problem


def test_a_type_that_refers_to_itself_has_an_end() -> None:
    looped = loans("1.5").replace("<dmn:typeRef>number</dmn:typeRef>",
                                  "<dmn:typeRef>tApplicant</dmn:typeRef>")  # fmt: skip
    assert parse_tables(looped)


def test_a_uri_in_a_text_is_left_as_it_is() -> None:
    said = f"see {NAMESPACES['1.5']}"
    xml = loans("1.5").replace("Nobody under 18", said)
    assert parse_xml(xml, decision="Eligibility").rows[0].annotation == said
