"""Live graphs that somebody interrupts at any line: `python -m tests.failures.signals --seed 7`.

A writer takes the random acts of `tests.failures.kills`. In most of them an interrupt from the
keyboard comes at a line that the seed names, of any function of the product but its kernels. After
each act the graph in memory is where it was before the act or behind it, a reader finds the same on
the disk, and the process goes on. A seed repeats a failure.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import GraphtideError, InputError
from tests.failures.calls import hooked, unsynced
from tests.failures.campaigns import command, try_lives
from tests.failures.kills import (
    START,
    State,
    begin,
    carry_out,
    check_told,
    found_state,
    random_acts,
    warm_up,
)

ACTS = 10
"""How many acts one graph lives through before another one is begun."""
PLACES = tuple(f"/graphtide/{name}/" for name in ("api", "model", "run", "store", "engine"))


class Interrupt:
    """Raises a signal at a line of the product; counts them."""

    def __init__(self, line: int) -> None:
        self.line, self.lines = line, 0

    def __call__(self, frame: FrameType, event: str, given: Any) -> Any:
        place = frame.f_code.co_filename
        if any(name in place for name in PLACES):
            return self._at_line
        return None

    def _at_line(self, frame: FrameType, event: str, given: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.line:
                signal.raise_signal(signal.SIGINT)
        return self._at_line


def interrupted(act: Callable[[], Any], line: int) -> tuple[BaseException | None, int]:
    """Do something, and interrupt it at a line; what left it, and how many lines there were."""
    interrupt = Interrupt(line)
    sys.settrace(interrupt)
    try:
        act()
    except (KeyboardInterrupt, GraphtideError) as error:
        return error, interrupt.lines
    finally:
        sys.settrace(None)
    return None, interrupt.lines


class Life:
    """One graph, from its beginning to its end, and what it must be."""

    def __init__(self, folder: Path, pick: random.Random) -> None:
        self.folder, self.pick = folder, pick
        self.state = State(START)
        self.failures = 0
        self.story: list[str] = []
        self.graph: gt.LiveGraph

    def live(self) -> None:
        """Begin, act and be interrupted, open again."""
        begin(self.folder)
        self._open()
        for _ in range(ACTS):
            if self.pick.random() < 0.15:
                self.graph.close()
                self._open()
            ((act, states),) = random_acts(self.pick, self.state, 1)
            line = int(2 ** self.pick.uniform(0, 13))
            raised, lines = interrupted(lambda: carry_out(self.graph, act), line)  # noqa: B023
            told = "interrupted" if lines >= line else "not interrupted"
            self.story.append(f"{act}: {told} at line {line}, raised {raised!r}")
            self.failures += lines >= line
            self._settle(act["kind"], states, raised)
        self.graph.close()
        self._open()
        self.graph.close()

    def _open(self) -> None:
        """Open the graph, which an interrupt may stop: then it can be opened again."""
        opened: list[gt.LiveGraph] = []
        line = int(2 ** self.pick.uniform(0, 13))
        while not opened:
            raised, lines = interrupted(
                lambda: opened.append(gt.live(self.folder / "graph")),
                line,
            )
            self.story.append(f"open: at line {line}, raised {raised!r}")
            assert raised is None or isinstance(raised, KeyboardInterrupt), raised
            self.failures += lines >= line
            del raised  # What was interrupted holds the lock as long as somebody holds its frames.
            gc.collect()
            line = 0
        self.graph = opened[-1]
        self.state = replace(found_state(self.graph, [self.state]), undo=())
        check_told(self.graph, self.folder, self.state)

    def _settle(self, kind: str, states: list[State], raised: BaseException | None) -> None:
        allowed = [states[-1]] if raised is None else [*reversed(states), self.state]
        if isinstance(raised, InputError):
            assert "no advance to roll back" in raised.what, raised
            allowed = [replace(self.state, undo=())]
        elif raised is not None:
            assert isinstance(raised, KeyboardInterrupt), raised
        self._register_what_could_not_begin()
        self.state = found_state(self.graph, allowed)
        if kind in ("checkpoint", "compact"):
            self.state = replace(self.state, undo=())
        stored = self.graph._state.settings
        assert stored.get("budget") == self.graph.budget, (stored, self.graph.budget)
        with gt.live(self.folder / "graph", readonly=True) as reader:
            found_state(reader, [self.state])
            assert reader.budget == self.graph.budget
        check_told(self.graph, self.folder, self.state)

    def _register_what_could_not_begin(self) -> None:
        """A program that was interrupted while it began anew says so."""
        for name in self.graph.registered():
            try:
                self.graph.program(name).table()
            except GraphtideError as error:
                assert "could not begin anew" in str(error)  # noqa: PT017 (it need not be raised)
                self.graph.unregister(name)
                self.graph.register(name, WCC)


def campaign(interrupts: int, seed: int, minutes: float = 1e9) -> str:
    """Interrupt so many acts. Raises the first wrong one."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm_up()
    with hooked(unsynced):
        done, lives = try_lives("signals", Life, interrupts, seed, minutes)
    return f"{done:,} interrupts in {lives:,} graphs"


def main() -> None:
    """The command."""
    command(__doc__, "interrupts", campaign)


if __name__ == "__main__":
    main()
