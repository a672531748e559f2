"""Every table of results, at the ends of their types: as the values say, or refused in our words.

Each public method of what holds results has a case here, or a reason to have none: a method that
comes later without a case fails the first test.
"""

from __future__ import annotations

import csv
import datetime
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.run.dataflow.outputs import Output
from tests.oracle.summaries import nearest
from tests.unit.pictures.made_runs import Made

MOST, LEAST = 2**63 - 1, -(2**63)
VALUES: dict[str, list[Any]] = {
    "bool": [True, False, False, True],
    "int": [MOST, LEAST, 0, -1],
    "float": [math.inf, -math.inf, math.nan, -0.0],
    "large": [1.7e308, 1.7e308, -1.7e308, 5e-324],
}
TYPES = {"bool": np.bool_, "int": np.int64, "float": np.float64, "large": np.float64}
BASES: dict[str, list[Any]] = {
    "bool": [False, True],
    "int": [0, MOST, LEAST],
    "float": [0.0, math.inf, -math.inf, math.nan],
    "large": [0.0, math.inf, -1.7e308],
}

Answer = Callable[[gt.Run, "Case", Path], None]


class Case:
    """Three views of some vertices: as without edges, all extremes, and these turned round."""

    def __init__(self, kind: str, base: Any, vertices: int, width: int | None) -> None:
        values = VALUES[kind][:vertices]
        self.base, self.width = base, width
        self.views = {"none": [base] * vertices, "all": values, "back": values[::-1]}
        shape = (3, vertices) if width is None else (3, vertices, width)
        rows = np.empty(shape, TYPES[kind])
        for at, row in enumerate(self.views.values()):
            for vertex, value in enumerate(row):
                rows[at, vertex] = value
        self.run = Made(list(self.views), {"value": rows}, base=base).run()

    def shown(self, value: Any) -> Any:
        """A value as tables have it."""
        return value if self.width is None else [value] * self.width

    def rows(self) -> list[dict[str, Any]]:
        """The tidy table."""
        return [
            {"view": view, "id": f"v{at}", "value": self.shown(value)}
            for view, values in self.views.items()
            for at, value in enumerate(values)
        ]


def alike(one: Any, other: Any) -> bool:
    """Equal and of one type; NaN is itself, and both zeros are one number, as in differences."""
    return _plain(one) == _plain(other)


def _plain(value: Any) -> Any:
    match value:
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case float():
            return repr(value + 0.0)
        case _:
            return repr(value)


def _values(run: gt.Run, case: Case, folder: Path) -> None:
    for view, values in case.views.items():
        assert alike(run.values(view).tolist(), [case.shown(value) for value in values])


def _table(run: gt.Run, case: Case, folder: Path) -> None:
    for view, values in case.views.items():
        shown = [case.shown(value) for value in values]
        assert alike(run.table(view).column("value").to_pylist(), shown)


def _tidy(read: Callable[[gt.Run], pa.Table]) -> Answer:
    def check(run: gt.Run, case: Case, folder: Path) -> None:
        assert alike(read(run).to_pylist(), case.rows())

    return check


def _pandas(run: gt.Run, case: Case, folder: Path) -> None:
    found = run.to_pandas()["value"].tolist()
    if case.width is not None:
        found = [item.tolist() for item in found]
    assert alike(found, [row["value"] for row in case.rows()])


def _csv(run: gt.Run, case: Case, folder: Path) -> None:
    with run.to_csv(folder / "run.csv").open(newline="") as file:
        names, *lines = csv.reader(file)
    width = case.width or 1
    values = ["value"] if case.width is None else [f"value_{at}" for at in range(width)]
    assert names == ["view", "id", *values]
    read = type(case.base)
    for line, row in zip(lines, case.rows(), strict=True):
        found = [text == "true" if read is bool else read(text) for text in line[2:]]
        assert line[:2] == [row["view"], row["id"]]
        assert alike(found, [row["value"]] if case.width is None else row["value"])


def _changes(run: gt.Run, case: Case, folder: Path) -> None:
    for one, before in case.views.items():
        for other, after in case.views.items():
            assert alike(
                run.changes(one, other).to_pylist(),
                [
                    {"id": f"v{at}", "old": case.shown(old), "new": case.shown(new)}
                    for at, (old, new) in enumerate(zip(before, after, strict=True))
                    if old != new and (old == old or new == new)
                ],
            )


def _history(run: gt.Run, case: Case, folder: Path) -> None:
    for at in range(len(case.views["all"])):
        expected = [case.shown(values[at]) for values in case.views.values()]
        assert alike(run.history(f"v{at}").column("value").to_pylist(), expected)


def _differences(run: gt.Run, case: Case, folder: Path) -> None:
    names = ["(empty)", *case.views]
    views = [case.views["none"], *case.views.values()]
    assert alike(
        run.differences().select(["view", "parent", "id", "old", "new"]).to_pylist(),
        [
            {
                "view": names[at],
                "parent": names[at - 1],
                "id": f"v{vertex}",
                "old": case.shown(old),
                "new": case.shown(new),
            }
            for at in range(1, 4)
            for vertex, (old, new) in enumerate(zip(views[at - 1], views[at], strict=True))
            if old != new and (old == old or new == new)
        ],
    )


def _rows(read: Callable[[gt.Run], pa.Table], rows: Callable[[Case], int]) -> Answer:
    """What is compared with an oracle elsewhere, `test_summaries`: it answers here, in full."""

    def check(run: gt.Run, case: Case, folder: Path) -> None:
        table = read(run)
        assert table.num_rows == rows(case)
        assert not any(pa.types.is_null(kind) for kind in table.schema.types)

    return check


def _refused(read: Callable[[gt.Run], Any]) -> Answer:
    def check(run: gt.Run, case: Case, folder: Path) -> None:
        with pytest.raises(gt.GraphtideError):
            read(run)

    return check


ANSWERS: dict[str, Answer] = {
    "values": _values,
    "table": _table,
    "to_arrow": _tidy(lambda run: run.to_arrow()),
    "reader": _tidy(lambda run: run.reader().read_all()),
    "to_polars": _tidy(lambda run: run.to_polars().to_arrow()),
    "to_pandas": _pandas,
    "to_csv": _csv,
    "changes": _changes,
    "history": _history,
    "differences": _differences,
    "summary": _rows(lambda run: run.summary(), lambda case: 3),
    "globals": _rows(lambda run: run.globals(), lambda case: 3),
    "record": _rows(lambda run: run.record(), lambda case: 3),
    "losses": _rows(lambda run: run.losses("all"), lambda case: 2),
    "top": _rows(lambda run: run.top(2), lambda case: 3 * min(2, len(case.views["all"]))),
    "components": _refused(lambda run: run.components("all")),
    "matches": _refused(lambda run: run.matches("all")),
    "to_spark": _refused(lambda run: run.to_spark()),
}
PAGES = {"open", "save_html", "widget"}
NOT_VALUES = {"explain", "picture", "draw", "workers", "supersteps", "path", *PAGES}


def public_methods(owner: type) -> set[str]:
    """The methods that users call."""
    return {
        name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name))
    }


def test_every_method_has_a_case() -> None:
    assert public_methods(gt.Run) == set(ANSWERS) | NOT_VALUES
    frames = {"to_arrow", "to_pandas", "to_polars"}  # Those of table().
    assert public_methods(gt.GraphRun) == {
        *frames,
        "at",
        "table",
        "matches",
        "explain",
        "path",
        "workers",
    }
    assert public_methods(Output) == {"changes", "records", "columns", "drain"}
    assert public_methods(gt.DatalogQuery) == {"facts", "table", "changes", "explain", "close"}


def cases() -> Iterator[Any]:
    """Every type beside every value that vertices may have without edges."""
    for kind in VALUES:
        for base in BASES[kind]:
            for vertices in (0, 1, 4):
                for width in (None, 2):
                    name = f"{kind}-{base}-{vertices}-{width}"
                    yield pytest.param(kind, base, vertices, width, id=name)


@pytest.mark.parametrize(("kind", "base", "vertices", "width"), list(cases()))
def test_every_table_of_a_run(
    kind: str, base: Any, vertices: int, width: int | None, tmp_path: Path
) -> None:
    case = Case(kind, base, vertices, width)
    for name, check in ANSWERS.items():
        if name in ("losses", "top") and width is not None:
            with pytest.raises(gt.GraphtideError, match="is an array"):
                getattr(case.run, name)(*(["all"] if name == "losses" else []))
            continue
        check(case.run, case, tmp_path)
    assert all((str(case.run), case.run.explain(), case.run._repr_html_()))


@gt.program
class Best:
    """The least and the greatest int, the greatest float and the sum that each vertex gets."""

    low: int
    high: int
    far: float
    whole: float
    least = gt.Min(int)
    most = gt.Max(int)
    farthest = gt.Max(float)
    total = gt.Sum(float)
    x = gt.Property(int)

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.least(e.x)
        v.most(e.x)
        v.farthest(e.y)
        v.total(e.y)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.low = v.least
        v.high = v.most
        v.far = v.farthest
        v.whole = v.total


EDGES = [
    (1, 2, LEAST, 1.7e308),
    (3, 2, MOST, 1.7e308),
    (2, 2, 0, -0.0),
    (2, 1, MOST, math.inf),
    (3, 1, MOST, -math.inf),
    (1, 4, LEAST, -math.inf),
]


def best_of(edges: list[Any], vertex: int) -> dict[str, Any]:
    """What a vertex gets, in plain Python: sums are exact, and rounded once."""
    got = [(x, y) for _, dst, x, y in edges if dst == vertex]
    weights = [y for _, y in got]
    beyond = {weight for weight in weights if math.isinf(weight)}
    if len(beyond) == 2:
        whole = math.nan
    else:
        whole = beyond.pop() if beyond else nearest(sum(map(Fraction, weights), Fraction()))
    return {
        "low": min((x for x, _ in got), default=MOST),
        "high": max((x for x, _ in got), default=LEAST),
        "far": max(weights, default=-math.inf),
        "whole": whole,
    }


@pytest.mark.interpreted
@pytest.mark.parametrize("count", range(len(EDGES) + 1))
def test_results_of_a_graph_that_advances(count: int) -> None:
    first, later = EDGES[:count], EDGES[count:]
    src, dst, x = (np.array([edge[at] for edge in first], np.int64) for at in range(3))
    graph = gt.Graph(src, dst, x=x, y=np.array([edge[3] for edge in first], np.float64))
    live = graph.maintain(Best)
    _compare(graph, live, first)
    before = {row["id"]: row for row in live.table().to_pylist()}
    changes = live.advance(insert=later).to_pylist()
    after = {row["id"]: row for row in live.table().to_pylist()}
    for row in changes:
        for name in ("low", "high", "far", "whole"):
            old = before.get(row["id"], {}).get(name)
            assert alike([row[f"old_{name}"], row[f"new_{name}"]], [old, after[row["id"]][name]])
    assert {row["id"] for row in changes} >= {
        vertex for vertex, row in after.items() if not alike(before.get(vertex), row)
    }
    _compare(graph, live, EDGES)
    live.verify()
    live.rollback()
    _compare(graph, live, first)


def _compare(graph: gt.Graph, live: gt.Live, edges: list[Any]) -> None:
    vertices = {end for src, dst, *_ in edges for end in (src, dst)}
    expected = {vertex: best_of(edges, vertex) for vertex in vertices}
    run = graph.run(Best)
    for table in (live.table(), run.table()):
        found = {row.pop("id"): row for row in table.to_pylist()}
        assert alike(dict(sorted(found.items())), dict(sorted(expected.items())))
    for vertex in vertices:
        assert alike(live.at(vertex), expected[vertex])
        assert alike(run.at(vertex), expected[vertex])


MOMENT = datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)
COLUMNS: dict[str, Any] = {
    "i": int | None,
    "f": float | None,
    "b": bool | None,
    "s": str | None,
    "d": datetime.date | None,
    "t": datetime.datetime | None,
    "p": gt.dataflow.decimal(2) | None,
}
RECORDS: list[tuple[Any, ...]] = [
    (None,) * 7,
    (MOST, math.inf, True, "", datetime.date.max, MOMENT, Decimal("0.01")),
    (LEAST + 1, -math.inf, False, "\0", datetime.date.min, datetime.datetime.min, Decimal("0.00")),
    (0, math.nan, None, "x" * 300, None, None, Decimal("-92233720368547758.07")),
    (-1, 1.7e308, True, None, None, None, Decimal("92233720368547758.07")),
]


@pytest.mark.interpreted
@pytest.mark.parametrize("count", [0, 1, len(RECORDS)])
def test_records_of_a_dataflow_come_back_as_they_went_in(count: int) -> None:
    flow = gt.Dataflow()
    given = flow.input("given", **COLUMNS)
    output = given.output()
    records = RECORDS[:count]
    given.insert(records)
    flow.advance()
    expected = sorted(map(repr, records))
    assert sorted(map(repr, output.records())) == expected
    assert sorted(repr(record) for record, _, _ in output.changes()) == expected
    columns = output.columns()
    assert list(columns) == list(COLUMNS)
    assert {len(column) for column in columns.values()} == {count}
    flow.close()
