"""No module imports itself round a corner, be it for types or within a function."""

from __future__ import annotations

import grimp
import networkx as nx
import pytest


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph[str]:
    """An edge from each module to each that it imports."""
    found = grimp.build_graph("graphtide", exclude_type_checking_imports=False, cache_dir=None)
    pairs = [
        (module, imported)
        for module in found.modules
        for imported in found.find_modules_directly_imported_by(module)
    ]
    graph = nx.DiGraph(pairs)
    # What users hold opens the page that shows it: the way back that pyproject.toml lists as well.
    page = [module for module in graph["graphtide.api.opening"] if ".web." in module]
    graph.remove_edges_from([("graphtide.api.opening", module) for module in page])
    return graph


def test_there_is_no_cycle(imports: nx.DiGraph[str]) -> None:
    knots = [knot for knot in nx.strongly_connected_components(imports) if len(knot) > 1]
    told = [" -> ".join(_round(imports.subgraph(knot))) for knot in knots]
    assert told == []


def test_the_graph_has_imports_for_types_and_those_within_functions(
    imports: nx.DiGraph[str],
) -> None:
    assert imports.has_edge("graphtide.api.session", "graphtide.spark.gateway"), "for types"
    assert imports.has_edge("graphtide.api.run", "graphtide.api.pictures.draw"), "in a function"


def _round(knot: nx.DiGraph[str]) -> list[str]:
    """One way round, from a module back to itself."""
    edges = nx.find_cycle(knot)
    return [edges[0][0], *(edge[1] for edge in edges)]
