"""How a command ends: 0 done, 1 an error, 2 wrong usage, 130 interrupted, 141 nobody reads on.

The command prints an error of ours with what, where and what to do, and one of the system's with
its file. Any other exception is a mistake of ours, and the command says so. Tracebacks are for
`--debug`.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.printing import Failed
from graphtide.model.cells import visible
from graphtide.model.errors import GraphtideError

FAILURE, INTERRUPTED, PIPE_CLOSED = 1, 130, 141
_LONGEST = 300


@contextmanager
def reported(invocation: Invocation) -> Iterator[None]:
    """Turn whatever leaves the block into a message and the exit code that stands for it."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        _close_output()
        raise typer.Exit(PIPE_CLOSED) from None
    except KeyboardInterrupt as stop:
        invocation.printer.interrupted(stop)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        report(invocation, error)
        raise typer.Exit(FAILURE) from None


def report(invocation: Invocation, error: Exception, failed: Failed | None = None) -> None:
    """Print an error, whoever raised it, and the statement of a script that it stopped."""
    if invocation.options.debug:
        traceback.print_exception(error)
    invocation.printer.error(as_ours(error), failed)


def as_ours(error: Exception) -> GraphtideError:
    """An error of ours as it is, one of the system's in our form, any other as a mistake."""
    match error:
        case GraphtideError():
            return error
        case OSError(strerror=str() as said):
            return GraphtideError(said, where=error.filename and str(error.filename))
    first = next(iter(str(error).splitlines()), "")
    said = visible(f"{type(error).__name__}: {first}" if first else type(error).__name__)
    return GraphtideError(
        f"Graphtide has made a mistake: {said[:_LONGEST]}",
        hint="please report it with what you did and what this prints: run it again with --debug",
    )


def prepare_output(*, debug: bool) -> None:
    """Print on any terminal, whatever its encoding, and keep what libraries log to themselves."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not debug and not logging.getLogger().handlers:
        # The gateway to the JVM logs an interrupt with its traceback before it lets it through.
        logging.getLogger().addHandler(logging.NullHandler())
    ours = logging.getLogger("graphtide")
    if not any(isinstance(item, _Notes) for item in ours.handlers):
        ours.addHandler(_Notes(logging.WARNING))


class _Notes(logging.Handler):
    """What has been mended on the way, and others may want to know of."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"note: {visible(record.getMessage())}", file=sys.stderr)


def _close_output() -> None:
    """Nobody reads standard output any more: what is left to flush goes nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
