"""`graphtide refresh`: bring collections and views up to date with their graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions


@dataclass(frozen=True, kw_only=True)
class RefreshOptions(GlobalOptions):
    """What to refresh."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Collections and views; all that are stale if left out.",
        ),
    ] = None


def refresh(invocation: Invocation, options: RefreshOptions) -> None:
    """Bring collections and views to the state that their graphs are in now.

    Looks only at the edges that have come or changed since, where that is possible.

    graphtide refresh years
    """
    from graphtide.run.catalog.rows import table_of
    from graphtide.run.catalog.staleness import stale_collections
    from graphtide.run.statements.answers import Answer

    session = invocation.session
    names = options.names or stale_collections(session.catalog)
    rows = [(name, session.collection(name).refresh()) for name in names]
    text = f"{len(rows):,} refreshed" if rows else "nothing is stale"
    invocation.printer.answer(Answer(text, table_of(("collection", "done"), rows)), rows=None)
