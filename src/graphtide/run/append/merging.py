"""Merges of stored graphs: when an append finds that one is due, and when a user asks for one."""

from __future__ import annotations

from graphtide.model.errors import FullDiskError, LockedError
from graphtide.model.progress import Report
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.progress import shown
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.merge import is_merge_due, write_merged


def merge_graph(space: Workspace, name: str, *, renumber: bool) -> StoredGraph:
    """Make one base of a graph and its appends, now; with `renumber` without deleted edges.

    A graph that is one base already stays as it is.
    """
    stored = open_graph(space.catalog, name)
    if len(stored.states) == 1 and not (renumber and stored.has_gaps):
        return stored
    with shown(f"merge {name}", enabled=space.progress) as report:
        report("writing", None)
        return _merge(space, name, renumber=renumber or None)


def merge_if_due(space: Workspace, stored: StoredGraph, report: Report) -> StoredGraph:
    """The graph after an append, merged if reading its appends costs more than that by now.

    The append is done, whatever becomes of the merge: where there is no room for it, or another
    writer is at work, the next append will find it due again.
    """
    if not is_merge_due(stored):
        return stored
    report("merging", None)
    try:
        return _merge(space, stored.name, renumber=None)
    except (FullDiskError, LockedError) as error:
        report(f"not merged: {error.what}", None)
        return stored
    except KeyboardInterrupt as stop:
        stop.add_note(f"the append to '{stored.name}' is done; the merge behind it is left off")
        raise


def _merge(space: Workspace, name: str, *, renumber: bool | None) -> StoredGraph:
    folder = space.catalog.existing_graph(name)
    with begin(folder, replace=True, what=f"the graph '{name}'") as commit:
        write_merged(commit, open_graph(space.catalog, name), renumber=renumber)
    return open_graph(space.catalog, name)
