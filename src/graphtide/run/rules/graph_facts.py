"""A graph in memory as facts: records of its edges and of its vertices, with their properties.

Texts are stored as codes; they are looked up in the graph's own data when a code is first met. An
edge or vertex that lacks a text that the rules read has no fact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.vertex_data import NO_TEXT
from graphtide.lang.datalog.graph_program import EDGE, VERTEX, RuleProgram, vertex_wanted
from graphtide.plan.expressions import ValueType
from graphtide.run.dataflow.vertex_values import DTYPES

Columns = dict[str, NDArray[Any]]
Int32 = NDArray[np.int32]


class GraphFacts:
    """The facts of one graph, as columns by the names of a program's relations."""

    def __init__(self, graph: ResidentGraph, program: RuleProgram) -> None:
        self._graph = graph
        self._program = program
        self._texts: dict[str, dict[int, str]] = {}
        names = {item.name: item.names for item in program.plan.relations}
        self._edge, self._vertex = names.get(EDGE), names.get(VERTEX)

    def edges(self, edges: Int32) -> Columns | None:
        """Edges by their inside numbers; None where the rules do not read them."""
        if self._edge is None:
            return None
        graph = self._graph
        src, dst = graph.ends(edges)
        if not graph.directed:  # Both ways, a loop once.
            back = src != dst
            src, dst = np.concatenate([src, dst[back]]), np.concatenate([dst, src[back]])
            edges = np.concatenate([edges, edges[back]])
        columns: list[NDArray[Any]] = [src, dst]
        there = np.ones(len(edges), np.bool_)
        for name, kind in self._program.edge_properties:
            if kind is ValueType.TEXT:
                codes = graph.coded(name, kind)[edges]
                there &= codes != NO_TEXT
                columns.append(self._edge_texts(name, codes))
            else:
                columns.append(graph.column(name, DTYPES[kind.value])[edges])
        return _columns(self._edge, columns, there)

    def vertices(self) -> Columns | None:
        """All vertices; None where the rules do not read them."""
        if self._vertex is None:
            return None
        count = self._graph.vertices
        columns: list[NDArray[Any]] = [np.arange(count)]
        there = np.ones(count, np.bool_)
        for wanted in vertex_wanted(self._program.vertex_properties):
            if wanted.type is ValueType.TEXT:
                texts = self._graph.vertex_data.plain(wanted)[:count]
                there &= np.array([item is not None for item in texts], np.bool_)
                columns.append(texts)
            else:
                columns.append(self._graph.vertex_data.array(wanted)[:count])
        return _columns(self._vertex, columns, there)

    def _edge_texts(self, name: str, codes: NDArray[np.int64]) -> NDArray[Any]:
        known = self._texts.setdefault(name, {NO_TEXT: ""})
        if not known.keys() >= set(codes.tolist()):
            graph = self._graph
            texts = graph.by_inside(graph.edge_data.plain(name, ValueType.TEXT, 0, graph.edges))
            all_codes = graph.coded(name, ValueType.TEXT)[: graph.edges]
            pairs = zip(all_codes.tolist(), texts.tolist(), strict=True)
            known.update({code: text for code, text in pairs if text is not None})
        return np.array([*(known[code] for code in codes.tolist()), None], np.object_)[:-1]


def _columns(
    names: tuple[str, ...], found: list[NDArray[Any]], there: NDArray[np.bool_]
) -> Columns:
    return {name: column[there] for name, column in zip(names, found, strict=True)}
