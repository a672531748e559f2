"""What a command prints: for people, as JSON, or errors alone.

Answers go to standard output. Errors go to standard error for people, and to standard output as one
more object for a program that reads JSON. There are colours in a terminal only, and never where
NO_COLOR is set. Names and values are the users' and may hold anything: what does not print is
written as an escape, so that no name moves a cursor or colours a line.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.text import Text

from graphtide.model.cells import CellStyle, not_shown, visible_lines
from graphtide.model.errors import GraphtideError
from graphtide.model.table_text import FIRST_ROWS, table_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from graphtide.run.statements.answers import Answer

_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Characters that steer terminals, and that JSON may hold as they are."""


@dataclass(frozen=True)
class Failed:
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

    def error(self, error: GraphtideError, failed: Failed | None = None) -> None:
        """Print an error, and the statement that it stopped."""

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """Say that the user has stopped the work, and what became of it."""


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
        """True where somebody looks at the answers as they come."""
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

    def error(self, error: GraphtideError, failed: Failed | None = None) -> None:
        """What, where and what to do, in red; carets stay under what they point at."""
        text = f"error: {error}" + (f"\n{failed}" if failed else "")
        self._err.print(Text(visible_lines(text)), style="red", soft_wrap=True)

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """On standard error."""
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

    def error(self, error: GraphtideError, failed: Failed | None = None) -> None:
        """`error`, with `what`, `where` and `hint`, and the `statement` and `line` of a script."""
        facts: dict[str, object] = {"what": error.what, "where": error.where, "hint": error.hint}
        if failed is not None:
            facts |= {"statement": failed.number, "line": failed.line}
        self._object({"error": facts})

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """An error like others."""
        self.error(GraphtideError("interrupted", hint="; ".join(getattr(stop, "__notes__", ()))))

    def _object(self, content: Mapping[str, object]) -> None:
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        text = json.dumps(as_json(content), ensure_ascii=encoding != "utf8", allow_nan=False)
        print(text.translate(_CONTROLS), flush=True)


def as_json(value: object) -> object:
    """The value in the types of JSON: dates as ISO strings, NaN and infinities as strings."""
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
