"""Id spaces: whether ids are unique over the whole graph or within a label only.

Edges that say of which labels their endpoints are (`("Person", "knows", "Comment")`, or
`:START_ID(Person)` in a header) make each label a space of its own. A space without a vertex
table gets its vertices from the edges. If edges say nothing, or vertices have no labels to
match, all ids are of one space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphtide.model.errors import InputError
from graphtide.spark.ingest.typed import TypedTable

Space = str | None


@dataclass(frozen=True)
class Spaces:
    """The spaces of a graph; `given` have a vertex table, `found` get theirs from the edges."""

    used: bool
    given: tuple[Space, ...]
    found: tuple[Space, ...]

    def of(self, space: Space) -> Space:
        """The space that an id is looked up in: the one it names, or the only one there is."""
        return space if self.used else None


def find_spaces(vertices: Sequence[TypedTable], edges: Sequence[TypedTable]) -> Spaces:
    """The spaces that the tables of a graph speak of."""
    ends = [space for table in edges for space in table.roles.spaces]
    tables = [table.roles.spaces[0] for table in vertices]
    if any(ends) and not all(ends):
        raise InputError(
            "some edges say of which labels their endpoints are, and some do not",
            hint="give all of them as edges={('Person', 'knows', 'Person'): ...}",
        )
    if not any(ends) or (tables and not all(tables)):
        given: tuple[Space, ...] = (None,) if vertices else ()
        return Spaces(False, given, () if vertices else (None,))
    given = tuple(dict.fromkeys(tables))
    return Spaces(True, given, tuple(dict.fromkeys(s for s in ends if s not in given)))
