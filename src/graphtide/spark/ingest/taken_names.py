"""Properties that have the name of something else: a vertex's property `id` beside its id.

`src.id` is the id a vertex was loaded with, and an edge's ends are its columns `src` and `dst`,
in predicates, tables and exports alike. A column of such a name that is neither gets an
underscore behind it: `id_`. An edge may have a property `id`: edges have no id of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphtide.spark.ingest.roles import Roles
from graphtide.spark.ingest.source import Kind
from graphtide.spark.ingest.staged import StagedTable

Tables = Sequence[tuple[StagedTable, Roles]]


def with_free_names(tables: Tables) -> list[tuple[StagedTable, Roles]]:
    """The tables, with other names for properties whose names are taken."""
    fresh: dict[Kind, dict[str, str]] = {
        "vertices": _fresh_names(tables, "vertices"),
        "edges": _fresh_names(tables, "edges"),
    }
    return [(staged, _renamed(roles, fresh[staged.table.kind])) for staged, roles in tables]


def _renamed(roles: Roles, fresh: dict[str, str]) -> Roles:
    renamed = (replace(item, name=fresh.get(item.name, item.name)) for item in roles.properties)
    return replace(roles, properties=tuple(renamed))


def _fresh_names(tables: Tables, kind: Kind) -> dict[str, str]:
    """By the name of a column, the name of the property, where they differ."""
    taken = _taken(tables, kind)
    own = [roles for staged, roles in tables if staged.table.kind == kind]
    names = dict.fromkeys(item.name for roles in own for item in roles.properties)
    known = taken | {name.lower() for name in names}
    fresh = {}
    for name in names:
        if name.lower() in taken:
            fresh[name] = _free(name, known)
            known.add(fresh[name].lower())
    return fresh


def _free(name: str, known: set[str]) -> str:
    while name.lower() in known:
        name += "_"
    return name


def _taken(tables: Tables, kind: Kind) -> set[str]:
    labelled = {staged.table.kind for staged, roles in tables if _has_labels(staged, roles)}
    label = {"label"} if kind in labelled else set()
    if kind == "vertices":
        return {"id"} | label
    ends = {"src_label", "dst_label"} if "vertices" in labelled else set()
    return {"src", "dst"} | label | ends


def _has_labels(staged: StagedTable, roles: Roles) -> bool:
    by_space = staged.table.kind == "vertices" and roles.spaces[0] is not None
    return staged.table.label is not None or roles.label is not None or by_space
