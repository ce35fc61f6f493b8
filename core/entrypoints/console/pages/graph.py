"""The graph: agents, skills and their files, and who taught what; drawn, and as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup
from nicegui import ui
from nicegui.events import EChartPointClickEventArguments
from pydantic import JsonValue

from core.domain.models import Kind
from core.domain.models.views import KnowledgeFilter
from core.domain.text import printable
from core.entrypoints.console.parts import named
from core.entrypoints.console.parts.ink import INK
from core.entrypoints.console.parts.lists import chip, empty, listed, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, link, show
from core.entrypoints.console.parts.navigation import go_to
from core.entrypoints.console.parts.tenants import tenant_chips, tenant_of
from core.entrypoints.console.site import Site
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.graph.service import GraphService
from core.entrypoints.service.graph.shown import Graph, Node, NodeKind
from core.entrypoints.service.knowledge import KnowledgeService

PATH = "/console/graph"
_NODES = 300
# In pixels: a row with its label, the way to the next column, and what is around the picture.
_ROW, _COLUMN, _LEAST, _AROUND, _LEFT, _RIGHT = 26, 270, 320, 96, 250, 160
_ITEMS = 100
_LABEL = 20  # characters of a label in the picture; the list shows them in full
_COLOURS = {
    NodeKind.AGENT: "#3f7fd8",
    NodeKind.MEMORIES: "#8d6fd1",
    NodeKind.RULES: "#c98a2b",
    NodeKind.SKILL: "#2c9a67",
    NodeKind.FEEDBACK: "#d0605b",
    NodeKind.FILE: "#8b95a5",
}
_SIDES = {NodeKind.FEEDBACK: "left", NodeKind.AGENT: "bottom"}
_SIZES = {NodeKind.AGENT: 34, NodeKind.SKILL: 24}


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/graph", "graph", build)


async def build(visit: Visit) -> None:
    """Draw the page."""
    show(el("h1", visit.say("frame.graph")))
    tenant, agent = await tenant_of(visit), visit.query("agent")
    chips = await tenant_chips(visit, PATH, tenant)
    if chips:
        show(chips)
    if tenant is None and agent is None:
        show(empty(visit.say("graph.choose")))
        return
    graph = await GraphService(visit.session).graph(tenant_id=tenant, agent_id=agent, nodes=_NODES)
    show(join(_agents(visit, graph)))
    if not graph.nodes:
        show(empty(visit.say("graph.nothing"), visit.say("graph.nothing_hint")))
        return
    show(join(_warnings(visit, graph)))
    _picture(visit, graph)
    show(await _items(visit, graph))
    show(_as_list(visit, graph))
    show(_mermaid(visit, graph))


def _agents(visit: Visit, graph: Graph) -> Iterator[Markup]:
    """Yield links to the graphs of single agents."""
    agents = [node for node in graph.nodes if node.kind is NodeKind.AGENT and node.agent_id]
    links = [
        chip(node.label, address(PATH, agent=node.agent_id), here=node.agent_id == graph.agent_id)
        for node in agents
    ]
    if graph.agent_id is not None:
        back = address(PATH, tenant=graph.tenant_id)
        links.append(chip(visit.say("graph.whole"), back, here=False))
    if links:
        yield el("nav", *links, class_="chips", aria_label=visit.say("common.agents"))


def _warnings(visit: Visit, graph: Graph) -> Iterator[Markup]:
    for warning in graph.warnings:
        yield el("p", visit.translated(warning), class_="banner warn")
    for name, why in graph.unread.items():
        said = visit.say("graph.unread", name=name, why=visit.translated(why))
        yield el("p", said, class_="muted small")
    left = [f"{visit.say(f'graph.{k.value}')} {n}" for k, n in graph.left_out.items() if n]
    if left:
        said = visit.say("graph.left_out", what=", ".join(left))
        yield el("p", said, class_="banner warn")


def _picture(visit: Visit, graph: Graph) -> None:
    """Draw on a canvas, where text is never markup."""
    pages = [_page_of(node, graph.tenant_id) for node in graph.nodes]

    def go(event: EChartPointClickEventArguments) -> None:
        to = pages[event.data_index] if event.data_type == "node" else None
        if to:
            go_to(to)

    chart = ui.echart(_options(visit, graph), on_point_click=go)
    chart.style(f"height: {_height(graph) + _AROUND}px")
    chart.classes("graph").props(f'role=img aria-label="{visit.say("frame.graph")}"')
    show(el("p", visit.say("graph.hint"), class_="muted small"))


def _options(visit: Visit, graph: Graph) -> dict[str, JsonValue]:
    kinds = list(NodeKind)
    places = layout(graph)
    nodes: list[JsonValue] = [
        _node(visit, node, kinds) | {"x": places[node.id][0], "y": places[node.id][1]}
        for node in graph.nodes
    ]
    links: list[JsonValue] = [{"source": one.source, "target": one.target} for one in graph.links]
    categories: list[JsonValue] = [
        {"name": visit.say(f"graph.{kind.value}"), "itemStyle": {"color": _COLOURS[kind]}}
        for kind in kinds
    ]
    names: list[JsonValue] = [visit.say(f"graph.{kind.value}") for kind in kinds]
    return {
        "tooltip": {"renderMode": "richText"},
        "legend": {"top": 8, "data": names, "textStyle": {**INK}},
        "series": [
            {
                "type": "graph",
                "layout": "none",
                "left": _LEFT,
                "right": _RIGHT,
                "top": 64,
                "bottom": 24,
                "roam": True,
                "draggable": True,
                "data": nodes,
                "links": links,
                "categories": categories,
                "edgeSymbol": ["none", "arrow"],
                "edgeSymbolSize": 6,
                "label": {"show": True, "position": "right", "fontSize": 12, **INK},
                "labelLayout": {"hideOverlap": True},
                "lineStyle": {"color": "#8b95a5", "opacity": 0.55, "curveness": 0.08},
                "emphasis": {"focus": "adjacency"},
            }
        ],
    }


_COLUMNS = (
    (NodeKind.FEEDBACK,),
    (NodeKind.AGENT,),
    (NodeKind.MEMORIES, NodeKind.RULES, NodeKind.SKILL),
    (NodeKind.FILE,),
)


def layout(graph: Graph) -> Mapping[str, tuple[float, float]]:
    """Return where each node stands: in columns by kind, evenly spread, near what it belongs to.

    In pixels of a wide screen; the chart scales it to its frame. A layout by forces leaves the
    frame, and differs each time.
    """
    order = {node.id: at for at, node in enumerate(graph.nodes)}
    placed: dict[str, tuple[float, float]] = {}
    for column, kinds in enumerate(_COLUMNS):
        members = [node for node in graph.nodes if node.kind in kinds]
        near = {node.id: _near(node.id, graph, placed) for node in members}
        members.sort(key=lambda node: (near[node.id], order[node.id]))
        for row, node in enumerate(members):
            height = _height(graph) * (row + 0.5) / len(members)
            placed[node.id] = (float(column * _COLUMN), height)
    return placed


def _height(graph: Graph) -> int:
    """Return the height that the fullest column needs."""
    counts = (sum(node.kind in kinds for node in graph.nodes) for kinds in _COLUMNS)
    return max(_LEAST, _ROW * max(counts))


def _near(node_id: str, graph: Graph, placed: Mapping[str, tuple[float, float]]) -> float:
    """Return the mean height of the placed nodes that one is linked to."""
    ends = [(one.source, one.target) for one in graph.links if node_id in (one.source, one.target)]
    heights = [placed[end][1] for pair in ends for end in pair if end in placed]
    return sum(heights) / len(heights) if heights else 0.5


def _node(visit: Visit, node: Node, kinds: list[NodeKind]) -> dict[str, JsonValue]:
    label = _label(visit, node)
    short = label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"
    return {
        "id": node.id,
        "name": label,
        "category": kinds.index(node.kind),
        "symbolSize": _SIZES.get(node.kind, 14),
        "symbol": "emptyCircle" if node.missing else "circle",
        "label": {
            "formatter": short.replace("{", "(").replace("}", ")"),
            # Beside the lines, not under them: they leave to the right.
            "position": _SIDES.get(node.kind, "right"),
        },
    }


def _label(visit: Visit, node: Node) -> str:
    if node.kind in {NodeKind.MEMORIES, NodeKind.RULES}:
        return f"{visit.say(f'graph.{node.kind.value}')} {node.count}"
    missing = f" ({visit.say('graph.missing')})" if node.missing else ""
    return printable(f"{node.label}{missing}")


def _page_of(node: Node, tenant: str) -> str | None:
    """Return the page that a node leads to."""
    item, browse = "/console/knowledge/item", "/console/knowledge"
    if node.missing:
        return None
    pages: Mapping[NodeKind, str | None] = {
        NodeKind.AGENT: address(PATH, agent=node.agent_id),
        NodeKind.MEMORIES: address(browse, agent=node.agent_id, kind=Kind.MEMORY.value),
        NodeKind.RULES: address(browse, agent=node.agent_id, kind=Kind.DMN_RULE.value),
        NodeKind.SKILL: address(item, kind=Kind.SKILL.value, tenant=tenant, id=node.skill),
        NodeKind.FILE: address(
            item, kind=Kind.SKILL.value, tenant=tenant, id=node.skill, path=node.path
        ),
        NodeKind.FEEDBACK: address("/console/feedback/run", id=node.feedback_id),
    }
    return pages[node.kind]


async def _items(visit: Visit, graph: Graph) -> Markup:
    """Draw links to the memories and tables that the picture only counts."""
    wanted = KnowledgeFilter(tenant_id=graph.tenant_id, agent_id=graph.agent_id)
    page = await KnowledgeService(visit.session).page(wanted, limit=_ITEMS)
    links = [
        el(
            "li",
            el("span", f"{named.kind(visit, item.kind)} ", class_="muted small"),
            link(
                item.name,
                "/console/knowledge/item",
                kind=item.kind.value,
                tenant=item.tenant_id,
                id=item.id,
            ),
        )
        for item in page.items
    ]
    more = link(visit.say("graph.more"), "/console/knowledge", tenant=graph.tenant_id)
    summary = el("summary", visit.say("graph.items"))
    return el("details", summary, el("ul", *links), more if page.next else None)


def _as_list(visit: Visit, graph: Graph) -> Markup:
    nodes = {node.id: node for node in graph.nodes}
    heads = ("graph.from", "graph.link", "graph.to")
    rows = [
        (
            _named(visit, nodes[one.source], graph.tenant_id),
            visit.say(f"graph.{one.kind.value}"),
            _named(visit, nodes[one.target], graph.tenant_id),
        )
        for one in graph.links
        if one.source in nodes and one.target in nodes
    ]
    table = listed([visit.say(head) for head in heads], rows, label=visit.say("frame.graph"))
    return el("details", el("summary", visit.say("graph.as_list")), table)


def _named(visit: Visit, node: Node, tenant: str) -> Part:
    kind = el("span", f"{visit.say(f'graph.{node.kind.value}')} ", class_="muted small")
    to = _page_of(node, tenant)
    label = _label(visit, node)
    return join([kind, el("a", label, href=to) if to else label])


def _mermaid(visit: Visit, graph: Graph) -> Markup:
    return el(
        "details",
        el("summary", visit.say("graph.mermaid")),
        el("div", graph.mermaid, class_="code"),
        twin(visit, "/v1/graph", tenant_id=graph.tenant_id, agent_id=graph.agent_id),
    )
