"""Runs, as users hold them: of a program on every view of a collection, or on one whole graph.

Results over views are put together from differences when they are asked for; a run that was
interrupted has the views that were finished. The results on a whole graph are in memory, and stay
when the graph goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.api.opening import SavesPage
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.text import COUNTS, counted, visible
from graphtide.run.catalog.opened_runs import results_to_spark
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection import summaries, tables
from graphtide.run.collection.contents import ChosenVertices, Counted, RunContents
from graphtide.run.collection.summaries import losses_table
from graphtide.run.live.results import (
    NamedResults,
    PairRows,
    named,
)
from graphtide.run.routes import ProgramResults, Route, routed
from graphtide.run.table import Table, polars_frame, run_html
from graphtide.store.whole_files import whole_stream

if TYPE_CHECKING:
    import pandas
    import polars

    from graphtide.api.pictures.draw import Drawn
    from graphtide.api.pictures.picture import Picture
    from graphtide.run.routes import Route
    from graphtide.spark.types import DataFrame


class Run(SavesPage, SaysWhere):
    """The results of one program over many versions; `collection.run(...)` makes one."""

    _elsewhere = {
        **dict.fromkeys(
            ("plot", "chart", "show"),
            "run.picture(path), or run.draw(VIEW) for the graph of a view",
        ),
        **dict.fromkeys(("view", "get", "loc"), "run.table(VIEW), or run.history(VERTEX)"),
        **dict.fromkeys(
            ("groupby", "sortvalues", "query", "merge", "describe", "pivot"),
            "run.to_pandas() has all views, run.table(VIEW).to_pandas() one",
        ),
        **dict.fromkeys(("route", "paths", "shortestpath"), "run.path(VIEW, SOURCE, TARGET)"),
        **dict.fromkeys(
            ("names", "viewnames", "keys"), "run.views names the views, run.fields the results"
        ),
        "results": "run.table(VIEW), or run.to_arrow() for all views",
        "items": "for view in run.views: run.table(view)",
        "at": "run.history(VERTEX), or run.table(VIEW)",
        "columns": "run.fields names the results, run.to_arrow().column_names all columns",
        "head": "run.table(VIEW).head()",
        "todict": "run.table(VIEW).to_pydict()",
        "toparquet": "run.table(VIEW).to_parquet(path); pyarrow.parquet takes run.reader()",
        "compare": "run.changes(ONE, OTHER)",
        "diff": "run.changes(ONE, OTHER)",
    }

    def __init__(self, contents: RunContents, space: Workspace | None = None) -> None:
        self._contents = contents
        self._space = space

    @property
    def name(self) -> str:
        """The name in the catalog."""
        return self._contents.facts.name

    @property
    def program(self) -> str:
        """The program with its parameters, as text."""
        return self._contents.facts.program

    @property
    def collection(self) -> str:
        """The name of the collection."""
        return self._contents.facts.collection

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the program's results of vertices, or of pairs."""
        return self._contents.fields

    @property
    def of_pairs(self) -> bool:
        """True where results are those of pairs of vertices, and not of vertices."""
        return self._contents.facts.pairs is not None

    @property
    def kept(self) -> bool:
        """False where `results=False` left a record, and no results to read."""
        return self._contents.kept

    @property
    def mode(self) -> str:
        """`fixpoint`, `exact`, `dataflow` or `walk`."""
        return self._contents.facts.mode

    @property
    def strategy(self) -> str:
        """`adaptive`, `differential` or `scratch`, as asked for."""
        return self._contents.facts.strategy

    @property
    def views(self) -> list[str]:
        """The names of all views, in the order in which they were given."""
        return list(self._contents.steps.names)

    @property
    def finished(self) -> bool:
        """False where the run was interrupted: `collection.run(..., resume=True)` goes on."""
        return self._contents.finished

    @property
    def seconds(self) -> float:
        """What all finished steps took."""
        return self._contents.seconds

    def __len__(self) -> int:
        return len(self._contents.finished_views())

    def record(self) -> Table:
        """A row a step in the order of the plan: sizes, predictions, strategy, time, work."""
        return Table(tables.record_table(self._contents), COUNTS)

    def workers(self) -> Table:
        """A row for some steps in a row: who made them, from which view on, when, and in how long.

        `began` and `ended` are seconds of the epoch, `processor` is processor time. On shards each
        view has a row for every task, and `sent` is how many bytes of states it sent to others.
        """
        return Table(tables.workers_table(self._contents), COUNTS)

    def supersteps(self) -> Table:
        """A row for some supersteps of one task: when, and how long it computed and waited.

        Of a run on shards; others have none. `superstep` is the first of so many `supersteps`:
        where a view has more than 256, neighbours share a row. `began` is in seconds of the epoch;
        `computed`, `waited` (for other tasks) and `transferred` are seconds.
        """
        return Table(tables.supersteps_table(self._contents), COUNTS)

    def values(self, view: str | int, field: str | None = None) -> NDArray[Any]:
        """A result of every vertex (or pair) in one view, as an array in their order.

        A result that names vertices holds their ids. A vertex that is taken out of the view keeps
        its place, and has what no edge gives.
        """
        name = self._contents.field(field)
        values = self._contents.values(self._contents.position(view))[name]
        return named(values, self._contents.named_by(name))

    def table(
        self, view: str | int, *, vertices: Counted | None = None, label: str | None = None
    ) -> Table:
        """Every vertex of a view with its id (every pair with both) and its results there.

        A vertex that is taken out of a view is not there. Of a window, vertices are those with an
        edge in it; of other views all of the graph's. `vertices="touched"` leaves out those without
        an edge in any view, `vertices="all"` in none; `label` leaves out all but its own.
        """
        chosen = ChosenVertices(vertices, label)
        return Table(tables.view_table(self._contents, self._contents.position(view), chosen))

    def path(self, view: str | int, *ends: Any) -> Route | None:
        """The way along which a vertex got its value in a view: `path(view, source, target)`.

        Or `path(view, target)`, from the source that it came from. A list of ids, with a table of
        its `edges` and its `cost`; None where no way leads there. Of several, whose beginnings are
        best ways themselves, one with the fewest edges is taken; of those, from the source on, the
        edge with the least number each time. For programs that keep one best value: BFS,
        ShortestPaths, NearestSource, WidestPath and such of your own. O(edges of the view).
        """
        return self._contents.route(self._contents.position(view), ends)

    def changes(self, one: str | int, other: str | int) -> Table:
        """The vertices of both views whose results differ: `id`, `old` and `new`."""
        places = [self._contents.position(view) for view in (one, other)]
        return Table(tables.changes_table(self._contents, *places))

    def history(self, vertex: Any) -> Table:
        """The results of one vertex, by its id, or of one pair of ids, in every view.

        They are missing in views that the vertex is taken out of.
        """
        return Table(tables.history_table(self._contents, self._contents.rows.number(vertex)))

    def differences(self, field: str | None = None) -> Table:
        """The results as they are kept: what each step of the plan changed from its parent."""
        own = self._contents.facts.results
        name = field if field in own else self._contents.field(field)
        return Table(tables.difference_table(self._contents, name))

    def summary(self, *, vertices: Counted | None = None, label: str | None = None) -> Table:
        """A row a view: its edges, results of the whole graph, and what sums up those of vertices.

        Which vertices count is as for `table`: in a window those with an edge, in any other view
        all that are not taken out, unless `vertices` is "touched" or "all"; `label` counts those of
        a label. Where these are not all vertices of the graph, the column `vertices` says how many
        there are. `not_finite` says how many values
        are infinite or no numbers, where there are any: they count for no other figure.
        """
        return Table(
            summaries.summary_table(self._contents, ChosenVertices(vertices, label)), COUNTS
        )

    def globals(self) -> Table:
        """The results of the whole graph: a row a view, a column a result.

        A result called `view`, `edges` or `vertices` has `global_` before its name.
        """
        return Table(tables.globals_table(self._contents))

    def matches(self, view: str | int, name: str | None = None) -> Table:
        """The rows that walks report in one view, with your own ids, in the order of their columns.

        Those of the first kind of matches, if none is named. Where it has a `limit`, these are the
        first so many rows; `summary()` says of each view whether it reaches the limit.
        """
        return Table(tables.matches_table(self._contents, self._contents.position(view), name))

    def components(
        self, view: str | int, *, vertices: Counted | None = None, label: str | None = None
    ) -> Table:
        """The components of a view with their sizes, the largest first.

        `vertices` and `label` choose which vertices count, as for `summary`.
        """
        chosen = ChosenVertices(vertices, label)
        return Table(
            summaries.components_table(self._contents, self._contents.position(view), chosen)
        )

    def losses(self, baseline: str | int, *, field: str | None = None) -> Table:
        """What was lost in each view beside the view `baseline`, the worst views first.

        Of components, how many vertices were cut off from theirs, and how many components more
        there are; of other results that name a vertex, how many changed; of distances, how many
        vertices are no longer reached, how many are farther, and by how much those that are reached
        in both are on average; of truth values, how many are no longer true; of other numbers, how
        much less there is in all, in how many vertices, and in one vertex at most. Where values are
        infinite or no numbers, `not_finite` says of how many vertices, which count for no sum. A
        vertex that is taken out of a view is not compared there.
        """
        place, name = self._contents.position(baseline), self._contents.field(field)
        return Table(losses_table(self._contents, name, place), COUNTS)

    def top(
        self, count: int = 10, field: str | None = None, *, view: str | int | None = None
    ) -> Table:
        """The vertices with the greatest values of each view, and how many places they rose.

        The same values stand in the order of the vertices, and what is not reached comes last.
        Those that had no value of their own in the view before are `new`, and rose nowhere.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            hint = "give a whole number, 1 or more; top(10, view='...') is of one view"
            raise InputError(f"count cannot be {count!r}", hint=hint)
        table = summaries.top_table(self._contents, self._contents.field(field), count)
        if view is not None:
            name = self._contents.steps.names[self._contents.position(view)]
            table = table.filter(pc.equal(table["view"], name))
        return Table(table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def reader(self) -> pa.RecordBatchReader:
        """The tidy table, one view at a time: `view`, `id` and the results by their names."""
        return tables.tidy_reader(self._contents)

    def to_arrow(self) -> pa.Table:
        """The tidy table, every vertex in every view: `view`, `id` and the results by their names.

        Of a program that has results of the whole graph alone it is `globals()`; of pairs it has
        `source` and `target` instead of `id`.
        """
        return self.reader().read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """The tidy table as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The tidy table as a Polars DataFrame."""
        return polars_frame(self.to_arrow())

    def to_spark(self) -> DataFrame:
        """The tidy table as a Spark DataFrame, in the session's Spark.

        Of a run on shards, tasks read it, and its rows have no order.
        """
        if self._space is None:
            raise InputError(
                "a run in memory has no Spark", hint="spark.createDataFrame(run.to_arrow())"
            )
        return results_to_spark(self._contents, self._space.gateway)

    def to_csv(self, path: str | Path) -> Path:
        """Write the tidy table to a file, one view at a time; arrays become several columns.

        The file appears when it is complete; it is packed if its name ends with .gz, .bz2 or .zst.
        """
        target = given_path(path)
        with whole_stream(target) as stream:
            tables.write_tidy_csv(self._contents, stream)
        return target

    def picture(
        self,
        path: str | Path | None = None,
        *,
        of: Drawn = "summary",
        field: str | None = None,
        count: int | None = None,
        reference: Run | None = None,
        bars: bool | None = None,
    ) -> Picture:
        """Draw the run, to a PNG, SVG or PDF file if a path is given; a notebook shows it.

        `of="summary"` is what was found view by view; `of="top"` the values of the `count`
        vertices that lead in the last view; `of="times"` what each view took, by strategy, beside
        `reference`, a run from scratch, or beside what that was predicted to take; `of="workers"`
        who made what when, coloured by sub-plan, or by superstep for a run on shards. Views whose
        names do not go up, such as outages, are rows, those that stand out first, rather than
        lines, unless `bars` says otherwise.
        """
        if reference is not None and not isinstance(reference, Run):
            raise InputError(
                f"{reference!r} is no run", hint="give the run itself: session.results(NAME)"
            )
        # Imported here: matplotlib takes a second.
        from graphtide.api.pictures.draw import draw_run

        other = None if reference is None else reference._contents
        return draw_run(
            self._contents, path, of=of, field=field, count=count, reference=other, bars=bars
        )

    def draw(
        self,
        view: str | int | Sequence[str | int] | None = None,
        path: str | Path | None = None,
        *,
        field: str | None = None,
        around: Any = None,
        hops: int | None = 2,
        since: str | int | Literal[False] | None = None,
        most: int = 200,
        places: Mapping[Any, Sequence[float]] | None = None,
        arrows: bool | None = None,
    ) -> Picture:
        """Draw the graph of a view, vertices in the colour of their result; to a file, if named.

        Several views are panels beside each other in which every vertex keeps its place; without
        `view` these are up to six, from the first to the last. `around`
        is the id of a vertex, or a list of ids: what lies within so many `hops` of them is drawn
        (None: all that is connected). Without it all is drawn, up to `most` vertices; the picture
        says what it leaves out. Edges that came or went, and results that changed, stand out:
        beside the view `since`, the panel before, or the view before where views have an order;
        `since=False` leaves that out. `places` says where vertices stand: `{id: (x, y)}`. Edges
        have arrows where they are few, or where `arrows` says so.
        """
        # Imported here: matplotlib takes a second.
        from graphtide.api.pictures.draw import draw_run_views

        wanted = {"hops": hops, "most": most, "places": places, "arrows": arrows}
        return draw_run_views(
            self._contents, view, path, field=field, around=around, since=since, **wanted
        )

    def explain(self) -> str:
        """What was run, how, and what it took."""
        return summaries.explain_run(self._contents)

    def _on_page(self) -> tuple[Any, list[str] | None]:
        return self._space, None if self._space is None else ["run", self.name]

    def __repr__(self) -> str:
        done = f"{len(self):,} of {counted(len(self.views), 'view')}"
        state = done if not self.finished else counted(len(self.views), "view")
        state += "" if self.kept else " without results"
        return visible(
            f"<run '{self.name}': {self.program} on {self.collection}, {state}, "
            f"{self.seconds:.3g} s>"
        )

    def _repr_html_(self) -> str:
        text, summary = summaries.run_text(self._contents), None
        if len(self) and self.kept:
            summary, note = summaries.shown_summary(self._contents)
            text = text if note is None else f"{text}\n{note}"
        return run_html(text, self.record(), summary)


class GraphRun(NamedResults):
    """The results of one run from scratch, in memory; they stay when the graph goes on."""

    _held = "run"

    def __init__(
        self,
        answered: ProgramResults,
        route: Callable[[str, tuple[Any, ...]], Route | None] | None = None,
    ) -> None:
        self._answered = answered
        self._compiled = answered.compiled
        self._route = route
        ids, pairs = answered.ids, answered.pairs
        self._rows = ids if pairs is None else PairRows(ids, pairs)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the results, and not the graph that routes are found in."""
        return {**self.__dict__, "_route": None}

    @property
    def program(self) -> str:
        """The program with its parameters, as text."""
        return str(self._compiled.bound)

    @property
    def seconds(self) -> float:
        """What the run took, without reading the graph."""
        return self._answered.seconds

    def workers(self) -> Table:
        """What the run took of processors, in seconds: a row `alone` and one for each thread.

        `alone` is what the asking thread did while no other had anything to do; threads share the
        rest. So the run waits for `alone` and the busiest of the threads.
        """
        alone, *shared = self._answered.processor
        names = ["alone", *(f"thread {at}" for at in range(1, len(shared) + 1))]
        return Table(pa.table({"worker": names, "processor": [alone, *shared]}))

    def path(self, *ends: Any) -> Route | None:
        """The way along which a vertex got its value: `path(target)`, or `path(source, target)`.

        As `Live.path` has it, for as long as the graph is at the version of the run.
        """
        field = routed(self._compiled)
        if self._route is None:
            raise InputError(
                "this run does not know the edges of its graph, so it has no routes",
                hint="graph.to_memory().run(program).path(target) of a stored graph",
            )
        return self._route(field, ends)

    def _value(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self._answered.values[name]
        return values

    def _match_rows(self, name: str) -> Iterable[Any]:
        return sorted(self._answered.values[name].elements())

    def explain(self) -> str:
        """What was run, over which form of the graph and why, and what it took."""
        choice = self._compiled.choice
        return "\n".join([f"{self.program} from scratch ({choice})", *self._answered.how])

    def __repr__(self) -> str:
        return f"<{self.program} on {self._answered.vertices:,} vertices, {self.seconds:.3g} s>"
