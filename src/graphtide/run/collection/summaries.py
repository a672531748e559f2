"""What sums up a run: a table with a row a view, the components of a view, and a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import InputError, StoreError
from graphtide.model.wording import counted
from graphtide.optimize.strategy import Move
from graphtide.run.collection.chosen_vertices import BY_VIEW, THERE, ChosenVertices
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import Figures, is_little, whole_figures
from graphtide.run.collection.kept_figures import kept_figures
from graphtide.run.collection.tables import globals_table, match_counts
from graphtide.run.collection.worker_rows import explained_workers


def summary_table(contents: RunContents, chosen: ChosenVertices = BY_VIEW) -> pa.Table:
    """A row a finished view, in the order of the views; how many vertices count, if not all.

    Rows of matches are counted as they are kept: where a limit is reached there may be more.
    """
    chosen.check(contents)
    views = contents.finished_views()
    names = [contents.steps.names[view] for view in views]
    columns: dict[str, pa.Array] = {
        "view": pa.array(names, pa.string()),
        "edges": pa.array(contents.steps.edges[contents.step_of[views]]),
    }
    if contents.fields and not chosen.everything(contents):
        columns["vertices"] = pa.array(_counts(contents, views, chosen), pa.int64())
    whole = globals_table(contents)
    columns |= {name: whole.column(name) for name in whole.column_names if name != "view"}
    for item in contents.facts.matches:
        counts = match_counts(contents, item.name)
        columns[f"{item.name}_rows"] = counts
        if item.limit is not None:
            columns[f"{item.name}_at_limit"] = pc.greater_equal(counts, item.limit)
    for field in contents.fields:
        prefix = figure_prefix(contents, field)
        figures = _figures(contents, field, chosen)
        columns |= {prefix + name: column for name, column in figures.items()}
    return pa.table(columns)


def shown_summary(contents: RunContents) -> tuple[pa.Table, str | None]:
    """The summary for who only looks at a run: of all vertices, where the views are gone.

    And a line that says so.
    """
    try:
        return summary_table(contents), None
    except StoreError as error:
        said = f"the summary counts all vertices, touched or not: {error.what}"
        return summary_table(contents, THERE), said


def figure_prefix(contents: RunContents, field: str) -> str:
    """What the figures of a result are called by, where it is not the only one."""
    alone = len(contents.facts.results) == 1
    return "" if alone else f"{field}_"


def _figures(contents: RunContents, field: str, chosen: ChosenVertices) -> Figures:
    """A column a figure, a row a finished view in the order of the views.

    Of those with an edge, or of a label, figures are computed anew in every view.
    """
    if not chosen.all_there(contents):
        return whole_figures(contents, field, chosen)
    told_by_tasks = kept_figures(contents, field)
    if told_by_tasks is not None:
        return told_by_tasks
    if contents.empty(field).ndim == 1 and not is_little(contents, field):
        # Imported here: kernels take a second, and small results need none.
        from graphtide.run.collection.followed import followed_figures

        followed = followed_figures(contents, field)
        if followed is not None:
            return followed
    return whole_figures(contents, field)


def _counts(contents: RunContents, views: list[int], chosen: ChosenVertices) -> list[int]:
    """How many vertices count in each view, asked for in the order of the plan."""
    counts, all_vertices = {}, contents.count(contents.fields[0])
    if chosen.all_there(contents):
        return [all_vertices - len(contents.removed(view)) for view in views]
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        mask = chosen.mask(contents, view)
        counts[view] = all_vertices if mask is None else int(np.count_nonzero(mask))
    return [counts[view] for view in views]


def components_table(
    contents: RunContents, view: int, chosen: ChosenVertices = BY_VIEW
) -> pa.Table:
    """The first vertex of each component, and how many vertices it has that count."""
    chosen.check(contents)
    field = contents.facts.labels
    if field is None:
        raise InputError(
            f"{contents.facts.program} does not compute components",
            hint="use a program that does, such as gt.algorithms.WCC",
        )
    values = chosen.of(contents, view, contents.values(view)[field])
    labels, sizes = np.unique(values, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    ids = contents.rows.columns(labels[order])
    return pa.table({**ids, "size": pa.array(sizes[order])})


def run_text(run: RunContents) -> str:
    """How a run went, in a few lines."""
    lines = [f"run '{run.facts.name}': {explain_run(run)}"]
    if not run.finished:
        done, views = len(run.finished_views()), len(run.steps.names)
        lines.append(f"  interrupted: {done:,} of {views:,} views can be read")
    return "\n".join(lines)


def explain_run(contents: RunContents) -> str:
    """A few lines for people."""
    return "\n".join(_explained(contents))


def _explained(contents: RunContents) -> Iterator[str]:
    facts, steps, record = contents.facts, contents.steps, contents.differences.record
    views = contents.finished_views()
    yield f"{facts.program} on '{facts.collection}', {facts.mode} mode: {facts.reason}"
    yield f"strategy {facts.strategy}: {len(views):,} of {len(steps.names):,} views finished"
    if record is None:
        return
    moves, seconds = record.column("move").to_numpy(), record.column("seconds").to_numpy()
    names = [Move(int(code)).strategy for code in moves]
    for name, number in sorted(Counter(names).items()):
        took = seconds[np.array(names) == name].sum()
        yield f"  {counted(number, 'step')} {_WORDS[name]}: {took:.3g} s"
    splits = np.count_nonzero(moves == Move.SPLIT)
    differences = f"{counted(_rows(contents), 'difference')} {'kept' if contents.kept else 'found'}"
    yield f"  {counted(int(splits), 'time')} a new state was begun, {differences}"
    yield from explained_workers(contents)


_WORDS = {"differential": "differentially", "scratch": "from scratch"}


def _rows(contents: RunContents) -> int:
    record = contents.differences.record
    return 0 if record is None else int(record.column("changed").to_numpy().sum())
