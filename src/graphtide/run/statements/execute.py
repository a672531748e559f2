"""GVDL statements, carried out one by one on a workspace, or explained without carrying them out.

Each kind of statement has one function. Where a script of Graphsurge's asks for something that has
no meaning here (hosts, process numbers, block sizes), a note says why; no statement is ignored in
silence. An explanation has the tree of a statement, its views, atoms and buckets, and the plan of
Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.parse import parse_script
from graphtide.lang.gvdl.statements import COLUMN_ROLES, LiveStatement
from graphtide.lang.gvdl.unparse import explain_tree, unparse
from graphtide.lang.nga import SUFFIX
from graphtide.model.errors import ExistsError, InputError
from graphtide.model.names import given_path
from graphtide.model.text import counted
from graphtide.plan.predicates import atoms_of
from graphtide.plan.signatures import SignatureLayout, layout_signatures
from graphtide.run.catalog.build import (
    FactsOf,
    GroupedRequest,
    grouped_request,
    load_graph,
    make_collection,
    make_grouped,
    stored_request,
)
from graphtide.run.catalog.listings import (
    list_collections,
    list_graphs,
    list_runs,
    list_views,
    stale_notes,
)
from graphtide.run.catalog.opened_runs import open_stored_run
from graphtide.run.catalog.refresh import refresh_collection
from graphtide.run.catalog.row_counts import RowCounts
from graphtide.run.catalog.stored_runs import explain_run
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import RunRequest
from graphtide.run.live.programs import compiled_program
from graphtide.run.statements.answers import (
    Answer,
    Made,
    collection_answer,
    counted_answer,
    graph_answer,
    list_answer,
    run_answer,
    view_answer,
)
from graphtide.run.statements.computations import (
    chosen_computation,
    computations_table,
    said_outright,
)
from graphtide.run.statements.run_statement import carry_out_run
from graphtide.run.views.build import CollectionRequest
from graphtide.spark.ingest.source import GraphSource
from graphtide.store.collection import (
    collection_kind,
    collection_names,
    graph_behind,
    open_collection,
    open_view,
)
from graphtide.store.export import copy_in, copy_out, save_collection, save_graph, save_mappings
from graphtide.store.graph import StoredGraph, open_graph

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
        case s.CreateView() | s.CreateCollection():
            request = stored_request(space, statement, facts_of=facts_of)
            parts += request_sections(space, request, spark=spark)
        case s.CreateGrouped():
            parts += _grouped_sections(space, grouped_request(space, statement), spark=spark)
        case s.LoadGraph():
            parts.append(_section("reads", _sources(statement)))
        case s.Run():
            parts.append(_section("run", _run_text(space, statement)))
    return "\n\n".join(parts)


def request_sections(
    space: Workspace, request: CollectionRequest[StoredGraph], *, spark: bool = True
) -> list[str]:
    """What is known of a collection before it is made."""
    layout = layout_signatures(view.predicate for view in request.views)
    sections = [
        _section(f"views ({len(request.views):,})", _view_lines(request)),
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


def _view_lines(request: CollectionRequest[StoredGraph]) -> str:
    return _first([f"{view.name}: {view.predicate}" for view in request.views])


def _atoms(request: CollectionRequest[StoredGraph]) -> str:
    atoms = dict.fromkeys(atom for view in request.views for atom in atoms_of(view.predicate))
    return _first([str(atom) for atom in atoms]) or "none: every edge is in every view or in none"


def _buckets(layout: SignatureLayout) -> str:
    columns = len(layout.columns) or 1
    return f"{layout.explain()}\n{columns} long{'s' if columns > 1 else ''} an edge"


def _sources(statement: s.LoadGraph) -> str:
    vertices = statement.vertices or "none: the ends of the edges"
    return f"vertices: {vertices}\nedges: {statement.edges}"


def _run_text(space: Workspace, statement: s.Run) -> str:
    """The program, its mode and plan, and an estimate."""
    stored = open_collection(space.catalog, statement.collection)
    schema = graph_behind(space.catalog, stored).schema
    chosen = chosen_computation(said_outright(schema, statement))
    compiled = compiled_program(chosen.program, "auto", directed=schema.directed)
    request = RunRequest("", compiled, workers=statement.workers, on=statement.on)
    text = explain_run(space, stored, request)
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


UNNAMED = "graph"
"""The name of a graph that is loaded without one; loading another replaces it."""

_HOSTS = "hosts has no meaning here: Spark decides where work runs (see the session's master)"
_EVERY_HOST = "the script of every host creates the collection, and the last one stays"
_THREADS = "threads has no meaning here: Spark's session decides how many tasks run at once"
_BLOCKS = "block_size has no meaning here: files are Parquet"


def execute(space: Workspace, text: str, *, file: str | None = None) -> Iterator[Answer[Made]]:
    """Carry out a script, statement by statement; the whole text is parsed first.

    A statement that fails ends the script; those before it stay done.
    """
    for statement in parse_script(text, file):
        yield execute_statement(space, statement)


def execute_statement(space: Workspace, statement: s.Statement) -> Answer[Made]:
    return _ACTIONS[type(statement)](space, statement)


def _create_view(space: Workspace, statement: s.CreateView) -> Answer[Made]:
    return view_answer(make_collection(space, statement))


def _create_collection(space: Workspace, statement: s.CreateCollection) -> Answer[Made]:
    made = replace(statement, replace=True) if statement.hosts else statement
    stored = make_collection(space, made)
    notes = [f"{_HOSTS}; {_EVERY_HOST}"] if statement.hosts else []
    if statement.materialized or statement.full_view:
        notes.append("every collection is materialised, and every view of it can be read whole")
    return collection_answer(stored, tuple(notes))


def _create_grouped(space: Workspace, statement: s.CreateGrouped) -> Answer[Made]:
    stored = make_grouped(space, statement)
    if statement.save_to is None:
        return graph_answer(stored)
    files = save_graph(stored, given_path(statement.save_to))
    note = "it is written as CSV, not as DOT: " + " and ".join(map(str, files))
    return graph_answer(stored, (note,))


def _load(space: Workspace, statement: s.LoadGraph) -> Answer[Made]:
    stored, counts = _loaded(space, statement)
    notes = list(counts.notes)
    if statement.mappings:
        path = save_mappings(stored, given_path(statement.mappings))
        notes.append(f"mappings are in {path}")
    if statement.randomize:
        notes.append("randomize has no meaning here: no answer depends on the order of edges")
    return counted_answer(stored, replace(counts, notes=tuple(notes)))


def _loaded(space: Workspace, statement: s.LoadGraph) -> tuple[StoredGraph, RowCounts]:
    options = {role: getattr(statement, role) for role in COLUMN_ROLES}
    options |= {
        "separator": statement.separator or ",",
        "comment": statement.comment,
        "header": "infer" if statement.has_headers is None else statement.has_headers,
        "timezone": statement.timezone or "UTC",
        "directed": statement.directed,
        "on_bad_rows": statement.on_bad_rows,
        "at_most": statement.at_most,
        "hints": "gvdl",
    }
    source = GraphSource(edges=statement.edges, vertices=statement.vertices)
    again = statement.replace or statement.name is None
    try:
        return load_graph(space, statement.name or UNNAMED, source, options, replace=again)
    except ExistsError as error:
        replacing = unparse(replace(statement, replace=True))
        error.hint = f"give another name, or replace it: {replacing}"
        raise


def _use(space: Workspace, statement: s.UseGraph) -> Answer[Made]:
    graph = open_graph(space.catalog, statement.name)
    space.current = statement.name
    return Answer(f"statements without 'on' are now on graph '{statement.name}'", value=graph)


def _show(space: Workspace, statement: s.Show) -> Answer[Made]:
    catalog, name = space.catalog, statement.name or ""
    match statement.what:
        case "graphs":
            return list_answer(list_graphs(catalog), "graph")
        case "graph":
            return graph_answer(open_graph(catalog, name))
        case "views":
            return list_answer(list_views(catalog), "view")
        case "view":
            view = open_view(catalog, name)
            return view_answer(view, stale_notes(catalog, view))
        case "collections":
            return list_answer(list_collections(catalog), "collection")
        case "collection" | "data":
            collection = open_collection(catalog, name)
            return collection_answer(collection, stale_notes(catalog, collection))
        case "computations":
            table = computations_table()
            return Answer(counted(table.num_rows, "computation"), table)
        case "runs":
            return list_answer(list_runs(catalog), "run")
        case "run":
            return run_answer(open_stored_run(catalog, name))


def _refresh(space: Workspace, statement: s.Refresh) -> Answer[Made]:
    name = statement.name
    kind = collection_kind(space.catalog, name)
    if kind not in (statement.what, None):
        raise InputError(f"'{name}' is a {kind}", hint=f"refresh {kind} {name}")
    done = refresh_collection(space, name)
    if statement.what == "view":
        return view_answer(done.stored, (done.how,))
    return collection_answer(done.stored, (done.how,))


def _delete(space: Workspace, statement: s.Delete) -> Answer[Made]:
    name = statement.name
    if statement.what == "graph":
        space.close_live(_given(name))
        space.catalog.delete_graph(_given(name))
        space.current = None if space.current == name else space.current
        return Answer(f"graph '{name}' is deleted")
    if statement.what == "run":
        space.catalog.delete_run(_given(name))
        return Answer(f"run '{name}' is deleted with its results")
    if name is not None:
        kind = collection_kind(space.catalog, name)
        if kind not in (statement.what, None):
            raise InputError(f"'{name}' is a {kind}", hint=f"delete {kind} {name}")
        space.catalog.delete_collection(name)
        return Answer(f"{statement.what} '{name}' is deleted")
    names = collection_names(space.catalog)
    known = [one for one in names if collection_kind(space.catalog, one) == "collection"]
    for one in known:
        space.catalog.delete_collection(one)
    kept = tuple(
        f"'{one}' is damaged and stays: delete it by its name" for one in names if one not in known
    )
    return Answer(f"{counted(len(known), 'collection')} deleted", notes=kept)


def _set_threads(space: Workspace, statement: s.SetThreads) -> Answer[Made]:
    space.gateway.set_parallelism(statement.threads)
    notes = []
    if statement.process_id:
        notes.append(
            f"process_id {statement.process_id} has no meaning here: run the script once, "
            "Spark spreads the work over the machines of its master"
        )
    return Answer(f"Spark now shuffles into {statement.threads} parts", notes=tuple(notes))


def _serialize(space: Workspace, statement: s.Serialize) -> Answer[Made]:
    notes = [_BLOCKS] if statement.block_size is not None else []
    notes += [_THREADS] if statement.threads is not None else []
    if statement.collection is not None:
        folder, what = space.catalog.existing_collection(statement.collection), "collection"
    else:
        folder, what = space.catalog.existing_graph(space.current_graph()), "graph"
    target = copy_out(folder, given_path(statement.path))
    return Answer(f"{what} '{folder.name}' is copied to {target}", notes=tuple(notes))


def _deserialize(space: Workspace, statement: s.Deserialize) -> Answer[Made]:
    notes = (_THREADS,) if statement.threads is not None else ()
    name = copy_in(space.catalog, given_path(statement.path), statement.what)
    if statement.what == "graph":
        space.current = name
        return graph_answer(open_graph(space.catalog, name), notes)
    return collection_answer(open_collection(space.catalog, name), notes)


def _save_graph(space: Workspace, statement: s.SaveGraph) -> Answer[Made]:
    stored = open_graph(space.catalog, space.current_graph())
    files = save_graph(stored, given_path(statement.path))
    return Answer(f"graph '{stored.name}' is written to " + " and ".join(map(str, files)))


def _save_collection(space: Workspace, statement: s.SaveCollection) -> Answer[Made]:
    stored = open_collection(space.catalog, statement.name)
    graph = graph_behind(space.catalog, stored)
    files = save_collection(stored, graph, given_path(statement.path), initial=statement.initial)
    text = f"collection '{stored.name}' is written to {statement.path}: {len(files)} files"
    return Answer(text, notes=(_THREADS,))


def _explain(space: Workspace, statement: s.Explain) -> Answer[Made]:
    return Answer(explain_statement(space, statement.statement))


def _on_live(space: Workspace, statement: LiveStatement) -> Answer[Made]:
    # Imported here: live graphs and queries with their kernels, which other statements do not need.
    from graphtide.run.statements.live import LIVE_ACTIONS

    return LIVE_ACTIONS[type(statement)](space, statement)


def _given(name: str | None) -> str:
    if name is None:
        raise InputError("the statement needs a name")
    return name


_ACTIONS: dict[type, Callable[[Workspace, Any], Answer[Made]]] = {
    s.CreateView: _create_view,
    s.CreateCollection: _create_collection,
    s.CreateGrouped: _create_grouped,
    s.LoadGraph: _load,
    s.UseGraph: _use,
    s.Show: _show,
    s.Delete: _delete,
    s.Refresh: _refresh,
    s.SetThreads: _set_threads,
    s.Serialize: _serialize,
    s.Deserialize: _deserialize,
    s.SaveGraph: _save_graph,
    s.SaveCollection: _save_collection,
    s.Run: carry_out_run,
    s.Explain: _explain,
    **dict.fromkeys(get_args(LiveStatement), _on_live),
}
