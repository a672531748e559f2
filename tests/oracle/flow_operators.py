"""What operators on whole collections are, in plain Python: records with their multiplicities."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.oracle.flow_values import order, plain, real, value

Record = tuple[Any, ...]
Records = dict[Record, int]


class NotLegalError(Exception):
    """The description has no result, or none that a test should wait for."""


def row_of(names: list[str], record: Record) -> dict[str, Any]:
    return dict(zip(names, record, strict=True))


def _each(source: Records, function: Callable[[Record], list[Record]]) -> Records:
    found: Records = {}
    for record, count in source.items():
        for made in function(record):
            key = tuple(plain(item) for item in made)
            found[key] = found.get(key, 0) + count
    return found


def _map(sources: list[Records], names: list[list[str]], columns: Any) -> Records:
    def made(record: Record) -> list[Record]:
        row = row_of(names[0], record)
        return [tuple(value(text, row) for _, text in columns)]

    return _each(sources[0], made)


def _filter(sources: list[Records], names: list[list[str]], text: str) -> Records:
    return {r: c for r, c in sources[0].items() if value(text, row_of(names[0], r))}


def _function(sources: list[Records], names: list[list[str]], text: str, kind: str) -> Records:
    function = eval(text)
    if kind == "filter":
        return {r: c for r, c in sources[0].items() if function(*r)}
    if kind == "flat_map":
        return _each(sources[0], lambda r: list(function(*r)))
    return _each(sources[0], lambda r: [function(*r)])


def concat(sources: list[Records], names: list[list[str]]) -> Records:
    found: Records = {}
    for source, mine in zip(sources, names, strict=True):
        places = [mine.index(name) for name in names[0]]
        for record, count in source.items():
            key = tuple(record[place] for place in places)
            found[key] = found.get(key, 0) + count
    return found


def _negated(source: Records) -> Records:
    return {record: -count for record, count in source.items()}


def _minus(sources: list[Records], names: list[list[str]]) -> Records:
    return concat([sources[0], _negated(sources[1])], names)


def _parts(names: list[str], record: Record, key: list[str]) -> tuple[Record, Record]:
    """The key of a record, and the rest."""
    row = row_of(names, record)
    return tuple(row[name] for name in key), tuple(row[n] for n in names if n not in key)


def _arrange(sources: list[Records], names: list[list[str]], by: list[str], how: str) -> Records:
    return _each(sources[0], lambda r: [sum(_parts(names[0], r, by), ())])


def _join(sources: list[Records], names: list[list[str]], on: dict[str, str]) -> Records:
    found: Records = {}
    for left, times in sources[0].items():
        key, rest = _parts(names[0], left, list(on))
        for right, count in sources[1].items():
            other, more = _parts(names[1], right, list(on.values()))
            if key == other and None not in key:
                made = (*key, *rest, *more)
                found[made] = found.get(made, 0) + times * count
    return found


def _left_join(sources: list[Records], names: list[list[str]], on: dict[str, str]) -> Records:
    found = _join(sources, names, on)
    nulls = (None,) * (len(names[1]) - len(on))
    for record, count in _antijoin(sources, names, on).items():
        key, rest = _parts(names[0], record, list(on))
        found[*key, *rest, *nulls] = found.get((*key, *rest, *nulls), 0) + count
    return found


def _semijoin(sources: list[Records], names: list[list[str]], on: dict[str, str]) -> Records:
    there: Records = {}
    for record, count in sources[1].items():
        key, _ = _parts(names[1], record, list(on.values()))
        there[key] = there.get(key, 0) + count
    return {
        record: count
        for record, count in sources[0].items()
        if there.get(key := _parts(names[0], record, list(on))[0], 0) > 0 and None not in key
    }


def _antijoin(sources: list[Records], names: list[list[str]], on: dict[str, str]) -> Records:
    kept = _semijoin(sources, names, on)
    return {record: count for record, count in sources[0].items() if record not in kept}


def _groups(
    source: Records, names: list[str], by: list[str], of: list[str] | None = None
) -> dict[Record, list[tuple[Record, int]]]:
    """Records by key, those that are equal in the columns of interest added up, in order."""
    found: dict[Record, dict[Record, int]] = {}
    for record, count in source.items():
        key, rest = _parts(names, record, by)
        if of is not None:
            row = row_of(names, record)
            rest = tuple(row[name] for name in of)
        group = found.setdefault(key, {})
        group[rest] = group.get(rest, 0) + count
    return {
        key: sorted(
            ((rest, count) for rest, count in group.items() if count),
            key=lambda item: [order(part) for part in item[0]],
        )
        for key, group in found.items()
    }


def _ends(
    sources: list[Records], names: list[list[str]], kind: str, count: int, by: Any, of: Any
) -> Records:
    found: Records = {}
    for key, members in _groups(sources[0], names[0], by, of).items():
        left = count
        for rest, times in members[::-1] if kind in ("max", "top") else members:
            if times > 0 and left > 0:
                found[key + rest] = min(times, left)
                left -= times
    return found


def _aggregate(sources: list[Records], names: list[list[str]], by: Any, parts: Any) -> Records:
    """Parts are triples: name, kind, and the column that it is of or None."""
    found: Records = {}
    for key, members in _whole_groups(sources[0], names[0], by).items():
        if any(kind not in ("count", "total", "mean") for _, kind, _ in parts):
            _check_there(members, parts)
        if sum(times for _, times in members) != 0:
            made = tuple(_aggregated(kind, column, members) for _, kind, column in parts)
            found[key + made] = 1
    return found


def _check_there(members: Any, parts: Any) -> None:
    """Refuse values that are there less than not at all: what is least then has no meaning."""
    for column in {column for _, _, column in parts if column is not None}:
        net: dict[Any, int] = {}
        for row, times in members:
            net[row[column]] = net.get(row[column], 0) + times
        if min(net.values()) < 0:
            raise NotLegalError("less than not at all")


def _aggregated(kind: str, column: str | None, members: Any) -> Any:
    """One aggregate of the rows of a group, each with its multiplicity; nulls count for nothing."""
    if column is None:
        return plain(sum(times for _, times in members))
    net: dict[Any, int] = {}
    for row, times in members:
        if row[column] is not None:
            net[row[column]] = net.get(row[column], 0) + times
    count = sum(net.values())
    if kind == "count":
        return count
    there = sorted((item for item, times in net.items() if times > 0), key=order)
    if kind == "count_distinct":
        return len(there)
    if kind in ("minimum", "maximum"):
        return (there[0] if kind == "minimum" else there[-1]) if there else None
    if count == 0 and any(row[column] is None for row, _ in members):
        return None
    total = _total(net)
    return _mean(total, count) if kind == "mean" else total


def _total(net: dict[Any, int]) -> Any:
    """The sum of values, each so many times."""
    if any(isinstance(item, float) for item in net):
        return _float_total(list(net.items()))
    found = sum((item * times for item, times in net.items()), 0)
    if not -(1 << 63) <= int(found) < 1 << 63:
        raise NotLegalError("overflow")
    return found


def _mean(total: Any, count: int) -> Any:
    if count == 0:
        raise NotLegalError("a mean of nothing, where there is no null")
    return plain(real(total) / count)


def _whole_groups(source: Records, names: list[str], by: Any) -> dict[Record, Any]:
    found: dict[Record, list[tuple[dict[str, Any], int]]] = {}
    for record, count in source.items():
        found.setdefault(_parts(names, record, by)[0], []).append((row_of(names, record), count))
    return found


def _float_total(members: list[tuple[float, int]]) -> float:
    """The sum without rounding, and rounded once then."""
    strange = [item * times for item, times in members if times and item - item != 0]
    if strange:
        return plain(sum(strange, 0.0))  # type: ignore[no-any-return]
    total = sum((Fraction(item) * times for item, times in members if times), Fraction(0))
    try:
        return float(total) + 0.0
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def _threshold(sources: list[Records], names: list[list[str]], least: int) -> Records:
    return {record: 1 for record, count in sources[0].items() if count >= least}


def _reduce(sources: list[Records], names: list[list[str]], by: Any, text: str) -> Records:
    function = eval(text)
    found: Records = {}
    for key, members in _groups(sources[0], names[0], by).items():
        for result in function(key, members) if members else []:
            made = key + tuple(plain(item) for item in result)
            found[made] = found.get(made, 0) + 1
    return found


OPERATORS: dict[str, Callable[..., Records]] = {
    "map": _map,
    "filter": _filter,
    "function": _function,
    "negate": lambda sources, names: _negated(sources[0]),
    "consolidate": lambda sources, names: sources[0],
    "inspect": lambda sources, names: sources[0],
    "concat": concat,
    "minus": _minus,
    "arrange": _arrange,
    "join": _join,
    "left_join": _left_join,
    "semijoin": _semijoin,
    "antijoin": _antijoin,
    "ends": _ends,
    "aggregate": _aggregate,
    "threshold": _threshold,
    "reduce": _reduce,
}
