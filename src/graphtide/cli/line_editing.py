"""Line editing, history and completion by the standard readline, where there is one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from graphtide.cli.completion import DELIMITERS

_KEPT_LINES = 2000

Candidates = Callable[[str, str], list[str]]
"""From the line up to the cursor, and its last word, to what that word may become."""


@contextmanager
def line_editing(candidates: Candidates) -> Iterator[None]:
    """Edit, remember and complete lines that `input` reads within the block."""
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
    """Where the lines of earlier shells are kept."""
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
    """A blank behind the only candidate: the word is complete."""
    return " " if len(found) == 1 else ""


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    return readline
