"""What every command has: its options, a session when it needs one, a printer, and an exit code.

A command's options are the fields of a dataclass below GlobalOptions, annotated for typer. So
`--data`, `--json` and their like may stand before the command or behind it; what stands behind
wins.

Answers go to standard output. Errors go to standard error for people, and to standard output as
one more object for a program that reads JSON. There are colours in a terminal only, and never
where NO_COLOR is set. Names and values are the users' and may hold anything: what does not print
is written as an escape, so that no name moves a cursor or colours a line.

The exit code is 0 for done, 1 for an error, 2 for wrong usage, 130 for interrupted, and 141 where
nobody reads on. A command prints an error of ours with what, where and what to do, and one of the
system's with its file. Any other exception is a mistake of ours, and the command says so.
Tracebacks are for `--debug`.
"""

from __future__ import annotations

import datetime as dt
import inspect
import json
import logging
import math
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_type_hints

import typer
from rich.console import Console
from rich.text import Text

from graphtide.model.errors import GraphtideError
from graphtide.model.progress import QUIET
from graphtide.model.text import (
    COUNTS,
    FIRST_ROWS,
    CellStyle,
    not_shown,
    table_lines,
    visible,
    visible_lines,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from graphtide.api.session import Session
    from graphtide.lang.gvdl.statements import Statement
    from graphtide.run.statements.answers import Answer


_PANEL = "Options of every command"
DATA_VARIABLE = "GRAPHTIDE_DATA"
DEFAULT_DATA = "graphtide-data"


def everywhere(name: str, help: str, **more: Any) -> Any:
    """An option that every command has."""
    return typer.Option(name, help=help, rich_help_panel=_PANEL, **more)


def valued(metavar: str, help: str, **more: Any) -> Any:
    """An option with a value."""
    return typer.Option(metavar=metavar, help=help, **more)


def flag(name: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(name, help=help)


@dataclass(frozen=True, kw_only=True)
class GlobalOptions:
    """Where things are stored, on which Spark work runs, and what is printed."""

    data: Annotated[
        Path | None,
        everywhere(
            "--data",
            f"Folder of all that is stored: {DEFAULT_DATA}, unless {DATA_VARIABLE} names another.",
            metavar="FOLDER",
        ),
    ] = None
    master: Annotated[
        str | None,
        everywhere("--master", "Spark master, such as local[4] or spark://host:7077."),
    ] = None
    remote: Annotated[
        str | None, everywhere("--remote", "Spark Connect address, such as sc://host.")
    ] = None
    memory: Annotated[
        str | None, everywhere("--memory", "Memory of Spark's driver, such as 3g.")
    ] = None
    trust: Annotated[
        list[str] | None,
        everywhere(
            "--trust",
            "Python module, or .py file, whose dataflows live graphs may run. May be repeated.",
            metavar="MODULE",
        ),
    ] = None
    quiet: Annotated[bool, everywhere("--quiet", "Print errors only.")] = False
    json: Annotated[bool, everywhere("--json", "Print one JSON object a line.")] = False
    debug: Annotated[bool, everywhere("--debug", "Show the Python traceback of an error.")] = False

    @property
    def folder(self) -> Path:
        """The folder of the store: from the options, the environment, or the default."""
        return self.data or Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA)

    def over(self, before: GlobalOptions) -> GlobalOptions:
        """These options, filled up with those given before the command."""
        names = [item.name for item in fields(GlobalOptions)]
        return GlobalOptions(
            **{name: getattr(self, name) or getattr(before, name) for name in names}
        )


def signature_of(options: type[GlobalOptions]) -> inspect.Signature:
    """A signature with a typer context and a keyword for each field of the dataclass."""
    hints = get_type_hints(options, include_extras=True)
    keywords = [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if item.default is MISSING else item.default,
            annotation=hints[item.name],
        )
        # A command's own options come before those of every command.
        for item in sorted(fields(options), key=_is_global)
    ]
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    return inspect.Signature([context, *keywords])


def taking(options: type[GlobalOptions], function: Callable[..., None]) -> Callable[..., None]:
    """The function, with a signature made from the dataclass for typer to read."""
    function.__signature__ = signature_of(options)  # type: ignore[attr-defined]
    return function


def _is_global(item: Any) -> bool:
    return item.name in GlobalOptions.__dataclass_fields__


_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Characters that steer terminals, and that JSON may hold as they are."""


@dataclass(frozen=True)
class FailedStatement:
    """Which statement of a script failed: its number and line, both from 1, and how many there are.

    The statements before it are done, those behind it are not.
    """

    number: int
    line: int
    of: int

    def __str__(self) -> str:
        if self.of == 1:
            return f"the statement on line {self.line} failed"
        return f"statement {self.number} of {self.of} (line {self.line}) failed; {self._before()}"

    def _before(self) -> str:
        done = self.number - 1
        if done < 2:
            return "the one before it is done" if done else "nothing has been done"
        return f"the {done:,} before it are done"


class Printer(Protocol):
    """Where a command's answers and errors go."""

    def answer(self, answer: Answer[object], *, rows: int | None = FIRST_ROWS) -> None:
        """Print an answer with the first rows of its table; None stands for all of them."""

    def error(self, error: GraphtideError, failed: FailedStatement | None = None) -> None:
        """Print an error, and the statement that it stopped."""

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """Say that the user has stopped the work, and what was kept."""


class _Terminal(Console):
    """A console that leaves it to the command what to do when nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class TextPrinter:
    """For people. `quiet` leaves out the answers."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._out = _Terminal(highlight=False)
        self._err = _Terminal(stderr=True, highlight=False)

    @property
    def in_terminal(self) -> bool:
        """True if a person reads the answers as they come."""
        return self._out.is_terminal

    def answer(self, answer: Answer[object], *, rows: int | None = FIRST_ROWS) -> None:
        """Text, table and notes."""
        if self._quiet:
            return
        self._line(answer.text)
        if answer.table is not None and answer.table.num_rows:
            self._table(answer.table, rows, answer.style)
        for note in answer.notes:
            self._line(f"note: {note}", "yellow")

    def error(self, error: GraphtideError, failed: FailedStatement | None = None) -> None:
        """What, where and what to do, in red; carets stay under what they point at."""
        text = f"error: {error}" + (f"\n{failed}" if failed else "")
        self._err.print(Text(visible_lines(text)), style="red", soft_wrap=True)

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """Print it on standard error."""
        lines = ["interrupted", *getattr(stop, "__notes__", ())]
        text = visible_lines("\n".join(lines))
        self._err.print(Text(text), style="red", soft_wrap=True)

    def _table(self, table: pa.Table, rows: int | None, style: CellStyle) -> None:
        shown = table if rows is None else table.slice(0, rows)
        width = shutil.get_terminal_size().columns if self._out.is_terminal else None
        header, *lines = table_lines(shown, style, width)
        self._line(header, "bold")
        for line in lines:
            self._line(line)
        if shown.num_rows < table.num_rows:
            self._line(not_shown(table.num_rows - shown.num_rows), "dim")

    def _line(self, text: str, style: str = "") -> None:
        self._out.print(Text(visible_lines(text)), style=style, soft_wrap=True)


class JsonPrinter:
    """For programs: one object a line, tables whole, whatever the number of rows."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def answer(self, answer: Answer[object], *, rows: int | None = FIRST_ROWS) -> None:
        """`text`, `table` (a list of rows, or null), `notes`, and `rows` of a load or an append."""
        if self._quiet:
            return
        table = None if answer.table is None else answer.table.to_pylist()
        facts = {"text": answer.text, "table": table, "notes": list(answer.notes)}
        if answer.counts is not None:
            facts |= {"rows": answer.counts.to_dict()}
        self._object(facts)

    def error(self, error: GraphtideError, failed: FailedStatement | None = None) -> None:
        """`error`, with `what`, `where` and `hint`, and the `statement` and `line` of a script."""
        facts: dict[str, object] = {"what": error.what, "where": error.where, "hint": error.hint}
        if failed is not None:
            facts |= {"statement": failed.number, "line": failed.line}
        self._object({"error": facts})

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """Print it as an error."""
        self.error(GraphtideError("interrupted", hint="; ".join(getattr(stop, "__notes__", ()))))

    def _object(self, content: Mapping[str, object]) -> None:
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        text = json.dumps(as_json(content), ensure_ascii=encoding != "utf8", allow_nan=False)
        print(text.translate(_CONTROLS), flush=True)


def as_json(value: object) -> object:
    """The value in types of JSON: dates as ISO texts, NaN and infinities as texts."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case Mapping():
            return {str(key): as_json(item) for key, item in value.items()}
        case list() | tuple():
            return [as_json(item) for item in value]
    return str(value)


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
        """Begin the command. `--quiet` also silences the line on compiling, in all processes."""
        if self.options.quiet:
            os.environ[QUIET] = "1"

    def __exit__(self, *_: object) -> None:
        """Close live graphs, so that others can write them."""
        if "session" in self.__dict__:
            self.session.close_live()

    def say(
        self,
        text: str,
        table: Any = None,
        style: CellStyle = COUNTS,
        *,
        rows: int | None = None,
    ) -> None:
        """Print a text, and a table: its first `rows`, or all of them."""
        from graphtide.run.statements.answers import Answer

        self.printer.answer(Answer(text, table, style=style), rows=rows)

    def execute(self, statement: Statement) -> Answer[object]:
        """Carry out a statement of GVDL."""
        from graphtide.run.statements.execute import execute_statement

        return execute_statement(self.session, statement)

    @property
    def in_terminal(self) -> bool:
        """True if a person reads the answers as they come."""
        return isinstance(self.printer, TextPrinter) and self.printer.in_terminal


FAILURE, INTERRUPTED, PIPE_CLOSED = 1, 130, 141
_LONGEST = 300


@contextmanager
def reported(invocation: Invocation) -> Iterator[None]:
    """Turn whatever leaves the block into a message and an exit code."""
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


def report(invocation: Invocation, error: Exception, failed: FailedStatement | None = None) -> None:
    """Print an error, and the statement of a script that it stopped."""
    if invocation.options.debug:
        traceback.print_exception(error)
    invocation.printer.error(as_ours(error), failed)


def as_ours(error: Exception) -> GraphtideError:
    """An error of ours as it is, one of the system in our form, any other as our mistake."""
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
    """Make printing work with any encoding, and silence the logs of libraries."""
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
    """Discard what is left to print: nobody reads standard output any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
