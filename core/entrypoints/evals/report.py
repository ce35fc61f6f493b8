"""Reports of a set: as JUnit XML, which CI servers read, and as a file to compare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import explain
from core.domain.messages import Message
from core.entrypoints.evals.judging import CaseResult, Report
from core.entrypoints.evals.paired import Pair


def junit(report: Report) -> bytes:
    """Return the report in the JUnit format of Apache Ant, each case as a test case."""
    bad = [one for one in report.results if not one.is_good]
    suite = Element(
        "testsuite",
        name=f"{report.set} {report.model}",
        tests=str(len(report.results) + len(report.undecided)),
        failures=str(sum(not one.failed for one in bad)),
        errors=str(sum(bool(one.failed) for one in bad)),
        skipped=str(len(report.undecided)),
    )
    for one in report.results:
        made = SubElement(suite, "testcase", classname=report.set, name=one.id)
        if not one.is_good:
            told = SubElement(made, "error" if one.failed else "failure", message=_why(one))
            told.text = _why(one)
    for left in report.undecided:
        made = SubElement(suite, "testcase", classname=report.set, name=left)
        SubElement(made, "skipped", message="not decided: the run was stopped")
    body: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return body


def _why(one: CaseResult) -> str:
    """Return why a case is not good, as XML 1.0 can hold it."""
    text = one.failed or f"expected {one.expected}, decided {one.decided}"
    if one.is_right:
        text = f"lost: {', '.join(one.lost)}"
    elif not one.failed and one.expected == one.decided:
        text = f"{text} of another item"
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def write(path: Path, data: bytes) -> None:
    """Write a report. Raises InvalidInput if that cannot be."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InvalidInput(Message("eval.unwritable", file=path, why=error)) from error


def check_writable(path: Path) -> None:
    """Raise InvalidInput if a report cannot be written, before a model is paid for it."""
    is_new = not path.exists()
    try:
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise InvalidInput(Message("eval.unwritable", file=path, why=error)) from error


def read_report(path: Path) -> Report:
    """Read a report that `eval run --out` wrote. Raises InvalidInput."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            Message("eval.unreadable", file=path, why=error), hint=Message("eval.hint_compare")
        ) from error
    except ValidationError as error:
        why = explain(error)
        raise InvalidInput(
            Message("eval.no_report", file=path, why=why), hint=Message("eval.hint_compare")
        ) from error


def pairs(first: Report, second: Report) -> Iterator[Pair]:
    """Yield the cases of both reports, each with whether it was decided well by which.

    Raises InvalidInput where they are not of the same cases.
    """
    others = {one.id: one for one in second.results}
    if {one.id for one in first.results} != others.keys():
        missing = sorted({one.id for one in first.results} ^ others.keys())
        raise InvalidInput(
            Message("eval.other_cases", n=len(missing), first=missing[0]),
            hint=Message("eval.hint_same"),
        )
    for one in first.results:
        other = others[one.id]
        yield Pair(id=one.id, author=one.author, first=one.is_good, second=other.is_good)
