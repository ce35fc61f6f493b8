"""Why a .dmn file was not taken, for the person at the terminal: receipts speak to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.safe_text import one_line

if TYPE_CHECKING:
    from core.cli.rule.documents import Document
    from core.models import Receipt

_SAME_NAME = "same name"


def refusal(document: Document, receipt: Receipt) -> tuple[str, list[str]]:
    """Give the reason with what to do, and the findings that stand in the way, one a line."""
    if receipt.hits:
        return _in_the_way(receipt), []
    findings = _findings(document, receipt)
    if not findings:
        return receipt.message, []
    count = f"{len(findings)} error{'' if len(findings) == 1 else 's'}"
    return (
        f"the table has {count}: correct the file and import it again; "
        f"`skill-worker rule check {document.file}` shows a case for each",
        findings,
    )


def _in_the_way(receipt: Receipt) -> str:
    hit = receipt.hits[0]
    if hit.why == _SAME_NAME:
        return (
            f"another decision table is named '{hit.name}' ({hit.id}); put the file in its place "
            "with --replace"
        )
    return (
        f"the table '{hit.name}' ({hit.id}) has the same columns; say why the file is a table of "
        "its own with --unrelated REASON"
    )


def _findings(document: Document, receipt: Receipt) -> list[str]:
    """Give the errors of the table, where it is these that the receipt tells of."""
    from core.decision_table import check_table, parse_xml
    from core.models import Severity

    table = parse_xml(document.xml)
    errors = [found for found in check_table(table) if found.severity is Severity.ERROR]
    if not any(found.message in receipt.message for found in errors):
        return []
    return [f"[{found.kind}] {one_line(found.message)}" for found in errors]
