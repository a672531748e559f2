"""Queries between statements and `gt.queries`: what a statement asks, and the statement of it."""

from __future__ import annotations

from typing import Any

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl.live_statements import CreateQuery
from graphtide.lang.gvdl.unparse_live import unparse_asked
from graphtide.model.errors import InputError
from graphtide.run.queries.kinds import Hops, Path, Paths, QueryKind, Reach, Regular


def query_of(node: CreateQuery) -> QueryKind:
    """What a statement asks; LanguageError with its place if that cannot be asked."""
    costs: dict[str, Any] = {"weight": node.weight, "bound": node.bound}
    way: dict[str, Any] = {"direction": node.direction or "out"}
    try:
        match node.asked:
            case "path":
                return Path(node.start, node.target, **costs, **way)
            case "paths":
                return Paths(node.pairs, **costs, **way)
            case "hops":
                return Hops(node.start, node.hops or 0, **way)
            case "reach":
                return Reach(node.start, node.target, **way)
            case "regular":
                label = "label" if node.label is None else node.label
                return Regular(node.path or "", node.start, node.target, label, **costs)
    except InputError as error:
        raise language_error(error.what, node.place(node.asked), error.hint) from None


def statement_of(name: str, graph: str, asked: QueryKind) -> CreateQuery:
    """The statement that asks a query."""
    costs: dict[str, Any] = {"weight": asked.weight, "bound": asked.bound}
    match asked:
        case Path(source, target):
            given = {"asked": "path", "start": source, "target": target, **costs}
        case Paths():
            given = {"asked": "paths", "pairs": asked.pairs, **costs}
        case Hops(start, k):
            given = {"asked": "hops", "start": start, "hops": k}
        case Reach(start, target):
            given = {"asked": "reach", "start": start, "target": target}
        case Regular(path, start, target, label):
            ends = {"start": start, "target": target}
            given = {"asked": "regular", "path": path, "label": label, **ends, **costs}
        case _:
            raise AssertionError(asked)
    way: Any = getattr(asked, "direction", "out")
    return CreateQuery(name, graph, **given, direction=None if way == "out" else way)


def asked_text(asked: QueryKind) -> str:
    """What a query asks, in the words of a statement."""
    return unparse_asked(statement_of("", "", asked))
