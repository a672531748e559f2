"""GVDL statements, carried out one by one on a session.

Each kind of statement has one function. Where a script of Graphsurge's asks for something that has
no meaning here (hosts, process numbers, block sizes), a note says why; no statement is ignored in
silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from graphtide.api.answers import Answer, collection_answer, graph_answer, view_answer
from graphtide.api.catalog_graph import CatalogGraph
from graphtide.api.explain import explain_statement
from graphtide.api.export import save_collection, save_graph, save_mappings
from graphtide.api.listings import (
    list_answer,
    list_collections,
    list_graphs,
    list_runs,
    list_views,
)
from graphtide.api.run_answers import run_answer
from graphtide.api.session import Session
from graphtide.api.view import graph_of
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.parse import parse_script
from graphtide.lang.gvdl.statements import COLUMN_ROLES
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.errors import ExistsError, InputError
from graphtide.model.paths import given_path
from graphtide.model.wording import counted
from graphtide.store.collection import collection_kind, open_collection
from graphtide.store.graph import open_graph
from graphtide.store.transfer import copy_in, copy_out

UNNAMED = "graph"
"""The name of a graph that is loaded without one; loading another replaces it."""

_HOSTS = "hosts has no meaning here: Spark decides where work runs (see the session's master)"
_EVERY_HOST = "the script of every host creates the collection, and the last one stays"
_THREADS = "threads has no meaning here: Spark's session decides how many tasks run at once"
_BLOCKS = "block_size has no meaning here: files are Parquet"


def execute(session: Session, text: str, *, file: str | None = None) -> Iterator[Answer]:
    """Carry out a script, statement by statement; the whole text is parsed first.

    A statement that fails ends the script; those before it stay done.
    """
    for statement in parse_script(text, file):
        yield execute_statement(session, statement)


def execute_statement(session: Session, statement: s.Statement) -> Answer:
    """Carry out one statement."""
    return _ACTIONS[type(statement)](session, statement)


def _create_view(session: Session, statement: s.CreateView) -> Answer:
    view = session.create_view(statement)
    return view_answer(view, open_collection(session.catalog, statement.name))


def _create_collection(session: Session, statement: s.CreateCollection) -> Answer:
    made = replace(statement, replace=True) if statement.hosts else statement
    collection = session.create_collection(made)
    answer = collection_answer(collection, open_collection(session.catalog, statement.name))
    notes = [f"{_HOSTS}; {_EVERY_HOST}"] if statement.hosts else []
    if statement.materialized or statement.full_view:
        notes.append("every collection is materialised, and every view of it can be read whole")
    return Answer(answer.text, answer.table, answer.value, tuple(notes))


def _create_grouped(session: Session, statement: s.CreateGrouped) -> Answer:
    graph = session.create_grouped(statement)
    stored = open_graph(session.catalog, statement.name)
    answer = graph_answer(graph, stored)
    if statement.save_to is None:
        return answer
    files = save_graph(stored, given_path(statement.save_to))
    note = "it is written as CSV, not as DOT: " + " and ".join(map(str, files))
    return Answer(answer.text, answer.table, answer.value, (note,))


def _load(session: Session, statement: s.LoadGraph) -> Answer:
    name = statement.name or UNNAMED
    graph = _loaded(session, statement, name)
    session.current = name
    stored = open_graph(session.catalog, name)
    notes = []
    if statement.mappings:
        path = save_mappings(stored, given_path(statement.mappings))
        notes.append(f"mappings are in {path}")
    if statement.randomize:
        notes.append("randomize has no meaning here: no answer depends on the order of edges")
    answer = graph_answer(graph, stored)
    return Answer(answer.text, answer.table, answer.value, tuple(notes))


def _loaded(session: Session, statement: s.LoadGraph, name: str) -> CatalogGraph:
    columns = {role: getattr(statement, role) for role in COLUMN_ROLES}
    try:
        return session.load(
            name,
            vertices=statement.vertices,
            edges=statement.edges,
            separator=statement.separator or ",",
            comment=statement.comment,
            header="infer" if statement.has_headers is None else statement.has_headers,
            timezone=statement.timezone or "UTC",
            on_bad_rows=statement.on_bad_rows or "refuse",
            replace=statement.replace or statement.name is None,
            hints="gvdl",
            **columns,
        )
    except ExistsError as error:
        again = unparse_statement(replace(statement, replace=True))
        error.hint = f"give another name, or replace it: {again}"
        raise


def _use(session: Session, statement: s.UseGraph) -> Answer:
    graph = session.graph(statement.name)
    session.current = statement.name
    return Answer(f"statements without 'on' are now on graph '{statement.name}'", value=graph)


def _show(session: Session, statement: s.Show) -> Answer:
    catalog, name = session.catalog, statement.name or ""
    match statement.what:
        case "graphs":
            return list_answer(list_graphs(catalog), "graph")
        case "graph":
            return graph_answer(session.graph(name), open_graph(catalog, name))
        case "views":
            return list_answer(list_views(catalog), "view")
        case "view":
            return view_answer(session.view(name), open_collection(catalog, name))
        case "collections":
            return list_answer(list_collections(catalog), "collection")
        case "collection" | "data":
            return collection_answer(session.collection(name), open_collection(catalog, name))
        case "computations":
            from graphtide.api.computations import computations_table

            found = computations_table()
            return Answer(counted(found.num_rows, "computation"), found)
        case "runs":
            return list_answer(list_runs(catalog), "run")
        case "run":
            return run_answer(session.results(name))


def _delete(session: Session, statement: s.Delete) -> Answer:
    name = statement.name
    if statement.what == "graph":
        session.delete_graph(_given(name))
        session.current = None if session.current == name else session.current
        return Answer(f"graph '{name}' is deleted")
    if statement.what == "run":
        session.delete_run(_given(name))
        return Answer(f"run '{name}' is deleted with its results")
    if name is not None:
        found = collection_kind(session.catalog, name)
        if found not in (statement.what, None):
            raise InputError(f"'{name}' is a {found}", hint=f"delete {found} {name}")
        session.delete_collection(name)
        return Answer(f"{statement.what} '{name}' is deleted")
    names = session.collections()
    known = [one for one in names if collection_kind(session.catalog, one) == "collection"]
    for one in known:
        session.delete_collection(one)
    kept = tuple(
        f"'{one}' is damaged and stays: delete it by its name" for one in names if one not in known
    )
    return Answer(f"{counted(len(known), 'collection')} deleted", notes=kept)


def _set_threads(session: Session, statement: s.SetThreads) -> Answer:
    session.gateway.set_parallelism(statement.threads)
    notes = []
    if statement.process_id:
        notes.append(
            f"process_id {statement.process_id} has no meaning here: run the script once, "
            "Spark spreads the work over the machines of its master"
        )
    return Answer(f"Spark now shuffles into {statement.threads} parts", notes=tuple(notes))


def _serialize(session: Session, statement: s.Serialize) -> Answer:
    notes = [_BLOCKS] if statement.block_size is not None else []
    notes += [_THREADS] if statement.threads is not None else []
    if statement.collection is not None:
        folder, what = session.catalog.existing_collection(statement.collection), "collection"
    else:
        folder, what = session.catalog.existing_graph(session.current_graph()), "graph"
    target = copy_out(folder, given_path(statement.path))
    return Answer(f"{what} '{folder.name}' is copied to {target}", notes=tuple(notes))


def _deserialize(session: Session, statement: s.Deserialize) -> Answer:
    notes = (_THREADS,) if statement.threads is not None else ()
    name = copy_in(session.catalog, given_path(statement.path), statement.what)
    if statement.what == "graph":
        session.current = name
        answer = graph_answer(session.graph(name), open_graph(session.catalog, name))
    else:
        stored = open_collection(session.catalog, name)
        answer = collection_answer(session.collection(name), stored)
    return Answer(answer.text, answer.table, answer.value, notes)


def _save_graph(session: Session, statement: s.SaveGraph) -> Answer:
    stored = open_graph(session.catalog, session.current_graph())
    files = save_graph(stored, given_path(statement.path))
    return Answer(f"graph '{stored.name}' is written to " + " and ".join(map(str, files)))


def _save_collection(session: Session, statement: s.SaveCollection) -> Answer:
    stored = open_collection(session.catalog, statement.name)
    graph = graph_of(session, stored)
    files = save_collection(stored, graph, given_path(statement.path), initial=statement.initial)
    text = f"collection '{stored.name}' is written to {statement.path}: {len(files)} files"
    return Answer(text, notes=(_THREADS,))


def _run(session: Session, statement: s.Run) -> Answer:
    # Imported here: programs and kernels take a second that other statements do not need.
    from graphtide.api.run_statement import carry_out_run

    return carry_out_run(session, statement)


def _explain(session: Session, statement: s.Explain) -> Answer:
    return Answer(explain_statement(session, statement.statement))


def _given(name: str | None) -> str:
    if name is None:
        raise InputError("the statement needs a name")
    return name


_ACTIONS: dict[type, Callable[[Session, Any], Answer]] = {
    s.CreateView: _create_view,
    s.CreateCollection: _create_collection,
    s.CreateGrouped: _create_grouped,
    s.LoadGraph: _load,
    s.UseGraph: _use,
    s.Show: _show,
    s.Delete: _delete,
    s.SetThreads: _set_threads,
    s.Serialize: _serialize,
    s.Deserialize: _deserialize,
    s.SaveGraph: _save_graph,
    s.SaveCollection: _save_collection,
    s.Run: _run,
    s.Explain: _explain,
}
