"""`graphtide shell`: read statements, carry them out, print what they answer, go on.

Lines gather until a statement is complete. An error is shown where it happened and the shell goes
on; Ctrl-C drops what has been typed, or stops the statement that runs. Without a terminal it
prints no prompt, and ends with 1 if a statement failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

import typer

from graphtide.cli.completion import candidates
from graphtide.cli.help_texts import help_text
from graphtide.cli.invocation import Invocation
from graphtide.cli.line_editing import line_editing
from graphtide.cli.options import GlobalOptions
from graphtide.cli.outcome import FAILURE, report
from graphtide.cli.statement_reader import is_blank, split_statements
from graphtide.model.cells import visible
from graphtide.version import __version__

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
        """Carry out statements; say what goes wrong, and go on."""
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
        """The last statement of a pipe needs no semicolon; one half typed is given up."""
        if self.interactive:
            print()
        elif self.text:
            self._carry_out(self.text)

    def _drop(self, stop: KeyboardInterrupt) -> None:
        """Ctrl-C: forget what has been typed. Nobody is there to go on with a pipe."""
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
