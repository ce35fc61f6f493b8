"""What may not stand once something is taken back: problems that the state before did not have."""

from __future__ import annotations

from core.changes.problems import problem
from core.changes.three_way_merge import State
from core.domain.models import SKILL_MD, Kind, SkillFile
from tests.support.rules import learnt, plain, row

XML = learnt(row("> 100", "team lead")).xml
FINE = State(XML, "승인")
CLASHING = State(plain(XML, row("> 50", "director")), "승인")
SOUND = State("---\nname: refund\ndescription: How to refund. Use it.\n---\n# Refund\n", "refund")


def test_a_table_must_not_begin_to_clash_but_may_go_on_to() -> None:
    assert problem(Kind.DMN_RULE, FINE, None) == problem(Kind.DMN_RULE, FINE, CLASHING) == ""
    assert "rows 'r1' and 'n1' both match" in problem(Kind.DMN_RULE, CLASHING, FINE)
    assert "r1" in problem(Kind.DMN_RULE, CLASHING, None)
    assert problem(Kind.DMN_RULE, CLASHING, CLASHING) == ""
    assert problem(Kind.DMN_RULE, State("<", "승인"), None).startswith("the table cannot be read")


def test_a_skill_must_not_begin_to_break_a_rule_but_may_go_on_to() -> None:
    broken = State("no frontmatter", "refund", {"a.txt": SkillFile(data=b"x")})
    assert problem(Kind.SKILL, SOUND, None) == problem(Kind.SKILL, SOUND, broken) == ""
    assert problem(Kind.SKILL, broken, SOUND) != ""
    assert problem(Kind.SKILL, broken, None) != ""
    assert problem(Kind.SKILL, broken, broken) == ""
    escaping = State(
        SOUND.text, "refund", {"../x": SkillFile(data=b"x"), SKILL_MD: SkillFile(data=b"")}
    )
    assert "leaves its folder" in problem(Kind.SKILL, escaping, SOUND)


def test_a_memory_has_no_problem_of_its_own() -> None:
    assert problem(Kind.MEMORY, State("text", "text"), None) == ""
