"""What a statement would do: its tree, its views, atoms and buckets, and the plan of Spark."""

from __future__ import annotations

from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.explain import explain_tree
from graphtide.lang.nga import SUFFIX
from graphtide.plan.predicates import atoms_of
from graphtide.plan.signatures import SignatureLayout, layout_signatures
from graphtide.run.catalog.build import CollectionRequest
from graphtide.run.catalog.requests import (
    FactsOf,
    GroupedRequest,
    collection_request,
    grouped_request,
    view_request,
)
from graphtide.run.catalog.stored_runs import explain_run
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.live.programs import compiled_program
from graphtide.run.statements.computations import chosen_computation, said_outright
from graphtide.store.behind import graph_behind
from graphtide.store.collection import open_collection

_SHOWN = 10


def explain_statement(
    space: Workspace,
    statement: s.Statement,
    *,
    spark: bool = True,
    facts_of: FactsOf | None = None,
) -> str:
    """All that is known of a statement before it is carried out. Changes nothing that is stored.

    Without `spark` its plan of a collection is left out, and with `facts_of` a graph generators of
    views ask that.

    A program that is `from` a file of Python is found by carrying out that file, as `run` does;
    what the file does besides, it does here too.
    """
    parts = [_section("tree", explain_tree(statement))]
    match statement:
        case s.CreateView():
            parts += request_sections(space, view_request(space, statement), spark=spark)
        case s.CreateCollection():
            request = collection_request(space, statement, facts_of=facts_of)
            parts += request_sections(space, request, spark=spark)
        case s.CreateGrouped():
            parts += _grouped_sections(space, grouped_request(space, statement), spark=spark)
        case s.LoadGraph():
            parts.append(_section("reads", _sources(statement)))
        case s.Run():
            parts.append(_section("run", _run(space, statement)))
    return "\n\n".join(parts)


def request_sections(
    space: Workspace, request: CollectionRequest, *, spark: bool = True
) -> list[str]:
    """What is known of a collection before it is made."""
    layout = layout_signatures(view.predicate for view in request.views)
    sections = [
        _section(f"views ({len(request.views):,})", _views(request)),
        _section("atoms", _atoms(request)),
        _section("buckets", _buckets(layout)),
    ]
    if spark:
        jobs = space.gateway.collection_jobs(request.graph, layout)
        sections.append(_section("Spark plan of the signatures", jobs.explain().strip()))
    return sections


def _grouped_sections(
    space: Workspace, request: GroupedRequest, *, spark: bool = True
) -> list[str]:
    sections = [_section("groups", request.plan.explain())]
    if spark:
        spark_plan = space.gateway.explain_groups(request.graph, request.plan)
        sections.append(_section("Spark plan of the edges", spark_plan.strip()))
    return sections


def _views(request: CollectionRequest) -> str:
    return _first([f"{view.name}: {view.predicate}" for view in request.views])


def _atoms(request: CollectionRequest) -> str:
    atoms = dict.fromkeys(atom for view in request.views for atom in atoms_of(view.predicate))
    return _first([str(atom) for atom in atoms]) or "none: every edge is in every view or in none"


def _buckets(layout: SignatureLayout) -> str:
    columns = len(layout.columns) or 1
    return f"{layout.explain()}\n{columns} long{'s' if columns > 1 else ''} an edge"


def _sources(statement: s.LoadGraph) -> str:
    vertices = statement.vertices or "none: the ends of the edges"
    return f"vertices: {vertices}\nedges: {statement.edges}"


def _run(space: Workspace, statement: s.Run) -> str:
    """The program, its mode and plan, and an estimate."""
    stored = open_collection(space.catalog, statement.collection)
    schema = graph_behind(space.catalog, stored).schema
    chosen = chosen_computation(said_outright(schema, statement))
    compiled = compiled_program(chosen.program, "auto", directed=schema.directed)
    text = explain_run(space, stored, compiled, statement.workers, statement.on)
    if statement.library is None:
        return text
    if statement.library.endswith(SUFFIX):
        return f"{text}\nto find the program, {statement.library} was read as L_NGA"
    return f"{text}\nto find the program, {statement.library} was carried out as Python"


def _first(lines: list[str]) -> str:
    shown = lines[:_SHOWN]
    if len(lines) > _SHOWN:
        shown.append(f"... and {len(lines) - _SHOWN:,} more")
    return "\n".join(shown)


def _section(title: str, text: str) -> str:
    body = "\n".join(f"  {line}".rstrip() for line in text.splitlines())
    return f"{title}\n{body}"
