"""Tree to text: `parse(unparse(x)) == x` for everything that can be written.

Names are quoted only where they must be, parentheses stand only where they change the meaning,
and Graphsurge's words become ours (`u.` is written `src.`, a cube is a collection). What cannot
be written, such as a name with a line break in it, is the caller's to avoid. Predicates and
view lists are in `unparse_views`, sections in `unparse_groups`, statements on live graphs in
`unparse_live`, all others here.
"""

from __future__ import annotations

import re

from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl.literals import write_literal, write_quoted_name, write_statement_name
from graphtide.lang.gvdl.statements import LiveStatement, Ordering
from graphtide.lang.gvdl.unparse_live import unparse_computation, unparse_live
from graphtide.lang.gvdl.unparse_views import (
    unparse_item,
    unparse_items,
    unparse_predicate,
    unparse_section,
    unparse_views,
)

# Words that would be read as a keyword where a name stands.
_KEYWORDS = re.compile(
    r"collection|with|from|computation|adaptive|scratch|basic|timely"
    r"|(?:arranged_|compare_|[12]_stage_)?differential|(?:arranged_|basic_)?individual",
    re.IGNORECASE,
)


def unparse(node: statements.Statement | tree.ViewList | tree.Item | tree.Predicate) -> str:
    """A statement, a view list, one of its items or a predicate as text."""
    if isinstance(node, statements.Statement):
        return unparse_statement(node)
    if isinstance(node, tree.ViewList):
        return unparse_views(node)
    return unparse_item(node) if isinstance(node, tree.Item) else unparse_predicate(node)


def unparse_statement(node: statements.Statement) -> str:
    """A statement as text, without the semicolon."""
    match node:
        case statements.CreateView():
            return _create_view(node)
        case statements.CreateCollection():
            return _create_collection(node)
        case statements.CreateGrouped():
            return _create_grouped(node)
        case statements.LoadGraph():
            return _load_graph(node)
        case statements.Run():
            return _run(node)
        case statements.Explain(statement):
            return f"explain {unparse_statement(statement)}"
        case statements.Serialize() | statements.Deserialize():
            return _serde(node)
    return unparse_live(node) if isinstance(node, LiveStatement) else _short(node)


def _short(
    node: statements.UseGraph
    | statements.Show
    | statements.Delete
    | statements.Refresh
    | statements.SetThreads
    | statements.SaveGraph
    | statements.SaveCollection,
) -> str:
    match node:
        case statements.UseGraph(name):
            return f"use graph {_name(name)}"
        case statements.Show("data", name):
            return f"show data for collection {_name(name or '')}"
        case statements.Show(what, name):
            return f"show {what}{_after(name)}"
        case statements.Delete(what, name):
            return f"delete {what}{_after(name)}"
        case statements.Refresh(what, name):
            return f"refresh {what} {_name(name)}"
        case statements.SetThreads(threads, process_id):
            return f"set threads {threads} and process_id {process_id}"
        case statements.SaveGraph(path):
            return f"save graph to {write_literal(path)}"
        case statements.SaveCollection(name, path, threads, initial):
            where = f"{write_literal(path)} {threads} {write_literal(initial)}"
            return f"save cube {_name(name)} to {where}"


def _name(name: str) -> str:
    return write_quoted_name(name) if _KEYWORDS.fullmatch(name) else write_statement_name(name)


def _after(name: str | None) -> str:
    return "" if name is None else f" {_name(name)}"


def _create_view(node: statements.CreateView) -> str:
    where = f"edges where {unparse_predicate(node.predicate)}"
    return f"{_create(node)} view {_name(node.name)}{_on(node.base)} {where}"


def _create_grouped(node: statements.CreateGrouped) -> str:
    parts = [f"{_create(node)} view {_name(node.name)}{_on(node.base)}"]
    parts += ["with"] * (not node.vertices)
    parts += [unparse_section("vertices", section) for section in node.vertices]
    parts += [unparse_section("edges", section) for section in node.edges]
    if node.save_to is not None:
        parts.append(f"save to {write_literal(node.save_to)}")
    return " ".join(parts)


def _create(
    node: statements.CreateView | statements.CreateCollection | statements.CreateGrouped,
) -> str:
    return "create or replace" if node.replace else "create"


def _on(base: str | None) -> str:
    return "" if base is None else f" on {_name(base)}"


def _create_collection(node: statements.CreateCollection) -> str:
    parts = [f"{_create(node)} view collection {_name(node.name)}{_on(node.base)}"]
    if node.within is not None:
        parts.append(f"within {unparse_predicate(node.within)}")
    parts.append(unparse_items(node.items))
    if node.ordering == Ordering.MANUAL:
        parts.append("manually_ordered")
    elif node.ordering != Ordering.AUTO:
        parts.append(f"ordered by {node.ordering}")
    parts += ["materialized"] * node.materialized
    parts += ["materialize_full_view"] * node.full_view
    return " ".join(parts) + _hosts(node.hosts)


def _hosts(hosts: tuple[str, ...]) -> str:
    return " hosts " + " ".join(map(write_literal, hosts)) if hosts else ""


def _load_graph(node: statements.LoadGraph) -> str:
    vertices = f"vertices from {write_literal(node.vertices)} and " if node.vertices else ""
    load = "load or replace" if node.replace else "load"
    head = f"{load} graph{_after(node.name)} with {vertices}edges from {write_literal(node.edges)}"
    words = {
        "separator": node.separator,
        "comment": node.comment,
        "has_headers": node.has_headers,
        "save mappings to": node.mappings,
        "timezone": node.timezone,
        **{role: getattr(node, role) for role in statements.COLUMN_ROLES},
    }
    parts = [f"{word} {write_literal(value)}" for word, value in words.items() if value is not None]
    parts += ["randomize"] * node.randomize
    parts += [] if node.directed else ["undirected"]
    if node.on_bad_rows is not None:
        parts.append(f"on bad rows {node.on_bad_rows}")
    if node.at_most is not None:
        parts.append(f"at most {write_literal(node.at_most)}")
    return " ".join([head, *parts])


def _run(node: statements.Run) -> str:
    written = _name(node.computation) if node.computation or node.library is None else ""
    computation = unparse_computation(written, node.parameters, node.library)
    parts = ["run", *_strategy(node.strategy), computation]
    parts.append(f"on collection {_name(node.collection)}")
    if node.name is not None:
        parts.append(f"as {_name(node.name)}")
    parts += ["resume"] * node.resume
    if node.verify is not None:
        parts.append(f"verify {node.verify}")
    if node.workers is not None:
        parts.append(f"workers {node.workers}")
    if node.on is not None:
        parts.append(f"on {node.on}")
    parts += ["forced"] * node.force
    if node.results is not None:
        parts.append(node.results)
    if node.save_to is not None:
        parts.append(f"save results to {write_literal(node.save_to)}")
    if node.hosts:
        parts.append(_hosts(node.hosts).strip())
    if node.indices is not None:
        parts.append(f"indices [{' '.join(map(str, node.indices))}]")
    return " ".join(parts)


def _strategy(node: statements.Strategy | None) -> list[str]:
    if node is None:
        return []
    words = [node.name]
    for name, value in node.options:
        words += [str(value)] if name == "batch" else [name, str(value)]
    return words


def _serde(node: statements.Serialize | statements.Deserialize) -> str:
    if isinstance(node, statements.Serialize):
        cube = f" cube {_name(node.collection)}" if node.collection is not None else ""
        head = f"serialize{cube} to {write_literal(node.path)}"
        if node.block_size is not None:
            head += f" block_size {node.block_size}"
    else:
        cube = " cube" if node.what == "collection" else ""
        head = f"deserialize{cube} from {write_literal(node.path)}"
    return head if node.threads is None else f"{head} threads {node.threads}"
