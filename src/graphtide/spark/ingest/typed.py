"""One type for each property and one for all ids, over all tables of a graph; and their id spaces.

What the user says wins, then the type a column has by itself, then what nearly all of its values
look like (`values`). Columns of one name in several tables are one property: types that were said
or given must agree (int and float do, as float), inferred ones follow. Ids of vertices and
endpoints of edges compare by value, so they must be of one type; where all of them are text they
are ints if every one of them is, else strings.

Ids are unique over the whole graph, or within a label. Edges that say of which labels their
endpoints are (`("Person", "knows", "Comment")`, or `:START_ID(Person)` in a header) make each
label an id space of its own. A space without a vertex table gets its vertices from the edges. If
edges say nothing, or vertices have no labels to match, all ids are of one space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import functions as F

from graphtide.model.errors import InputError
from graphtide.model.schema import Property, PropertyType
from graphtide.spark.ingest.options import IngestOptions, TypeSpec
from graphtide.spark.ingest.parts import PLACE_COLUMNS, StagedTable
from graphtide.spark.ingest.roles import PropertyColumn, Roles
from graphtide.spark.ingest.source import Kind
from graphtide.spark.ingest.values import (
    KindCounts,
    ValueKind,
    Verdict,
    check_conversion,
    judge,
    judge_ids,
    kinds_of,
    misfits,
    property_type_of,
    sum_counts,
)

_MISFITS_SHOWN = 3


@dataclass(frozen=True)
class TypedTable:
    """A staged table whose columns have roles and types; `specs` is by place of the column.

    Every value of the columns in `certain` is known to be of its type: it was inferred from them.
    Those in `inferred` have the type that all, or nearly all, of their values are of.
    """

    staged: StagedTable
    roles: Roles
    specs: dict[int, TypeSpec]
    certain: frozenset[int]
    inferred: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TypedTables:
    """All tables of a graph, and the schema that they agree on."""

    vertices: tuple[TypedTable, ...]
    edges: tuple[TypedTable, ...]
    id_type: PropertyType
    vertex_properties: tuple[Property, ...]
    edge_properties: tuple[Property, ...]
    notes: tuple[str, ...] = ()
    """Columns that are text though most of their values are not, with the first that do not fit."""


@dataclass(frozen=True)
class _Evidence:
    """What is known of one column: a type that is fixed, or the kinds of its values."""

    table: StagedTable
    column: PropertyColumn
    fixed: PropertyType | None
    kinds: KindCounts


def find_types(tables: Sequence[tuple[StagedTable, Roles]], options: IngestOptions) -> TypedTables:
    """Types for all columns. One pass over each table that has columns to infer."""
    evidence = {id(staged): _evidence(staged, roles, options) for staged, roles in tables}
    keys = [item for staged, roles in tables for item in evidence[id(staged)][: len(roles.keys)]]
    id_type = _id_type(keys, options)
    properties: dict[Kind, dict[str, PropertyType]] = {}
    inferred = {_place(item): judge_ids(_joined(keys)) for item in keys if _all_open(keys)}
    demoted = _demoted(keys, judge_ids(_joined(keys)), options)
    for kind in ("vertices", "edges"):
        columns = [
            item
            for staged, roles in tables
            if staged.table.kind == kind
            for item in evidence[id(staged)][len(roles.keys) :]
        ]
        properties[kind] = _property_types(columns, options)
        for name in properties[kind]:
            items = [item for item in columns if item.column.name == name]
            if _all_open(items):
                verdict = judge(_joined(items))
                inferred |= {_place(item): verdict for item in items}
                demoted += _demoted(items, verdict, options)
    typed = [
        _typed(staged, roles, id_type, properties[staged.table.kind], inferred)
        for staged, roles in tables
    ]
    return TypedTables(
        tuple(table for table in typed if table.staged.table.kind == "vertices"),
        tuple(table for table in typed if table.staged.table.kind == "edges"),
        id_type,
        tuple(Property(*item) for item in properties["vertices"].items()),
        tuple(Property(*item) for item in properties["edges"].items()),
        (*demoted, *_notes_of_frames(tables)),
    )


def _notes_of_frames(tables: Sequence[tuple[StagedTable, Roles]]) -> list[str]:
    """Notes on columns that came as texts and whose types nobody gave."""
    return [
        note
        for staged, roles in tables
        for column in (*roles.keys, *roles.properties)
        if column.spec is None
        for name, note in staged.notes
        if name == staged.columns[column.place]
    ]


def _evidence(staged: StagedTable, roles: Roles, options: IngestOptions) -> list[_Evidence]:
    """The evidence for every column of a table, keys first."""
    columns = [*roles.keys, *roles.properties]
    fixed = [_fixed_type(staged, column, options) for column in columns]
    open_ = [c for c, type_ in zip(columns, fixed, strict=True) if type_ is None]
    sound = staged.read().where(F.col("_fault").isNull())
    kinds = kinds_of(sound, [f"c{column.place}" for column in open_])
    seen = dict(zip((column.place for column in open_), kinds, strict=True))
    return [
        _Evidence(staged, column, type_, seen.get(column.place, {}))
        for column, type_ in zip(columns, fixed, strict=True)
    ]


def _fixed_type(
    staged: StagedTable, column: PropertyColumn, options: IngestOptions
) -> PropertyType | None:
    type_ = staged.types[column.place]
    if column.spec is not None:
        check_conversion(staged.table.name, column.name, type_, column.spec)
        return column.spec.type
    if staged.is_text:
        return None if options.infer_types else PropertyType.STRING
    return property_type_of(type_)


def _id_type(keys: Sequence[_Evidence], options: IngestOptions) -> PropertyType:
    fixed = {item.fixed: item for item in keys if item.fixed is not None}
    if set(fixed) == {PropertyType.INT, PropertyType.FLOAT}:
        # A missing value turns a column of ints into floats: 2.0 is the vertex 2. What is no whole
        # number is refused with its row, like any value that cannot be read.
        return PropertyType.INT
    _check_fractions(keys, options)
    if len(fixed) > 1:
        (_, one), (_, other) = list(fixed.items())[:2]
        texts = {item.column.name: "string" for item in (one, other)}
        raise InputError(
            f"ids are of different types: {_described(one)}, {_described(other)}",
            hint=f"convert one of them, for example {options.said('types', texts)}",
        )
    return next(iter(fixed), None) or _inferred_id_type(keys, options)


def _inferred_id_type(keys: Sequence[_Evidence], options: IngestOptions) -> PropertyType:
    """The type of ids that are all texts. Only the user knows whether 2 and 2.0 are one vertex."""
    counts = _joined(keys)
    if counts.get(ValueKind.INT) and judge(counts).type is PropertyType.FLOAT:
        item = next(item for item in keys if item.kinds.get(ValueKind.FLOAT))
        name = item.column.name
        raise InputError(
            f"ids are whole numbers and numbers with a fraction: see '{name}' of "
            f"{item.table.table.name}",
            hint=f"say {options.said('types', {name: 'int'})} if 2.0 is the vertex 2, as where a "
            f"missing id has made them floats, or {options.said('types', {name: 'string'})} if it "
            "is another vertex",
        )
    return judge_ids(counts).type


def _check_fractions(keys: Sequence[_Evidence], options: IngestOptions) -> None:
    """Refuse floats as texts beside other ids: 2.0 would be '2.0', and the int 2 '2'."""
    floats = [item for item in keys if _held(item) is PropertyType.FLOAT]
    if floats and any(_held(item) is not PropertyType.FLOAT for item in keys):
        name = floats[0].column.name
        raise InputError(
            f"ids are of different types: '{name}' of {floats[0].table.table.name} holds numbers "
            "with a fraction, and as a text 2.0 is not 2",
            hint=f"read it with {options.said('types', {name: 'int'})} if its ids are whole "
            "numbers, as they are where a missing one has made them floats; else convert it "
            "before loading",
        )


def _held(item: _Evidence) -> PropertyType | None:
    """The type of the values before conversion, as far as that matters."""
    if item.fixed not in (PropertyType.STRING, PropertyType.FLOAT):
        return item.fixed
    return property_type_of(item.table.types[item.column.place])


def _property_types(found: Sequence[_Evidence], options: IngestOptions) -> dict[str, PropertyType]:
    by_name: dict[str, list[_Evidence]] = {}
    for item in found:
        by_name.setdefault(item.column.name, []).append(item)
    lower: dict[str, str] = {}
    for name in by_name:
        other = lower.setdefault(name.lower(), name)
        if other != name:
            raise InputError(
                f"the columns '{other}' and '{name}' of two tables differ by case only",
                hint="rename one of them",
            )
    return {name: _property_type(items, options) for name, items in by_name.items()}


def _property_type(items: Sequence[_Evidence], options: IngestOptions) -> PropertyType:
    fixed = {item.fixed: item for item in items if item.fixed is not None}
    if not fixed:
        return judge(_joined(items)).type
    if len(fixed) == 1:
        return next(iter(fixed))
    if set(fixed) == {PropertyType.INT, PropertyType.FLOAT}:
        return PropertyType.FLOAT
    (_, one), (_, other) = list(fixed.items())[:2]
    raise InputError(
        f"one property has two types: {_described(one)}, {_described(other)}",
        hint=f"say which it is: {options.said('types', {one.column.name: '...'})}",
    )


def _typed(
    staged: StagedTable,
    roles: Roles,
    id_type: PropertyType,
    types: dict[str, PropertyType],
    inferred: Mapping[_Place, Verdict],
) -> TypedTable:
    specs = {column.place: _spec(column, id_type) for column in roles.keys}
    specs |= {column.place: _spec(column, types[column.name]) for column in roles.properties}
    known = {place: verdict for place in specs if (verdict := inferred.get((id(staged), place)))}
    certain = frozenset(place for place, verdict in known.items() if verdict.is_certain)
    return TypedTable(staged, roles, specs, certain, frozenset(known))


_Place = tuple[int, int]
"""A column, by its table and its place in it."""


def _place(item: _Evidence) -> _Place:
    return id(item.table), item.column.place


def _all_open(items: Sequence[_Evidence]) -> bool:
    """Whether only their values decide the type of these columns."""
    return all(item.fixed is None for item in items)


def _demoted(items: Sequence[_Evidence], verdict: Verdict, options: IngestOptions) -> list[str]:
    """Notes on columns that became text because of their values; one job for each."""
    if not _all_open(items) or not verdict.demoted:
        return []
    names = " and ".join(f"'{name}'" for name in dict.fromkeys(item.column.name for item in items))
    types = {items[0].column.name: verdict.most.value}
    shown: list[str] = []
    for item in items:
        if len(shown) < _MISFITS_SHOWN:
            shown += _first_misfits(item, verdict.most, _MISFITS_SHOWN - len(shown))
    others = verdict.values - verdict.fitting
    return [
        f"{names} is text: {verdict.fitting:,} of {verdict.values:,} values are of type "
        f"{verdict.most}, but not {'; '.join(shown)}"
        + (f" and {others - len(shown):,} more" if others > len(shown) else "")
        + f". {options.said('types', types)} reads them as {verdict.most} where that can be, and "
        "makes bad rows of the others"
    ]


def _first_misfits(item: _Evidence, type_: PropertyType, limit: int) -> list[str]:
    """The first values of a column that are not of a type, with their places."""
    staged, column = item.table, f"c{item.column.place}"
    rows = misfits(staged.read().where(F.col("_fault").isNull()), column, type_)
    first = rows.orderBy("_position").limit(limit).select(*PLACE_COLUMNS, column).collect()
    before = staged.rows_before() if any(row["_block"] for row in first) else {}
    return [
        f"{staged.files[row['_file']]}, line "
        f"{row['_row'] + before.get((row['_file'], row['_block']), 0) + 1}: '{row[column][:80]}'"
        for row in first
    ]


def _spec(column: PropertyColumn, type_: PropertyType) -> TypeSpec:
    """The user's specification, if it has the type that all tables agreed on."""
    return column.spec if column.spec and column.spec.type is type_ else TypeSpec(type_)


def _joined(items: Sequence[_Evidence]) -> KindCounts:
    return sum_counts([item.kinds for item in items])


def _described(item: _Evidence) -> str:
    return f"'{item.column.name}' of {item.table.table.name} is {item.fixed}"


Space = str | None


@dataclass(frozen=True)
class Spaces:
    """The spaces of a graph; `given` have a vertex table, `found` get theirs from the edges."""

    used: bool
    given: tuple[Space, ...]
    found: tuple[Space, ...]

    def of(self, space: Space) -> Space:
        """The space in which an id is looked up."""
        return space if self.used else None


def find_spaces(vertices: Sequence[TypedTable], edges: Sequence[TypedTable]) -> Spaces:
    """The id spaces of all tables."""
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
