"""The graph of skills: cycles, dangling references, orphans, and unusual names."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skills.graph import SkillGraph, SkillParts, as_json, dot, mermaid, skill_graph

_NODE = re.compile(r'  (?:  )?\w+\["((?:[\w -./]|#\d+;)*)"\](?::::\w+)?')
_FRAME = re.compile(r'  subgraph s\d+\["((?:[\w -./]|#\d+;)*)"\]')
_EDGE = re.compile(r"  \w+ -\.?->? \w+")


def bundle(name: str, text: str, **files: str) -> Bundle:
    named = {path: SkillFile(data=body.encode()) for path, body in files.items()}
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=text.encode()), **named})


def graph(*bundles: Bundle, **unreadable: str) -> SkillGraph:
    return skill_graph({skill.name: SkillParts.of(skill) for skill in bundles}, unreadable)


REFUND = bundle(
    "refund",
    "references/fees.md\ntax/references/vat.md\nreferences/fees.md references/gone.md",
    **{"references/fees.md": "[back](../SKILL.md)", "assets/left.txt": "assets/left.txt"},
)
TAX = bundle("tax", "refund/SKILL.md broken/references/a.md", **{"references/vat.md": "x"})


def test_files_are_joined_by_what_refers_to_them_and_circles_are_fine() -> None:
    found = graph(TAX, REFUND)
    assert [node.name for node in found.skills] == ["refund", "tax"]
    edges = {
        (f"{edge.skill}/{edge.file}", f"{edge.to_skill}/{edge.to_path}"): edge.lines
        for edge in found.edges
        if not edge.dangling
    }
    assert edges == {
        ("refund/SKILL.md", "refund/references/fees.md"): (1, 3),
        ("refund/SKILL.md", "tax/references/vat.md"): (2,),
        ("refund/references/fees.md", "refund/SKILL.md"): (1,),
        ("refund/assets/left.txt", "refund/assets/left.txt"): (1,),
        ("tax/SKILL.md", "refund/SKILL.md"): (1,),
    }


def test_what_leads_nowhere_and_what_nobody_points_to_is_marked() -> None:
    found = graph(TAX, REFUND)
    assert [edge.to_path for edge in found.dangling] == ["references/gone.md", "references/a.md"]
    assert found.skills[0].unreferenced == {"assets/left.txt"}
    only = found.only_dangling()
    assert [(node.name, node.files) for node in only.skills] == [
        ("refund", (SKILL_MD,)),
        ("tax", (SKILL_MD,)),
    ]


def test_of_a_skill_that_cannot_be_read_nothing_is_said_to_be_missing() -> None:
    found = graph(TAX, REFUND, broken="SKILL.md is missing")
    assert [edge.to_path for edge in found.dangling] == ["references/gone.md"]
    assert as_json(found)["unreadable"] == [{"name": "broken", "problem": "SKILL.md is missing"}]


def test_it_reads_the_same_whatever_order_skills_come_in() -> None:
    for render in (mermaid, dot, lambda drawn: json.dumps(as_json(drawn))):
        assert render(graph(TAX, REFUND)) == render(graph(REFUND, TAX))


def test_a_dashed_line_leads_to_what_is_missing() -> None:
    drawn = mermaid(graph(REFUND, TAX))
    assert 'm5["refund/references/gone.md"]:::missing' in drawn
    assert "s0f0 -.-> m5" in drawn
    assert "s0f0 -> m5 [color=red, style=dashed];" in dot(graph(REFUND, TAX))


def test_nothing_is_an_empty_graph() -> None:
    assert as_json(graph()) == {"skills": [], "edges": [], "unreadable": []}
    assert mermaid(graph()).startswith("flowchart LR\n")
    assert dot(graph()).endswith("}")


names = st.text(
    st.sampled_from([*"ab 한글[]{}()\"'`\\#;<>|&%-_.!?~:/", "\u202e", "\u1112", "é"]), min_size=1
)


@given(names=st.lists(names, min_size=1, max_size=4, unique=True))
def test_names_are_only_names_in_mermaid_and_dot(names: list[str]) -> None:
    files = {f"references/{name}": "x" for name in names}
    drawn = graph(bundle(names[0], "references/gone.md", **files))
    for line in mermaid(drawn).splitlines()[1:-2]:
        assert line == "  end" or any(form.fullmatch(line) for form in (_NODE, _FRAME, _EDGE)), line
    labels = re.findall(r'label=("(?:[^"\\]|\\.)*")[,\];]', dot(drawn))
    assert len(labels) == 1 + len(drawn.skills[0].files) + len(drawn.dangling)
    assert all(line.endswith((";", "{", "}")) for line in dot(drawn).splitlines())
    shown = json.loads(json.dumps(as_json(drawn)))
    assert {file["path"] for file in shown["skills"][0]["files"]} == {SKILL_MD, *files}
