"""The graph that is asked for: of a tenant or of one agent, and what each node and link says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.domain.errors import InvalidInput, NotFound, SkillApiDown
from core.domain.models import SKILL_MD, Agent, Bundle, Kind, Operation, SkillFile
from core.domain.models.access import Principal
from core.domain.models.views import KnownCount, Taught
from core.entrypoints.service.graph.service import GraphService, mermaid
from core.entrypoints.service.graph.shown import Graph, Link, LinkKind, Node, NodeKind
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryAgents
from tests.support.sessions import Asked, principal, session_of

AGENTS = (
    Agent(id="a", tenant_id="t", name="Ann", skills=("refund", "gone")),
    Agent(id="b", tenant_id="t", name="Bob", skills=("mail",)),
    Agent(id="c", tenant_id="u", name="Cho"),
)


def taught(feedback_id: str, kind: Kind, item_id: str, agent_id: str = "a") -> Taught:
    return Taught(
        feedback_id=feedback_id, author="kim", words=f"words of {feedback_id}", kind=kind,
        item_id=item_id, name=f"name of {item_id}", agent_id=agent_id,
        operation=Operation.CREATE, change_id="c",
    )  # fmt: skip


class World:
    """Three agents, three skills of one tenant, and what was learnt and taught."""

    def __init__(self) -> None:
        self.skills = MemorySkillStore()
        bodies = {"refund": "see references/x.md and mail/references/y.md", "mail": "", "other": ""}
        for name, body in bodies.items():
            document = f"---\nname: {name}\ndescription: d\n---\n{body}\n"
            files = {SKILL_MD: SkillFile(data=document.encode())}
            if name == "refund":
                files["references/x.md"] = SkillFile(data=b"x")
            self.skills.skills["t", name] = Bundle(name=name, files=files)
        counts = [
            KnownCount(agent_id="a", kind=Kind.MEMORY, count=3),
            KnownCount(agent_id="a", kind=Kind.DMN_RULE, count=2),
            KnownCount(agent_id="b", kind=Kind.MEMORY, count=1),
            KnownCount(agent_id="a", kind=Kind.SKILL, count=9),
            KnownCount(agent_id="deleted", kind=Kind.MEMORY, count=5),
        ]
        self.lineage = Asked(counts=counts, taught=[])
        self.is_down = False

    async def list(self, tenant_id: str) -> object:
        if self.is_down:
            raise SkillApiDown("the skill API does not answer")
        return await self.skills.list(tenant_id)

    async def graph(
        self, who: Principal | None = None, nodes: int = 300, **wanted: str | None
    ) -> Graph:
        store = SimpleNamespace(list=self.list, read=self.skills.read)
        stores = {"agents": MemoryAgents(AGENTS), "lineage": self.lineage, "skills": store}
        session = session_of(who or principal(), **stores)
        return await GraphService(session).graph(nodes=nodes, **wanted)  # type: ignore[arg-type]


def labels(graph: Graph, kind: NodeKind) -> list[str]:
    return [node.label for node in graph.nodes if node.kind is kind]


def links(graph: Graph, kind: LinkKind) -> set[tuple[str, str]]:
    named = {node.id: node.label for node in graph.nodes}
    return {(named[one.source], named[one.target]) for one in graph.links if one.kind is kind}


async def test_the_graph_of_a_tenant_has_all_agents_and_skills() -> None:
    world = World()
    graph = await world.graph(nodes=200)
    assert (graph.tenant_id, graph.agent_id, graph.warnings) == ("t", None, ())
    assert labels(graph, NodeKind.AGENT) == ["Ann", "Bob"]
    assert sorted(labels(graph, NodeKind.SKILL)) == ["gone", "mail", "other", "refund"]
    assert [node.skill for node in graph.nodes if node.missing] == ["gone", "mail"]
    assert links(graph, LinkKind.HAS) == {("Ann", "refund"), ("Ann", "gone"), ("Bob", "mail")}
    assert links(graph, LinkKind.KNOWS) == {
        ("Ann", "memories"), ("Ann", "rules"), ("Bob", "memories")
    }  # fmt: skip
    counted = [(node.agent_id, node.count) for node in graph.nodes if node.count is not None]
    assert counted == [("a", 3), ("a", 2), ("b", 1)]
    assert links(graph, LinkKind.CONTAINS) == {("refund", "references/x.md")}
    assert links(graph, LinkKind.REFERS) >= {("refund", "references/x.md")}
    assert [call for call in world.lineage.calls if call[0] == "taught"] == [
        ("taught", ("t",), {"agent_id": None, "limit": 200})
    ]
    assert graph.mermaid == mermaid(graph) != ""


async def test_the_graph_of_an_agent_is_of_what_it_has_alone() -> None:
    world = World()
    for who, wanted in (
        (principal(), {}),
        (principal(None), {}),
        (principal(None), {"tenant_id": "t"}),
    ):
        graph = await world.graph(who, agent_id="a", **wanted)  # type: ignore[arg-type]
        assert (graph.tenant_id, graph.agent_id) == ("t", "a")
        assert labels(graph, NodeKind.AGENT) == ["Ann"]
        assert {"refund", "gone"} <= {*labels(graph, NodeKind.SKILL)}
        assert "other" not in labels(graph, NodeKind.SKILL)
        assert {node.agent_id for node in graph.nodes if node.count} == {"a"}
        assert world.lineage.calls[-1] == ("taught", ("t",), {"agent_id": "a", "limit": 300})


async def test_a_graph_is_of_one_tenant_that_the_principal_may_see() -> None:
    world = World()
    assert labels(await world.graph(principal(None), tenant_id="u"), NodeKind.AGENT) == ["Cho"]
    with pytest.raises(InvalidInput, match="tenant"):
        await world.graph(principal(None))
    for wanted in ({"tenant_id": "u"}, {"agent_id": "c"}, {"agent_id": "nobody"}):
        with pytest.raises(NotFound):
            await world.graph(**wanted)  # type: ignore[arg-type]


async def test_without_the_skill_api_the_lists_of_agents_are_shown() -> None:
    world = World()
    world.is_down = True
    graph = await world.graph()
    (warning,) = graph.warnings
    assert "does not answer" in warning
    assert sorted(labels(graph, NodeKind.SKILL)) == ["gone", "mail", "refund"]


async def test_a_lesson_links_what_was_said_to_what_it_taught() -> None:
    world = World()
    world.lineage.answers["taught"] = [
        taught("f1", Kind.MEMORY, "m1"), taught("f1", Kind.MEMORY, "m2"),
        taught("f1", Kind.SKILL, "refund"), taught("f2", Kind.DMN_RULE, "r1"),
        taught("f3", Kind.AGENT_SKILLS, "a"), taught("f4", Kind.SKILL, "unknown"),
        taught("f5", Kind.MEMORY, "m9", "deleted"),
    ]  # fmt: skip
    graph = await world.graph()
    assert labels(graph, NodeKind.FEEDBACK) == ["words of f1", "words of f2"]
    said = [node for node in graph.nodes if node.kind is NodeKind.FEEDBACK]
    assert [(node.feedback_id, node.author) for node in said] == [("f1", "kim"), ("f2", "kim")]
    lessons = [one for one in graph.links if one.kind is LinkKind.TAUGHT]
    assert [(one.label, one.items) for one in lessons] == [
        ("name of m1 (+1)", ("m1", "m2")), ("name of refund", ("refund",)),
        ("name of r1", ("r1",)),
    ]  # fmt: skip
    assert links(graph, LinkKind.TAUGHT) == {
        ("words of f1", "memories"), ("words of f1", "refund"), ("words of f2", "rules")
    }  # fmt: skip


async def test_files_that_are_referred_to_and_missing_are_marked() -> None:
    world = World()
    files = {
        node.path: (node.skill, node.missing)
        for node in (await world.graph()).nodes
        if node.kind is NodeKind.FILE
    }
    assert files == {"references/x.md": ("refund", False), "references/y.md": ("mail", True)}


def test_a_drawing_has_a_form_for_each_kind_and_an_arrow_for_each_link() -> None:
    nodes = tuple(Node(id=f"n{n}", kind=kind, label=kind.value) for n, kind in enumerate(NodeKind))
    drawn = [Link(source="n0", target="n1", kind=kind) for kind in LinkKind]
    named = Link(source="n0", target="n2", kind=LinkKind.TAUGHT, label="why")
    missing = Node(id="n9", kind=NodeKind.FILE, label="x", missing=True)
    graph = Graph(
        tenant_id="t", nodes=(*nodes, missing), links=(*drawn, named), left_out={}, unread={}
    )
    assert mermaid(graph).splitlines() == [
        "flowchart LR",
        '  n0(["agent"]):::agent', '  n1[("memories")]:::memories', '  n2[("rules")]:::rules',
        '  n3[["skill"]]:::skill', '  n4("feedback"):::feedback', '  n5["file"]:::file',
        '  n9["x"]:::missing',
        "  n0 --- n1", "  n0 --> n1", "  n0 --- n1", "  n0 -.-> n1", "  n0 ==> n1",
        '  n0 ==>|"why"| n2',
        "  classDef missing stroke:#c00,color:#c00,stroke-dasharray:4 3",
    ]  # fmt: skip
