"""One call of a command: its global options, its printer, and a session when it needs one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from graphtide.cli.options import GlobalOptions
from graphtide.cli.printing import JsonPrinter, Printer, TextPrinter
from graphtide.model.audience import QUIET

if TYPE_CHECKING:
    from graphtide.api.session import Session


@dataclass(frozen=True)
class Invocation:
    """What a command works with. The API is imported, and Spark started, on first use only."""

    options: GlobalOptions

    @cached_property
    def printer(self) -> Printer:
        """Where answers and errors go."""
        quiet = self.options.quiet
        return JsonPrinter(quiet=quiet) if self.options.json else TextPrinter(quiet=quiet)

    @cached_property
    def session(self) -> Session:
        """The session on the folder and the Spark that were asked for."""
        from graphtide.api.session import session

        return session(
            self.options.folder,
            master=self.options.master,
            remote=self.options.remote,
            memory=self.options.memory,
            progress=False if self.options.quiet else None,
            trust=self.options.trust or (),
        )

    def __enter__(self) -> None:
        """Begin the command; `--quiet` holds for the line on compiling too, in all processes."""
        if self.options.quiet:
            os.environ[QUIET] = "1"

    def __exit__(self, *_: object) -> None:
        """Let live graphs go, so that others can write them."""
        if "session" in self.__dict__:
            self.session.close_live()

    @property
    def in_terminal(self) -> bool:
        """True where the answers go to a terminal, for somebody to read as they come."""
        return isinstance(self.printer, TextPrinter) and self.printer.in_terminal
