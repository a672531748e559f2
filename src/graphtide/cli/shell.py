"""`graphtide shell`: read statements, carry them out, print what they answer, go on.

Lines gather until a statement is complete: it ends with a `;` that is not inside a string, a
quoted name or a comment. Strings and quoted names end with their line at the latest, as in the
grammar, so that a forgotten quote is an error at once and does not swallow all that follows. An
error is shown where it happened and the shell goes on; Ctrl-C drops what has been typed, or stops
the statement that runs. Without a terminal it prints no prompt, and ends with 1 if a statement
failed.

Tab completes the keywords of GVDL and what the catalog knows by name, by the standard readline
where there is one. `help` has a text a topic, each with examples that can be typed as they stand.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import typer

from graphtide.cli.command import FAILURE, GlobalOptions, Invocation, report
from graphtide.model.errors import GraphtideError
from graphtide.model.schema import closest
from graphtide.model.text import visible
from graphtide.version import __version__

if TYPE_CHECKING:
    from graphtide.api.session import Session


_PIECE = re.compile(
    r"""
      '(?:[^'\\\n]|\\.|'')*(?:'|$)      # a string
    | "(?:[^"\n])*(?:"|$)               # a quoted name
    | `(?:[^`\n])*(?:`|$)
    | --[^\n]*                          # a comment to the end of the line
    | /\*(?:[^*]|\*(?!/))*\*/           # a comment
    | (?P<open>/\*)                     # a comment that goes on
    | (?P<end>;)
    """,
    re.VERBOSE | re.MULTILINE,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|;)*")


def split_statements(text: str) -> tuple[str, str]:
    """The complete statements of a text, and the rest."""
    end = 0
    for piece in _PIECE.finditer(text):
        if piece["open"]:
            break
        if piece["end"]:
            end = piece.end()
    return text[:end], text[end:]


def is_blank(text: str) -> bool:
    """True for blanks, comments and semicolons only."""
    return _BLANK.fullmatch(text) is not None


_GENERAL = """\
Statements end with ';' and may span lines. Keywords in any case; -- begins a comment.

  help TOPIC    one of: {topics}
  quit, exit    leave (or Ctrl-D)
  Ctrl-C        drop what has been typed, or stop the statement that runs
  Tab           complete a keyword or the name of a graph, view or collection
"""

TOPICS = {
    "load": """\
Load a graph from CSV or Parquet files; 'graphtide load --help' lists all there is to say.

  load graph Calls with vertices from 'customers.csv' and edges from 'calls.csv';
  load graph Mail from 'mail.txt' separator ' ' comment '#' has_headers false;
  load graph Grid from 'branch.csv' src 'fbus' dst 'tbus';
  load graph Calls with edges from 'calls.csv' on bad rows quarantine;
  use graph Calls;
""",
    "views": """\
A view is the edges of a graph, or of another view, that satisfy a predicate.

  create view CA-calls on Calls edges where src.state = 'CA' and dst.state = 'CA';
  create or replace view long on CA-calls edges where duration > 10;
""",
    "collections": """\
A collection is many views of one graph, stored as the deltas between them.

  create view collection ages on Calls [young: src.age < 30], [old: src.age >= 60];
  create view collection years on Calls within duration > 5
    for y in 2010..2020 [upto-{y}: year <= y] ordered by tree;
  create view collection given on Calls [year < 2015], [year < 2012] manually_ordered;

Without 'ordered by' the cheaper of chain and tree is taken.
""",
    "groups": """\
A grouped graph has groups of vertices, and one edge for all edges between two groups.

  create view Cities on Calls vertices group by city aggregate count(*), avg(age)
    edges aggregate count(*), sum(duration);
  create view Ages on Calls vertices group by ([young: age < 30], [old: age >= 30], city)
    edges where year = 2019 aggregate count(*) as calls;

Aggregates are count, sum, avg, min and max. The result is a graph like any other.
""",
    "predicates": """\
Compare a property of the edge, of src or of dst with a value or another property.

  create view v on Calls edges where year = 2019 and not (duration <= 10 or src.vip);
  create view v on Calls edges where src.state in ('CA', 'NY') and dst.name like 'A%';
  create view v on Calls edges where day between date '2019-01-01' and date '2019-03-31';
  create view v on Calls edges where src.state <> dst.state and rating is not null;

A missing value compares as in SQL: the result is unknown, and the edge is left out.
""",
    "windows": """\
Windows over a number, a date or a timestamp. From is included, until is not.

  create view collection days on Mail tumbling windows over ts width 1 day;
  create view collection weeks on Mail sliding windows over ts width 7 days step 1 day
    from timestamp '2020-01-01 00:00:00' timezone 'Europe/Berlin';
  create view collection grow on Mail expanding windows over ts width 1 month drop empty;
""",
    "loops": """\
A loop writes a view for each value; 'cross' joins every view of one side with each of the other.

  create view collection years on Calls for y in 2010..2020 [upto-{y}: year <= y];
  create view collection some on Calls for s in ('CA', 'NY') [{s}: src.state = s];
  create view collection both on Calls
    (for y in 2010..2020 [y{y}: year = y]) cross (for d in 1..3 [d{d}: duration >= d]);
""",
    "removals": """\
Views of what is left when something is removed.

  create view collection outages on Grid without each edge;
  create view collection pairs on Grid without each pair of vertices where voltage > 300;
  create view collection airlines on Flights without each value of airline;
  create view collection communities on Papers
    without 2 of ([a: src.field = 'a'], [b: src.field = 'b'], [c: src.field = 'c']);
""",
    "runs": """\
Run a computation on every view of a collection; 'show computations' lists those there are.

  run wcc on years;
  run pagerank(iterations=20, damping=0.85) on years as ranks;
  run bfs(source='LHR') on years verify 10 save results to 'hops';
  run differential shortest_paths(source='LHR') on years;
  run my_program(limit=3) from 'programs.py' on years;
  run wcc on years resume;

Results are kept under a name: 'show runs', 'show run years-WCC', and 'graphtide results'.
""",
    "show": """\
What there is, and one thing by its name.

  show graphs;
  show views;
  show collections;
  show runs;
  show computations;
  show graph Calls;
  show collection years;
  show run years-WCC;
""",
    "explain": """\
What a statement would do: its tree, views, atoms, buckets and the plan of Spark.

  explain create view collection years on Calls for y in 2010..2020 [year <= y];
  explain run wcc on years;
""",
    "refresh": """\
Bring a collection or a view to the state that its graph is in now, after appends.

  refresh collection years;
  refresh view long;
""",
    "live": """\
A live graph changes now, and is on disk after every batch. Files are CSV or Parquet; no Spark.

  create live graph pay with edges from 'payments.csv' keep 7 days by at;
  advance live graph pay insert from 'today.csv' delete from 'cancelled.csv' id 'monday';
  show live graphs;
""",
    "queries": """\
A query on a live graph is kept current until it is dropped. Ids are numbers, or texts in quotes.

  create query trip on live graph flights path from 'LHR' to 'SYD' weight km;
  create query near on live graph flights hops 2 from 'LHR';
  create query tips on live graph people regular 'knows+/likes' from 'ann' label kind;
  show queries;
  show query trip on live graph flights;
  explain query trip on live graph flights;
  drop query trip on live graph flights;
  set budget '2 GB' on live graph flights;
  set landmarks 10 far on live graph flights;
""",
    "programs": """\
A program registered on a live graph is kept current until it is dropped, also after every start.

  create program ranks on live graph pay run page_rank(iterations=10) tolerance 0.01;
  create program rings on live graph pay run rings from 'mine.py';
  show programs;
  show program ranks on live graph pay;
  explain program ranks on live graph pay;
  drop program ranks on live graph pay;
""",
    "delete": """\
Delete by name. A collection outlives its graph, and says on use that the graph is gone.

  delete collection years;
  delete view long;
  delete graph Calls;
  delete run years-WCC;
""",
}


def help_text(topic: str) -> str:
    word = topic.strip().lower()
    if not word:
        return _GENERAL.format(topics=", ".join(TOPICS)).rstrip()
    known = word if word in TOPICS else closest(word, TOPICS)
    if known is None:
        return f"there is no help on '{topic}'; topics: {', '.join(TOPICS)}"
    return TOPICS[known].rstrip()


COMMANDS = ("exit", "help", "quit")
DELIMITERS = " \t\n;,()[]{}=<>!'"
_TERMINAL = re.compile(r"^_?[A-Z_]+\.\d: /(?:\(\?:)?([a-z_]{2,}(?:\|[a-z_]+)*)", re.MULTILINE)
_PLAIN = re.compile(r"\w+(?:[-.]\w+)*")
_BEFORE_GRAPH = re.compile(r"\b(?:on|use\s+graph|(?:show|delete)\s+graph)\s+\S*$", re.IGNORECASE)
_BEFORE_RUN = re.compile(r"\b(?:show|delete)\s+run\s+\S*$", re.IGNORECASE)
_BEFORE_STORED = re.compile(
    r"\b(?:show|delete|refresh|for|on)\s+(?:view|collection|cube)\s+\S*$|^\s*run\b.*\bon\s+\S*$",
    re.IGNORECASE | re.DOTALL,
)


def candidates(line: str, word: str, session: Session) -> list[str]:
    """The sorted completions of the last word of a line."""
    if re.match(r"\s*help\s+\S*$", line):
        known: Sequence[str] = list(TOPICS)
    elif _BEFORE_RUN.search(line):
        known = _names(session.runs)
    elif _BEFORE_STORED.search(line):
        known = _names(session.catalog.collections)
    elif _BEFORE_GRAPH.search(line):
        known = _names(session.graphs) + _names(session.views)
    else:
        stored = _names(session.graphs) + _names(session.catalog.collections)
        first = COMMANDS if line.strip() == word.strip() else ()
        known = [*keywords(), *first, *stored, *_computations(line)]
    return sorted({item for item in known if item.lower().startswith(word.lower())})


@cache
def keywords() -> frozenset[str]:
    """The keywords of the grammar, and the names of the ends of an edge."""
    grammar = files("graphtide.lang.gvdl").joinpath("grammar.lark").read_text(encoding="utf-8")
    spelled = _TERMINAL.findall(grammar)
    return frozenset(word for words in spelled for word in words.split("|")) | {"src", "dst"}


def _computations(line: str) -> list[str]:
    if not re.match(r"\s*(?:explain\s+)?run\s+(?:\w+\s+)*\S*$", line, re.IGNORECASE):
        return []
    from graphtide.run.statements.computations import PAIRS, library

    return [*library(), *PAIRS]


def _names(list_them: Callable[[], list[str]]) -> list[str]:
    """Names as GVDL writes them: in backticks unless they are plain words."""
    try:
        return [name if _PLAIN.fullmatch(name) else f"`{name}`" for name in list_them()]
    except (GraphtideError, OSError):
        return []


_KEPT_LINES = 2000

Candidates = Callable[[str, str], list[str]]
"""From the line up to the cursor, and its last word, to what that word may become."""


@contextmanager
def line_editing(candidates: Candidates) -> Iterator[None]:
    """Edit, remember and complete the lines that `input` reads within the block."""
    readline = _readline()
    if readline is None:
        yield
        return
    history = history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(_KEPT_LINES)
    _complete_with(readline, candidates)
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)


def history_file() -> Path:
    """The file of lines typed earlier."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "graphtide" / "history"


def _complete_with(readline: ModuleType, candidates: Candidates) -> None:
    completions: list[str] = []

    def complete(word: str, state: int) -> str | None:
        if state == 0:
            completions[:] = candidates(readline.get_line_buffer()[: readline.get_endidx()], word)
        return completions[state] + _end(completions) if state < len(completions) else None

    readline.set_completer(complete)
    readline.set_completer_delims(DELIMITERS)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")


def _end(found: list[str]) -> str:
    """A blank behind the only completion, since the word is complete."""
    return " " if len(found) == 1 else ""


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    return readline


ReadLine = Callable[[str], str]
"""Shows a prompt and returns a line without its end; EOFError when there are no more."""

_PROMPT, _MORE = "graphtide> ", "      ...> "


@dataclass(frozen=True, kw_only=True)
class ShellOptions(GlobalOptions):
    """Nothing but what every command can be told."""


def shell(invocation: Invocation, options: ShellOptions) -> None:
    """Type statements of GVDL and see what they answer. 'help' helps, 'quit' leaves."""
    interactive = sys.stdin.isatty()
    if interactive and not invocation.options.quiet and not invocation.options.json:
        print(visible(f"Graphtide {__version__}, data in {invocation.options.folder}"))
        print("Statements end with ';'. 'help' helps, 'quit' leaves.")
    session = invocation.session
    loop = Shell(invocation, _typed_line if interactive else _piped_line, interactive)
    editing = line_editing(lambda line, word: candidates(line, word, session))
    with editing if interactive else nullcontext():
        loop.run()
    if loop.failures and not interactive:
        raise typer.Exit(FAILURE)


@dataclass
class Shell:
    """The loop. `text` is what has been typed of a statement that is not complete."""

    invocation: Invocation
    read_line: ReadLine
    interactive: bool
    text: str = ""
    failures: int = field(default=0, init=False)

    def run(self) -> None:
        """Read and carry out until there is nothing more to read or the user leaves."""
        while True:
            try:
                line = self.read_line(_MORE if self.text else _PROMPT)
                if not self.text and self._leaves(line):
                    return
                self._take(line)
            except EOFError:
                self._end()
                return
            except KeyboardInterrupt as stop:
                self._drop(stop)

    def _leaves(self, line: str) -> bool:
        return _words(line) in (["quit"], ["exit"])

    def _take(self, line: str) -> None:
        words = _words(line)
        if not self.text and words[:1] == ["help"]:
            print(help_text(" ".join(words[1:])))
            return
        complete, rest = split_statements(self.text + line + "\n")
        self.text = "" if is_blank(rest) else rest
        if not is_blank(complete):
            self._carry_out(complete)

    def _carry_out(self, text: str) -> None:
        """Carry out statements; print errors and go on."""
        from graphtide.run.statements.execute import execute

        try:
            for answer in execute(self.invocation.session, text):
                self.invocation.printer.answer(answer)
        except BrokenPipeError:
            raise
        except Exception as error:
            self.failures += 1
            report(self.invocation, error)

    def _end(self) -> None:
        """Carry out the last statement of a pipe, which needs no semicolon."""
        if self.interactive:
            print()
        elif self.text:
            self._carry_out(self.text)

    def _drop(self, stop: KeyboardInterrupt) -> None:
        """Drop what has been typed. A pipe ends, since nobody is there to go on."""
        self.text = ""
        if not self.interactive:
            raise stop
        print()
        self.invocation.printer.interrupted(stop)


def _words(line: str) -> list[str]:
    return line.strip().rstrip(";").lower().split()


def _typed_line(prompt: str) -> str:
    return input(prompt)


def _piped_line(prompt: str) -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.removesuffix("\n")
