"""The mutants of SQL and prompts, and the list of those that change nothing."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.mutate.mutant import Mutant
from tests.mutate.prompt_mutants import FILLER, prompt_mutants
from tests.mutate.sql_mutants import sql_mutants

SQL = """-- name: take
SELECT id FROM jobs  -- WHERE nothing = nobody
WHERE tenant_id = %(tenant_id)s AND (kind IS NULL OR kind = 'a = b')
  AND at BETWEEN %(low)s AND %(high)s
ORDER BY at LIMIT 5 FOR UPDATE SKIP LOCKED
"""
ROOT = Path(__file__).parents[2]


def made(operator: str) -> set[str]:
    found = [each for each in sql_mutants(Path("jobs.sql"), SQL) if each.operator == operator]
    assert {each.place for each in found} <= {"jobs.take"}
    return {" ".join(each.write(SQL).split()) for each in found}


def whole(old: str, new: str) -> str:
    assert old in SQL
    return " ".join(SQL.replace(old, new).split())


def test_each_condition_is_dropped_by_what_joins_it() -> None:
    assert made("drop condition") == {
        whole("tenant_id = %(tenant_id)s", "true"),
        whole("(kind IS NULL OR kind = 'a = b')", "true"),
        whole("kind = 'a = b'", "false"),
        whole("at BETWEEN %(low)s AND %(high)s", "true"),
    }


def test_locks_orders_and_limits_are_dropped_or_turned() -> None:
    assert made("drop lock") == {whole("FOR UPDATE SKIP LOCKED", "")}
    assert made("drop SKIP LOCKED") == {whole("SKIP LOCKED", "")}
    assert made("drop LIMIT") == {whole("LIMIT 5", "")}
    assert made("reverse order") == {whole("ORDER BY at", "ORDER BY at DESC")}


def test_neither_comments_nor_literals_nor_between_are_touched() -> None:
    assert len(made("= to <>")) == 2
    assert made("AND to OR") == {
        whole("AND (kind", "OR (kind"),
        whole("AND at", "OR at"),
    }


def test_a_prompt_loses_each_paragraph_or_all_and_keeps_its_headings() -> None:
    text = "## 1\nUse a tool.\n\nDo not announce.\n"
    found = [each.write(text) for each in prompt_mutants(Path("p.md"), text)]
    assert found == [
        f"## 1\n{FILLER}\n\n{FILLER}",
        "## 1\n\n\nDo not announce.\n",
        "## 1\nUse a tool.\n\n\n",
    ]


def test_what_python_cannot_read_is_no_program() -> None:
    source = "if found := one or other:\n    keep(found)\n"
    broken, kept = "if not found := one:\n    keep(found)\n", source.replace("or", "and", 1)
    for text, is_program in ((broken, False), (kept, True)):
        mutant = Mutant("a.py", "", 1, "", lambda _, text=text: text)
        assert mutant.is_program(source) is is_program
    assert Mutant("a.sql", "", 1, "", lambda _: broken).is_program(source)

    def unwritten(source: str) -> str:
        raise SyntaxError(source)

    assert not Mutant("a.py", "", 1, "", unwritten).is_program(source)


def test_what_is_listed_as_equivalent_still_stands_in_its_file() -> None:
    listed = yaml.safe_load((ROOT / "tests/mutate/equivalent.yaml").read_text("utf-8"))
    for each in listed:
        text = " ".join((ROOT / each["file"]).read_text("utf-8").split())
        assert each["was"] in text, f"{each['was']} is not in {each['file']} any more"
        assert each["because"]
