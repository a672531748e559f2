"""`graphtide check`: read everything that is stored, and tell what is not as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions
from graphtide.cli.outcome import FAILURE


@dataclass(frozen=True, kw_only=True)
class CheckOptions(GlobalOptions):
    """What to check."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Graphs, views, collections and runs; everything if left out.",
        ),
    ] = None


def check(invocation: Invocation, options: CheckOptions) -> None:
    """Compare every stored file with the checksum that was kept of it.

    Says of each item whether it is whole, and of one that is not which file is damaged and what
    can be saved. The exit code is 1 if anything is damaged.

    graphtide check Calls years
    """
    from graphtide.model.wording import counted
    from graphtide.run.statements.answers import Answer

    table = invocation.session.check(*options.names or [])
    states = table.column("state").to_pylist()
    items = set(zip(*(table.column(name).to_pylist() for name in ("kind", "name")), strict=True))
    whole = states.count("ok")
    text = f"{counted(whole, 'item')} whole, {len(items) - whole:,} damaged"
    invocation.printer.answer(Answer(text, table), rows=None)
    if whole < len(items):
        raise typer.Exit(FAILURE)
