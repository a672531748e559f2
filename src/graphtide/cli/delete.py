"""`graphtide delete`: remove a graph, a view, a collection or a run, after asking."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.wording import counted, sized

if TYPE_CHECKING:
    from graphtide.api.session import Session


class Kind(StrEnum):
    """What can be deleted."""

    GRAPH = "graph"
    VIEW = "view"
    COLLECTION = "collection"
    RUN = "run"


@dataclass(frozen=True, kw_only=True)
class DeleteOptions(GlobalOptions):
    """What to delete, and whether to ask."""

    what: Annotated[Kind, typer.Argument(help="What it is.", show_default=False)]
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False


def delete(invocation: Invocation, options: DeleteOptions) -> None:
    """Delete a graph, a view, a collection, or a run with its results.

    Collections of a deleted graph stay, and so do runs of a deleted collection.

    graphtide delete run years-WCC
    """
    from graphtide.lang.gvdl.statements import Delete
    from graphtide.run.statements.execute import execute_statement

    described = _description(invocation.session, options)
    if not options.yes:
        _ask(described)
    statement = Delete(options.what.value, options.name)
    invocation.printer.answer(execute_statement(invocation.session, statement))


def _description(session: Session, options: DeleteOptions) -> str:
    """What would be lost, in words; an error if it is not there or is something else."""
    try:
        return _healthy(session, options)
    except (NotFoundError, InputError):
        raise
    except StoreError:
        return f"unreadable {options.what} '{options.name}'"


def _healthy(session: Session, options: DeleteOptions) -> str:
    from graphtide.run.catalog.listings import finished_views
    from graphtide.store.collection import collection_kind
    from graphtide.store.results import open_run

    name = options.name
    if options.what is Kind.GRAPH:
        graph = session.graph(name)
        return f"graph '{name}' of {sized(graph.num_vertices, graph.num_edges, ' and ')}"
    if options.what is Kind.RUN:
        finished, views = finished_views(open_run(session.catalog, name))
        return f"run '{name}' with the results of {finished:,} of {views:,} views"
    kind = collection_kind(session.catalog, name)
    if kind not in (options.what.value, None):
        raise InputError(f"'{name}' is a {kind}", hint=f"graphtide delete {kind} {name}")
    collection = session.collection(name)
    held = (len(collection[0]), "edge") if kind == "view" else (len(collection), "view")
    return f"{kind} '{name}' on {collection.graph} of {counted(*held)}"


def _ask(described: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(
            f"{described} is deleted only after asking, and there is nobody to ask",
            hint="say --yes",
        )
    typer.confirm(f"delete {described}?", abort=True, err=True)
