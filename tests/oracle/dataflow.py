"""Operator programs over multisets, evaluated from nothing, in plain Python.

A collection is a Counter of records (key, value); multiplicities may be negative, and zeros are
dropped. A program is a tuple: an operator's name, then its operands, which are programs or
numbers. ("input", n) reads the n-th input, ("variable", d) the variable of the d-th loop around,
innermost first. `evaluate` knows nothing of times: it is given the inputs as they are and says
what the program comes to.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Records = dict[tuple[int, ...], int]
Program = tuple[Any, ...]


def evaluate(
    program: Program, inputs: Sequence[Records], variables: tuple[Records, ...] = ()
) -> Records:
    """What a program comes to over the accumulated inputs."""
    name, *operands = program
    if name == "input":
        return _plain(inputs[operands[0]])
    if name == "variable":
        return variables[operands[0]]
    if name == "iterate":
        return _fixed_point(operands, inputs, variables)
    found = [
        evaluate(operand, inputs, variables) if isinstance(operand, tuple) else operand
        for operand in operands
    ]
    return _plain(OPERATORS[name](*found))


def _fixed_point(
    operands: list[Any], inputs: Sequence[Records], variables: tuple[Records, ...]
) -> Records:
    initial, body = operands
    current = evaluate(initial, inputs, variables)
    for _ in range(10_000):
        following = evaluate(body, inputs, (current, *variables))
        if following == current:
            return current
        current = following
    raise AssertionError("the loop does not come to rest")


def _plain(records: Records) -> Records:
    return {record: count for record, count in records.items() if count != 0}


def _mapped(function: Callable[[int, int], tuple[int, int]]) -> Callable[[Records], Records]:
    def apply(source: Records) -> Records:
        found: Records = Counter()
        for record, count in source.items():
            found[function(*record)] += count
        return found

    return apply


def _concat(one: Records, other: Records) -> Records:
    found: Records = Counter(one)
    for record, count in other.items():
        found[record] += count
    return found


def _join(
    one: Records, other: Records, result: Callable[[int, int, int], tuple[int, int]]
) -> Records:
    found: Records = Counter()
    for (key, left), count in one.items():
        for (same, right), times in other.items():
            if key == same:
                found[result(key, left, right)] += count * times
    return found


def _groups(source: Records) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for (key, value), count in sorted(source.items()):
        found.setdefault(key, []).append((value, count))
    return found


def _ends(source: Records, count: int, backward: bool) -> Records:
    found: Records = {}
    for key, values in _groups(source).items():
        left = count
        for value, times in sorted(values, reverse=backward):
            if times > 0 and left > 0:
                found[key, value] = min(times, left)
                left -= times
    return found


def _sums(source: Records) -> Records:
    found: Records = {}
    for key, values in _groups(source).items():
        if sum(times for _, times in values) != 0:
            found[key, sum(value * times for value, times in values)] = 1
    return found


def _counts(source: Records) -> Records:
    totals = {key: sum(times for _, times in values) for key, values in _groups(source).items()}
    return {(key, total): 1 for key, total in totals.items() if total != 0}


def _span(source: Records) -> Records:
    """The reducer that the tests give as a function: largest less smallest, and how many."""
    found: Records = Counter()
    for key, values in _groups(source).items():
        for result in span(values):
            found[key, *result] += 1
    return found


def span(values: list[tuple[int, int]]) -> list[tuple[int]]:
    """Two records where values differ, one where they do not; none where the first is negative."""
    if values[0][1] < 0:
        return []
    spread = values[-1][0] - values[0][0]
    return [(spread,), (len(values),)] if spread else [(len(values),)]


def _semijoin(one: Records, other: Records) -> Records:
    keys = {key for (key, _), count in _counts_of_keys(other).items() if count > 0}
    return {record: count for record, count in one.items() if record[0] in keys}


def _counts_of_keys(source: Records) -> Records:
    found: Records = Counter()
    for (key, _), count in source.items():
        found[key, 0] += count
    return found


def _minus(one: Records, other: Records) -> Records:
    return _concat(one, {record: -count for record, count in other.items()})


def strong_components(vertices: int, edges: Sequence[tuple[Any, ...]]) -> dict[str, list[int]]:
    """The least vertex that each vertex reaches and is reached by: all pairs, one by one."""
    reaches = [{vertex} for vertex in range(vertices)]
    growing = True
    while growing:
        growing = False
        for src, dst, *_ in edges:
            more = reaches[src] | reaches[dst]
            growing |= more != reaches[src]
            reaches[src] = more
    every = range(vertices)
    found = [min(other for other in reaches[v] if v in reaches[other]) for v in every]
    return {"component": found}


def triangles(vertices: int, edges: Sequence[tuple[Any, ...]]) -> dict[str, list[int]]:
    """In how many triples with an edge between any two each vertex is: all triples, one by one."""
    joined = {frozenset(edge[:2]) for edge in edges}
    found = [0] * vertices
    for corners in itertools.combinations(range(vertices), 3):
        if all(frozenset(pair) in joined for pair in itertools.combinations(corners, 2)):
            for corner in corners:
                found[corner] += 1
    return {"triangles": found}


OPERATORS: dict[str, Callable[..., Records]] = {
    "swap": _mapped(lambda key, value: (value, key)),
    "add": _mapped(lambda key, value: (key, min(value + 1, 9))),
    "fold": _mapped(lambda key, value: ((key + value) % 5, value % 3)),
    "even": lambda source: {item: count for item, count in source.items() if item[1] % 2 == 0},
    "rising": lambda source: {item: count for item, count in source.items() if item[0] < item[1]},
    "copies": lambda source: _concat(source, _mapped(lambda key, value: (value, value))(source)),
    "negate": lambda source: {record: -count for record, count in source.items()},
    "concat": _concat,
    "minus": _minus,
    "consolidate": lambda source: source,
    "join": lambda one, other: _join(one, other, lambda key, left, right: (left, right)),
    "join_key": lambda one, other: _join(one, other, lambda key, left, right: (key, left + right)),
    "semijoin": _semijoin,
    "antijoin": lambda one, other: _minus(one, _semijoin(one, other)),
    "distinct": lambda source: {item: 1 for item, count in source.items() if count > 0},
    "threshold": lambda source, least: {i: 1 for i, count in source.items() if count >= least},
    "count": _counts,
    "sum": _sums,
    "min": lambda source: _ends(source, 1, False),
    "max": lambda source: _ends(source, 1, True),
    "first": lambda source, count: _ends(source, count, False),
    "top": lambda source, count: _ends(source, count, True),
    "span": _span,
    "phases": lambda source: _ends({i: c for i, c in source.items() if i[0] % 2}, 1, False),
}
