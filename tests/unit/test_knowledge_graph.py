"""The graph of who knows and taught what: bounded, consistent, and rendered as plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.models import SKILL_MD, Agent, Bundle, Kind, Operation, SkillFile
from core.domain.models.views import KnownCount, Taught
from core.entrypoints.service.graph.service import CHARS, Parts, build, mermaid
from core.entrypoints.service.graph.shown import Graph, Link, LinkKind, Node, NodeKind
from core.skills.graph import SkillParts, skill_graph

HOSTILE = (
    '"] --> x["',
    "%%{init: {'securityLevel': 'loose'}}%%",
    "<img src=x onerror=alert(1)>",
    'a\nclick n0 href "javascript:alert(1)"',
    "`**md**` #quot; ;; end",
    "\u202egnp.exe\u200b",
    "-- leading",
    "",
)
_NODE = re.compile(r'  n\d+(\(\[|\[\(|\[\[|\(|\[)"([^"]*)"(\]\)|\)\]|\]\]|\)|\]):::[a-z]+')
_LINK = re.compile(r'  n\d+ (---|-->|-\.->|==>)(\|"[^"]*"\|)? n\d+')


def agent(agent_id: str, *skills: str) -> Agent:
    return Agent(id=agent_id, tenant_id="t", name=f"이름 {agent_id}", skills=skills)


def bundle(name: str, body: str, *paths: str) -> SkillParts:
    files = {SKILL_MD: body, **dict.fromkeys(paths, "x")}
    return SkillParts.of(
        Bundle(name=name, files={p: SkillFile(data=t.encode()) for p, t in files.items()})
    )


def taught(feedback_id: str, kind: Kind, item_id: str, words: str = "words") -> Taught:
    return Taught(
        feedback_id=feedback_id,
        author="kim",
        words=words,
        kind=kind,
        item_id=item_id,
        name=item_id,
        agent_id="a",
        operation=Operation.CREATE,
        change_id="c",
    )


def parts(
    agents: Sequence[Agent] = (),
    *,
    names: Sequence[str] = (),
    skills: dict[str, SkillParts] | None = None,
    lessons: Sequence[Taught] = (),
    counts: Sequence[KnownCount] = (),
    unread: dict[str, str] | None = None,
) -> Parts:
    return Parts(
        agents=agents,
        counts=counts,
        names=names,
        wanted=names,
        skills=skill_graph(skills or {}, unread),
        taught=lessons,
    )


def ends(graph: Graph) -> set[tuple[str, str, str]]:
    named = {node.id: node.label for node in graph.nodes}
    return {(named[x.source], x.kind.value, named[x.target]) for x in graph.links}


def node_of(graph: Graph, label: str) -> Node:
    (found,) = (node for node in graph.nodes if node.label == label)
    return found


def test_agents_skills_files_and_lessons_hang_together() -> None:
    made = parts(
        [agent("a", "refund", "gone")],
        names=["mail", "refund"],
        skills={
            "refund": bundle("refund", "references/a.md and mail/SKILL.md", "references/a.md"),
            "mail": bundle("mail", "see references/none.md"),
        },
        counts=[
            KnownCount(agent_id="a", kind=Kind.MEMORY, count=2),
            KnownCount(agent_id="gone", kind=Kind.DMN_RULE, count=1),
        ],
        lessons=[
            taught("f1", Kind.MEMORY, "m1"),
            taught("f1", Kind.MEMORY, "m2"),
            taught("f1", Kind.SKILL, "refund"),
            taught("f2", Kind.DMN_RULE, "unknown"),
        ],
    )
    graph = build("t", None, made, 100)
    assert ends(graph) == {
        ("이름 a", "knows", "memories"),
        ("이름 a", "has", "refund"),
        ("이름 a", "has", "gone"),
        ("words", "taught", "memories"),
        ("words", "taught", "refund"),
        ("refund", "contains", "references/a.md"),
        ("refund", "refers", "references/a.md"),
        ("refund", "refers", "mail"),
        ("mail", "refers", "references/none.md"),
    }
    (lesson,) = (x for x in graph.links if x.kind is LinkKind.TAUGHT and len(x.items) > 1)
    assert (lesson.items, lesson.label) == (("m1", "m2"), "m1 (+1)")
    assert [n.label for n in graph.nodes if n.missing] == ["gone", "references/none.md"]
    assert node_of(graph, "memories").count == 2
    assert {n.agent_id for n in graph.nodes} <= {"a", "", None}
    assert graph.left_out == {}


def test_a_skill_that_was_not_read_is_not_taken_for_missing() -> None:
    made = parts(
        names=["other", "refund"],
        skills={"refund": bundle("refund", "see other/references/a.md")},
        unread={"other": "not read"},
    )
    graph = build("t", None, made, 100)
    assert ends(graph) == {("refund", "refers", "other")}
    assert not node_of(graph, "other").missing
    assert graph.unread == {"other": "not read"}


@given(
    st.integers(1, 40), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)
)
def test_no_graph_is_larger_than_told_and_what_is_left_out_is_counted(
    places: int, agents: int, skills: int, files: int, lessons: int
) -> None:
    names = [f"skill-{n}" for n in range(skills)]
    paths = [f"references/{n}.md" for n in range(files)]
    made = parts(
        [agent(f"a{n}", *names) for n in range(agents)],
        names=names,
        skills={name: bundle(name, "x", *paths) for name in names},
        lessons=[taught(f"f{n}", Kind.SKILL, "skill-0") for n in range(lessons)],
    )
    graph = build("t", None, made, places)
    assert len(graph.nodes) <= places
    ids = {node.id for node in graph.nodes}
    assert all({link.source, link.target} <= ids for link in graph.links)
    shown = Counter(node.kind for node in graph.nodes)
    assert shown[NodeKind.AGENT] + graph.left_out.get(NodeKind.AGENT, 0) == agents
    assert shown[NodeKind.SKILL] + graph.left_out.get(NodeKind.SKILL, 0) == skills
    if skills and shown[NodeKind.SKILL]:
        assert shown[NodeKind.FEEDBACK] + graph.left_out.get(NodeKind.FEEDBACK, 0) == lessons


@pytest.mark.parametrize(
    ("places", "shown", "left_out"),
    [
        (40, {"agent": 3, "skill": 3, "file": 6, "feedback": 3}, {}),
        (8, {"agent": 2, "skill": 2, "feedback": 2, "file": 2}, {"agent": 1, "skill": 1}),
        (3, {"agent": 1, "skill": 1, "feedback": 1}, {"agent": 2, "skill": 2, "feedback": 2}),
    ],
)
def test_no_kind_but_files_takes_more_than_its_share(
    places: int, shown: dict[str, int], left_out: dict[str, int]
) -> None:
    names = [f"skill-{n}" for n in range(3)]
    made = parts(
        [agent(f"a{n}", *names) for n in range(3)],
        names=names,
        skills={name: bundle(name, "x", "references/a.md", "b.md") for name in names},
        lessons=[taught(f"f{n}", Kind.SKILL, "skill-0") for n in range(3)],
    )
    graph = build("t", "a1", made, places)
    assert (graph.tenant_id, graph.agent_id) == ("t", "a1")
    assert Counter(node.kind.value for node in graph.nodes) == shown
    counted = {kind.value: number for kind, number in graph.left_out.items()}
    assert {**counted, **left_out} == counted


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_label_says_it_is_a_label(text: str) -> None:
    made = parts(
        [agent("a").model_copy(update={"name": text})],
        names=["refund"],
        skills={"refund": bundle("refund", "x")},
        lessons=[
            taught("f", Kind.SKILL, "refund", text).model_copy(
                update={"author": text, "name": text}
            )
        ],
    )
    _, *lines = mermaid(build("t", None, made, 100)).split("\n")
    assert lines.pop().startswith("  classDef")
    assert len(lines) == 4
    for line in lines:
        found = _NODE.fullmatch(line) or _LINK.fullmatch(line)
        assert found, line
        for label in re.findall(r'"([^"]*)"', line):
            assert label
            assert not re.search(r"[<>`\\{}()\[\]%\n\u202e]", label)
            assert not re.search(r"#(?!\d+;)|;(?<!\d;)", label)


@given(st.text(max_size=80))
def test_any_text_stays_within_its_quotes(text: str) -> None:
    made = parts([agent("a").model_copy(update={"name": text})])
    _, line, _ = mermaid(build("t", None, made, 9)).split("\n")
    assert _NODE.fullmatch(line)


def test_korean_is_read_as_it_is_and_long_labels_are_cut() -> None:
    made = parts([agent("a").model_copy(update={"name": "환불 담당 " * 30})])
    text = mermaid(build("t", None, made, 9))
    assert "환불 담당 환불" in text
    assert max(map(len, text.split("\n"))) < 120


def test_a_node_says_how_many_it_counts_or_who_said_it() -> None:
    given: tuple[dict[str, object], ...] = ({"count": 0}, {"author": "kim"}, {})
    nodes = tuple(
        Node.model_validate({"id": f"n{n}", "kind": "feedback", "label": "words", **more})
        for n, more in enumerate(given)
    )
    drawn = mermaid(Graph(tenant_id="t", nodes=nodes, links=(), left_out={}, unread={}))
    assert re.findall(r'"([^"]*)"', drawn) == ["words#58; 0", "kim#58; words", "words"]


def test_what_is_missing_and_what_was_taught_is_drawn_as_that() -> None:
    nodes = tuple(
        Node(id=f"n{n}", kind=NodeKind.SKILL, label="refund", missing=bool(n)) for n in range(2)
    )
    links = tuple(
        Link(source="n0", target="n1", kind=kind, label=label)
        for kind, label in ((LinkKind.HAS, " "), (LinkKind.TAUGHT, "m1"))
    )
    drawn = mermaid(Graph(tenant_id="t", nodes=nodes, links=links, left_out={}, unread={}))
    assert drawn.split("\n")[:-1] == [
        "flowchart LR",
        '  n0[["refund"]]:::skill',
        '  n1[["refund"]]:::missing',
        "  n0 --> n1",
        '  n0 ==>|"m1"| n1',
    ]


@pytest.mark.parametrize(
    ("label", "shown"),
    [("x" * CHARS, "x" * CHARS), ("x" * (CHARS + 1), f"{'x' * (CHARS - 1)}#8230;"), ("", " ")],
)
def test_a_label_is_never_empty_and_never_too_long(label: str, shown: str) -> None:
    node = Node(id="n0", kind=NodeKind.AGENT, label=label)
    drawn = mermaid(Graph(tenant_id="t", nodes=(node,), links=(), left_out={}, unread={}))
    assert re.findall(r'"([^"]*)"', drawn) == [shown]
