"""Predicates and features as Spark columns, built from the trees and never from text.

The frame that a column is used on must have the properties under the names that `Names` gives.
Values are compared in the form that `_comparable` brings them to: dates as days and timestamps
as microseconds since 1970, so that no session time zone has a say. The size of an expression
depends on the features and not on the number of views: a bucketing with many cuts is a look-up
in a grid where the cuts are fairly even integers (windows mostly are), and otherwise a binary
search over one constant array.
"""

from __future__ import annotations

import functools
import json
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.signatures import (
    Bucketing,
    Cut,
    CutReach,
    Feature,
    Word,
    comparable,
    cut_above,
    cut_at,
)

Names = Callable[[plan.PropertyRef], Column]

# Up to here one comparison a cut beats a binary search: measured on 1M edges, 8 comparisons
# cost a tenth of the search's interpreted lambda.
_FEW_CUTS = 16


def predicate_column(predicate: plan.Predicate, names: Names) -> Column:
    """The predicate as a nullable boolean column: null where it is unknown."""
    match predicate:
        case plan.Always(value):
            return F.lit(value)
        case plan.Not(term):
            return ~predicate_column(term, names)
        case plan.IsTrue(term):
            return F.coalesce(predicate_column(term, names), F.lit(False))
        case plan.And(terms):
            return _balanced(operator.and_, _all_columns(terms, names))
        case plan.Or(terms):
            return _balanced(operator.or_, _all_columns(terms, names))
        case plan.InSet(item, constants):
            matches = [_compare(plan.Operator.EQ, item, constant, names) for constant in constants]
            return _balanced(operator.or_, matches)
        case plan.IsNull(item):
            return names(item).isNull()
        case plan.Like(item, pattern):
            return names(item).like(pattern)
        case plan.Comparison(comparison, left, right):
            return _compare(comparison, left, right, names)


def word_column(word: Word, names: Names) -> Column:
    """The codes of a word's features, packed into one long; never null."""
    packed: Column | None = None
    for feature in reversed(word.features):
        code = feature_column(feature, names).cast("long")
        packed = code if packed is None else packed * F.lit(feature.size) + code
    assert packed is not None
    return packed


def feature_column(feature: Feature, names: Names) -> Column:
    """An edge's code for one feature: 0 missing or unknown, then 1, 2, ..."""
    if isinstance(feature, Bucketing):
        code = _bucket(_comparable(names(feature.item), feature.item.type), feature)
    else:
        code = predicate_column(feature.atom, names).cast("int")
    return F.coalesce(code + F.lit(1), F.lit(0))


def _all_columns(terms: Sequence[plan.Predicate], names: Names) -> list[Column]:
    return [predicate_column(term, names) for term in terms]


def _balanced(join: Callable[[Column, Column], Column], columns: Sequence[Column]) -> Column:
    """Join columns pairwise: a chain of a thousand terms overflows the stack of the analyser."""
    if len(columns) == 1:
        return columns[0]
    middle = len(columns) // 2
    return join(_balanced(join, columns[:middle]), _balanced(join, columns[middle:]))


def _compare(
    comparison: plan.Operator,
    left: plan.PropertyRef,
    right: plan.Constant | plan.PropertyRef,
    names: Names,
) -> Column:
    if isinstance(right, plan.PropertyRef):
        return _compare_properties(comparison, left, right, names)
    value = _comparable(names(left), left.type)
    at = _reaches(value, cut_at(left.type, right), left.type)
    above = _reaches(value, cut_above(left.type, right), left.type)
    match comparison:
        case plan.Operator.GE:
            return at
        case plan.Operator.LT:
            return ~at
        case plan.Operator.GT:
            return above
        case plan.Operator.LE:
            return ~above
        case plan.Operator.EQ:
            return at & ~above
        case plan.Operator.NE:
            return ~at | above


def _reaches(value: Column, cut: Cut, type_: PropertyType) -> Column:
    if isinstance(cut, CutReach):
        everywhere = F.lit(cut is CutReach.ALWAYS)
        return F.when(value.isNotNull(), everywhere)
    return value >= F.lit(comparable(cut))


def _compare_properties(
    comparison: plan.Operator, left: plan.PropertyRef, right: plan.PropertyRef, names: Names
) -> Column:
    one, other = _comparable(names(left), left.type), _comparable(names(right), right.type)
    if left.type is not right.type:
        return _compare_int_with_float(comparison, left, one, other)
    return _apply(comparison, one, other)


def _compare_int_with_float(
    comparison: plan.Operator, left: plan.PropertyRef, one: Column, other: Column
) -> Column:
    """Exact, where Spark would round the int to a double.

    Doubles first; on a tie the double is a whole number, so the longs decide. A double of 2^63
    ties with longs that round up to it and does not fit a long: it is larger than all of them.
    """
    if left.type is PropertyType.FLOAT:
        return _compare_int_with_float(_MIRRORED[comparison], _AS_INT, other, one)
    as_double = one.cast("double")
    fits = other < F.lit(float(2**63))
    tie = F.when(fits, one - _whole(other)).otherwise(F.lit(-1))
    difference = (
        F.when(as_double < other, F.lit(-1)).when(as_double > other, F.lit(1)).otherwise(tie)
    )
    known = one.isNotNull() & other.isNotNull()
    return F.when(known, _apply(comparison, difference, F.lit(0)))


def _whole(value: Column) -> Column:
    """A double as a long; null if it does not fit."""
    return value.try_cast("long")


def _apply(comparison: plan.Operator, one: Column, other: Column) -> Column:
    match comparison:
        case plan.Operator.EQ:
            return one == other
        case plan.Operator.NE:
            return one != other
        case plan.Operator.LT:
            return one < other
        case plan.Operator.LE:
            return one <= other
        case plan.Operator.GT:
            return one > other
        case plan.Operator.GE:
            return one >= other


_AS_INT = plan.PropertyRef("edge", "", PropertyType.INT)
_MIRRORED = {
    plan.Operator.EQ: plan.Operator.EQ,
    plan.Operator.NE: plan.Operator.NE,
    plan.Operator.LT: plan.Operator.GT,
    plan.Operator.LE: plan.Operator.GE,
    plan.Operator.GT: plan.Operator.LT,
    plan.Operator.GE: plan.Operator.LE,
}


def _comparable(value: Column, type_: PropertyType) -> Column:
    match type_:
        case PropertyType.DATE:
            return F.unix_date(value).cast("long")
        case PropertyType.TIMESTAMP:
            return F.unix_micros(value)
        case PropertyType.BOOL:
            return value.cast("int")
        case _:
            return value


def _bucket(value: Column, feature: Bucketing) -> Column:
    """How many cuts the value reaches; null where it is missing."""
    type_ = feature.item.type
    if type_ is PropertyType.BOOL and feature.cuts:
        return value
    cuts = [comparable(cut) for cut in feature.cuts]
    if len(cuts) <= _FEW_CUTS:
        nothing = F.when(value.isNotNull(), F.lit(0))
        reached = [(value >= F.lit(cut)).cast("int") for cut in cuts]
        return functools.reduce(operator.add, reached) if reached else nothing
    if isinstance(cuts[0], int):
        grid = lay_grid([int(cut) for cut in cuts])
        if grid is not None:
            return _look_up(value, grid)
    return _search(value, cuts, type_)


@dataclass(frozen=True)
class Grid:
    """Integer cuts under even cells of 2^bits values, with the cuts that lie before each cell."""

    cuts: list[int]
    bits: int
    before: list[int]
    most: int


def lay_grid(cuts: list[int]) -> Grid | None:
    """The coarsest grid with at most two cuts a cell, or eight; None where cuts are too uneven.

    Windows are evenly spaced or nearly so (months), and then a bucket costs a shift, two array
    accesses and a comparison or two, whatever the number of cuts.
    """
    span = cuts[-1] - cuts[0]
    best: Grid | None = None
    if span >= 2**62:
        return None
    for cells_log2 in range(len(cuts).bit_length(), 17):
        bits = max(span.bit_length() - cells_log2, 0)
        cells = [(cut - cuts[0]) >> bits for cut in cuts]
        most = max(Counter(cells).values())
        if most <= 8 and (best is None or most < best.most):
            starts = range((span >> bits) + 1)
            best = Grid(cuts, bits, [bisect_left(cells, cell) for cell in starts], most)
        if most <= 2 or bits == 0:
            break
    return best


def _look_up(value: Column, grid: Grid) -> Column:
    """How many cuts of the grid the value reaches. Nothing overflows: values are held inside."""
    first, last = grid.cuts[0], grid.cuts[-1]
    inside = F.least(F.greatest(value, F.lit(first)), F.lit(last)) - F.lit(first)
    cell = F.shiftright(inside.cast("long"), grid.bits).cast("int")
    before = F.get(constant_array(grid.before, "int"), cell)
    cuts = constant_array(grid.cuts, "bigint")
    reached = [
        F.coalesce(value >= F.get(cuts, before + F.lit(place)), F.lit(False)).cast("int")
        for place in range(grid.most)
    ]
    # greatest and least pass over nulls, so the missing value has to be kept out here.
    return F.when(value.isNotNull(), functools.reduce(operator.add, reached, before))


def _search(value: Column, cuts: Sequence[int | float | str], type_: PropertyType) -> Column:
    """A binary search over one array: log2(cuts) steps a value.

    `aggregate` runs over the powers of two, largest first; `found + power` cuts are reached if
    the last of them is.
    """
    element = {PropertyType.FLOAT: "double", PropertyType.STRING: "string"}.get(type_, "bigint")
    array = constant_array(cuts, element)
    powers = [2**bit for bit in reversed(range(len(cuts).bit_length()))]

    def step(found: Column, power: Column) -> Column:
        reached = F.get(array, found + power - F.lit(1)) <= value
        return F.when(reached, found + power).otherwise(found)

    found = F.aggregate(F.array(*map(F.lit, powers)), F.lit(0), step)
    return F.when(value.isNotNull(), found)


def constant_array(values: Sequence[int | float | str], element: str) -> Column:
    """One JSON literal that Spark folds to a constant: a literal an element would take a call
    into the JVM each."""
    return F.from_json(F.lit(json.dumps(list(values), ensure_ascii=False)), f"array<{element}>")
