"""The options of `graphtide results`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from graphtide.cli.options import GlobalOptions, flag, valued
from graphtide.model.table_text import FIRST_ROWS


@dataclass(frozen=True, kw_only=True)
class ResultsOptions(GlobalOptions):
    """Which run, what of it, and where it goes."""

    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The name of a run; left out: all runs.")
    ] = None
    view: Annotated[str | None, valued("VIEW", "Every vertex with its results in a view.")] = None
    changes: Annotated[
        tuple[str, str] | None, valued("VIEW VIEW", "What differs between two views.")
    ] = None
    vertex: Annotated[str | None, valued("ID", "The results of a vertex in every view.")] = None
    label: Annotated[
        str | None,
        valued(
            "LABEL",
            "The label of --vertex, where several have its id; or count vertices of it only.",
        ),
    ] = None
    touched: Annotated[bool, flag("--touched", "Count vertices with an edge in the view only.")] = (
        False
    )
    all_vertices: Annotated[
        bool, flag("--all-vertices", "Count vertices without an edge too, in windows as well.")
    ] = False
    to: Annotated[
        str | None, valued("ID", "The target of --vertex, where results are of pairs.")
    ] = None
    components: Annotated[
        str | None, valued("VIEW", "The components of a view, largest first.")
    ] = None
    matches: Annotated[
        str | None, valued("VIEW", "The rows that a walk program reports in a view.")
    ] = None
    losses: Annotated[
        str | None, valued("VIEW", "What each view lost beside this one, worst first.")
    ] = None
    top: Annotated[
        int | None, valued("N", "The N greatest of each view, and how they moved.", min=1)
    ] = None
    record: Annotated[bool, flag("--record", "How each step was reached, and what it took.")] = (
        False
    )
    values: Annotated[bool, flag("--values", "All there is: every vertex in every view.")] = False
    field: Annotated[
        str | None,
        valued("NAME", "Which result --top, --losses, --matches and --picture are about."),
    ] = None
    rows: Annotated[int | None, valued("N", f"So many rows, not {FIRST_ROWS}.", min=0)] = None
    all: Annotated[bool, flag("--all", "All rows.")] = False
    csv: Annotated[Path | None, valued("FILE", "Write the whole table as CSV.")] = None
    parquet: Annotated[Path | None, valued("FILE", "Write the whole table as Parquet.")] = None
    picture: Annotated[
        Path | None,
        valued(
            "FILE",
            "Draw the summary by view, with --record the time by view, with --view the graph of "
            "that view: PNG, SVG or PDF.",
        ),
    ] = None
    bars: Annotated[
        bool | None, flag("--bars/--lines", "How to draw views; by their names if not said.")
    ] = None
    reference: Annotated[
        str | None, valued("RUN", "A run from scratch to draw beside the times.")
    ] = None

    @property
    def writes(self) -> bool:
        """True if something goes to a file rather than to the terminal."""
        return any(item is not None for item in (self.csv, self.parquet, self.picture))

    @property
    def narrows(self) -> bool:
        """True if it is said which vertices are to be counted or shown."""
        return self.touched or self.all_vertices or self.label is not None
