"""Statements on live graphs as text."""

from __future__ import annotations

from graphtide.lang.gvdl import statements as live
from graphtide.lang.gvdl.literals import write_literal, write_statement_name
from graphtide.lang.gvdl.unparse_views import unparse_amount

_FILES = ("insert", "delete", "vertices", "update", "remove")


def unparse_live(node: live.LiveStatement) -> str:
    """A statement as text, without the semicolon."""
    match node:
        case live.CreateLive():
            return _create_live(node)
        case live.AdvanceLive():
            return _advance(node)
        case live.CreateQuery(name, graph):
            create = "create or replace" if node.replace else "create"
            return f"{create} query {_name(name)} on {_live(graph)} {unparse_asked(node)}"
        case live.CreateProgram():
            return _create_program(node)
        case live.DropRegistered(what, name, graph):
            return f"drop {what} {_name(name)} on {_live(graph)}"
        case live.ExplainRegistered(what, name, graph):
            return f"explain {what} {_name(name)} on {_live(graph)}"
        case live.ShowRegistered(what, str() as graph, str() as one):
            return f"show {what} {_name(one)} on {_live(graph)}"
        case live.ShowRegistered(what, listed):
            where = "" if listed is None else f" on {_live(listed)}"
            return f"show {'queries' if what == 'query' else 'programs'}{where}"
        case live.SetLive(graph, what, to, far):
            value = "none" if to is None else write_literal(to)
            return f"set {what} {value}{' far' * far} on {_live(graph)}"
        case live.ShowLive(None):
            return "show live graphs"
        case live.ShowLive(str() as one):
            return f"show {_live(one)}"
    raise AssertionError(node)


def unparse_computation(
    written: str, parameters: tuple[tuple[str, live.ParameterValue], ...], library: str | None
) -> str:
    """A computation, by its name as it is written or else by its file, with its parameters."""
    parts = [f"computation {written or write_literal(library)}"]
    if parameters:
        pairs = ", ".join(f"{name}={_value(value)}" for name, value in parameters)
        parts.append(f"({pairs})")
    if written and library is not None:
        parts.append(f"from {write_literal(library)}")
    return " ".join(parts)


def _value(value: live.ParameterValue) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return write_literal(value)


def _create_program(node: live.CreateProgram) -> str:
    create = "create or replace" if node.replace else "create"
    parts = [f"{create} program {_name(node.name)} on {_live(node.graph)} run", told_program(node)]
    for option in ("mode", "tolerance", "keep"):
        value = getattr(node, option)
        if value is not None:
            parts.append(f"{option} {value if option == 'mode' else write_literal(value)}")
    return " ".join(parts)


def told_program(node: live.CreateProgram) -> str:
    """What a program runs, as it stands behind `run`."""
    written = _name(node.computation) if node.computation else ""
    return unparse_computation(written, node.parameters, node.library)


def unparse_asked(node: live.CreateQuery) -> str:
    """What a query asks, as it stands behind its graph."""
    parts = [_asked(node)]
    if node.label is not None:
        parts.append(f"label {_name(node.label)}")
    if node.weight is not None:
        parts.append(f"weight {_name(node.weight)}")
    if node.bound is not None:
        parts.append(f"bound {write_literal(node.bound)}")
    if node.direction is not None:
        parts.append(f"direction {node.direction}")
    return " ".join(parts)


def _asked(node: live.CreateQuery) -> str:
    ends = f"from {write_literal(node.start)}"
    if node.target is not None:
        ends += f" to {write_literal(node.target)}"
    match node.asked:
        case "paths":
            pairs = (f"({write_literal(a)}, {write_literal(b)})" for a, b in node.pairs)
            return f"paths [{', '.join(pairs)}]"
        case "hops":
            return f"hops {node.hops} {ends}"
        case "regular":
            return f"regular {write_literal(node.path)} {ends}"
    return f"{node.asked} {ends}"


def _create_live(node: live.CreateLive) -> str:
    parts = [f"create {_live(node.name)}"]
    if node.edges is not None:
        known = node.vertices is not None
        vertices = f"vertices from {write_literal(node.vertices)} and " if known else ""
        parts.append(f"with {vertices}edges from {write_literal(node.edges)}")
    for role in ("separator", "id", "src", "dst"):
        value = getattr(node, role)
        if value is not None:
            parts.append(f"{role} {write_literal(value)}")
    if node.keep is not None:
        parts.append(f"keep {unparse_amount(node.keep)}")
        parts += [] if node.time is None else [f"by {_name(node.time)}"]
    parts += [] if node.directed else ["undirected"]
    return " ".join(parts)


def _advance(node: live.AdvanceLive) -> str:
    parts = [f"advance {_live(node.name)}"]
    for clause in _FILES:
        value = getattr(node, clause)
        if value is not None:
            parts.append(f"{clause} from {write_literal(value)}")
    if node.match:
        parts.append(f"match {', '.join(map(_name, node.match))}")
    for clause in ("separator", "id"):
        value = getattr(node, clause)
        if value is not None:
            parts.append(f"{clause} {write_literal(value)}")
    return " ".join(parts)


def _live(name: str) -> str:
    return f"live graph {_name(name)}"


def _name(name: str) -> str:
    return write_statement_name(name)
