"""Live graphs whose system calls fail, in a process that goes on.

`python -m tests.failures.calls --failures 5000 --seed 7`

A writer takes the random acts of `tests.failures.kills`, opening and closing included. In most of
them a call on files of the store fails: any call, before its effect or behind it, once, a few times
or until the act ends. The act may raise an error of ours, and then it is not done; nothing else may
leave it. After each act the graph in memory is in a state that plain Python allows, a reader finds
the same state on the disk, and the process goes on. What the consumer was told adds up.

Nothing waits for a disk, so the campaign is best run in a folder in memory (TMPDIR=/dev/shm). A
seed repeats a failure.
"""

from __future__ import annotations

import errno
import os
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import graphtide as gt
from graphtide.model import disk
from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.durable import live_store
from graphtide.store import generation
from tests.failures.campaigns import command, try_lives
from tests.failures.kills import (
    START,
    VERTICES,
    State,
    begin,
    carry_out,
    check_told,
    found_state,
    random_acts,
    warm_up,
)

ACTS = 12
"""How many acts one graph lives through before another one is begun."""
ERRORS = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ENOMEM, errno.EACCES, errno.EDQUOT)
FOR_EVER = 1 << 30
SECTOR = 512
"""What lies within one sector is written whole or not at all."""


class FailingCalls:
    """Lets calls fail from a number on, `times` of them; no call waits for a disk."""

    def __init__(self, pick: random.Random, last: int) -> None:
        self._pick = pick
        self.first = int(2 ** pick.uniform(0, last.bit_length()))
        self.times = pick.choice([1, 1, 1, 1, 2, 3, FOR_EVER])
        self.error = pick.choice(ERRORS)
        self.behind = pick.random() < 0.5
        self.calls = 0
        self.failed: list[disk.SystemCall] = []

    def __call__(self, call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if call.operation == "sync":
            make = int
        self.calls += 1
        if not self.first <= self.calls < self.first + self.times:
            return make()
        self.failed.append(call._replace(given=()))
        self._have_effect(call, make)
        raise OSError(self.error, os.strerror(self.error), str(call.path))

    def _have_effect(self, call: disk.SystemCall, make: Callable[[], Any]) -> None:
        """What a call that fails may have done: nothing, all, or a part of what it was to write."""
        if call.operation == "close":
            make()  # The system lets go of it in any case.
        elif self.behind and call.operation in ("open", "create"):
            os.close(make())
        elif self.behind and call.operation == "write":
            descriptor, data, at = call.given
            whole = (at + self._pick.randrange(len(data))) // SECTOR * SECTOR
            os.pwrite(descriptor, data[: max(0, whole - at)], at)
        elif self.behind and call.operation != "lock":
            make()

    def __str__(self) -> str:
        shown = ", ".join(f"{call.operation} {call.path.name}" for call in self.failed[:4])
        return (
            f"{os.strerror(self.error)} from call {self.first} on, {self.times} times, "
            f"{'behind' if self.behind else 'before'} its effect: {shown}"
        )


@contextmanager
def hooked(hook: disk.Hook | None) -> Iterator[None]:
    """Let a hook see all calls on files of stores."""
    disk.hook, before = hook, disk.hook
    try:
        yield
    finally:
        disk.hook = before


def unsynced(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
    """A hook that lets nothing wait for a disk."""
    return None if call.operation == "sync" else make()


def try_while_calls_fail(
    act: Callable[[], Any], pick: random.Random, longest: int, story: list[str], told: str
) -> tuple[FailingCalls, GraphtideError | None]:
    """Do something while calls fail, of one in seven none; the error of ours that left it."""
    failing, raised = FailingCalls(pick, longest), None
    hook = failing if pick.random() < 0.85 else unsynced
    with hooked(hook), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            act()
        except GraphtideError as error:
            raised = error
    story.append(f"{told}: {failing}" if failing.failed else told)
    story += [f"    raised {raised.what}"] if raised else []
    for item in warned:
        assert issubclass(item.category, RuntimeWarning), item
        story.append(f"    warned {item.message}")
    return failing, raised


class Life:
    """One graph, from its beginning to its end, and what it must be."""

    def __init__(self, folder: Path, pick: random.Random) -> None:
        self.folder, self.pick = folder, pick
        self.state = State(START)
        self.failures = 0
        self.story: list[str] = []
        self._longest = 64
        self._log_failed = False
        """Whether a write to the log failed in the last act."""
        self._not_cut_off = False
        """Whether what the last act wrote to the log may not have been cut off."""
        self._doubtful: list[State] = []
        self._unnoted: list[State] = []
        """The states since the last one that readers must know of."""
        self.graph: gt.LiveGraph

    def live(self) -> None:
        """Begin, act, close, open and act again."""
        self._begin()
        self.graph = self._opened()
        for number in range(ACTS):
            if number and self.pick.random() < 0.15:
                self._close()
                self.graph = self._opened()
            ((act, states),) = random_acts(self.pick, self.state, 1)
            raised = self._tried(str(act), lambda: carry_out(self.graph, act))  # noqa: B023
            before = self.state
            self._settle(self._allowed(act["kind"], states, raised), raised)
            if self.state.seen() != before.seen() or raised is None:
                self._doubtful = []
            if raised is not None and self._not_cut_off:
                self._doubtful += states
        self._close()
        for readonly in (False, True):
            with gt.live(self.folder / "graph", readonly=readonly) as graph:
                self._find_doubtful(graph)
                if not readonly:
                    check_told(graph, self.folder, self.state)

    def _find_doubtful(self, graph: gt.LiveGraph) -> None:
        """What was refused and could not be cut off may be there after a start."""
        self.state = replace(found_state(graph, [self.state, *self._doubtful]), undo=())
        self._doubtful = []

    def _allowed(self, kind: str, states: list[State], raised: Exception | None) -> list[State]:
        if raised is None:
            return states[-1:]
        if kind == "rollback" and isinstance(raised, InputError):
            return [replace(self.state, undo=())]  # A checkpoint by itself has come between.
        before = [self.state]
        if kind in ("checkpoint", "compact"):
            before = [replace(self.state, undo=())]
        told = getattr(raised, "where", None) or ""
        if "/consumers" in told or "/out" in told:
            return states[-1:]  # What a consumer raises leaves the advance done.
        return before + (states if kind == "advance_all" else [])

    def _settle(self, allowed: list[State], raised: Exception | None) -> None:
        """Memory and disk are the same, and in a state that is allowed.

        Where the writer could not note that somebody has been told, a reader finds less.
        """
        before = self.state
        undo = {item.seen()[1]: item.undo for item in allowed}
        self.state = found_state(self.graph, allowed)
        self.state = replace(self.state, undo=undo[self.state.version])
        with gt.live(self.folder / "graph", readonly=True) as reader:
            self._unnoted += [before, *allowed] if self._unnoted or self._log_failed else []
            seen = found_state(reader, [self.state, *self._unnoted]).seen()
            if seen == self.state.seen() and raised is None and not self._log_failed:
                self._unnoted = []  # What only an unfinished log told, the next act may remove.
        check_told(self.graph, self.folder, self.state)

    def _tried(self, told: str, act: Callable[[], Any]) -> Exception | None:
        """Do something while calls fail; the error of ours that left it."""
        failing, raised = try_while_calls_fail(act, self.pick, self._longest, self.story, told)
        self._longest = max(self._longest, failing.calls)
        self.failures += bool(failing.failed)
        failed = {(call.operation, call.path.parent.name) for call in failing.failed}
        self._log_failed = ("write", "log") in failed
        self._not_cut_off = bool(failed & {("truncate", "log"), ("sync", "log")})
        if raised is not None and not failing.failed:
            assert "no advance to roll back" in raised.what, raised
        return raised

    def _begin(self) -> None:
        self._until_done("begin", self._begin_again)

    def _begin_again(self) -> None:
        if not (self.folder / "graph" / "log").exists():
            begin(self.folder)
            return
        with gt.live(self.folder / "graph") as graph:
            if "near" not in graph.queries:
                graph.query("near", gt.queries.Hops(0, VERTICES))
            self._deliver(graph)

    def _until_done(self, told: str, act: Callable[[], Any]) -> None:
        """Do something that has to be done, at last without failures."""
        for _ in range(2):
            if self._tried(told, act) is None:
                return
        self.story.append(told)
        act()

    def _opened(self) -> gt.LiveGraph:
        opened: list[gt.LiveGraph] = []
        self._until_done("open", lambda: opened.append(gt.live(self.folder / "graph")))
        self._find_doubtful(opened[0])
        self._until_done("deliver", lambda: self._deliver(opened[0]))
        return opened[0]

    def _deliver(self, graph: gt.LiveGraph) -> None:
        graph.deliver("near", self.folder / "out", consumer="files")

    def _close(self) -> None:
        self._until_done("close", self.graph.close)


def campaign(failures: int, seed: int, minutes: float = 1e9) -> str:
    """Let so many acts meet calls that fail; raises what the first wrong one shows."""
    warm_up()
    live_store.LOG_BYTES = 3000  # So that checkpoints come by themselves, too.
    generation._PATIENCE = 1
    with hooked(unsynced):
        done, lives = try_lives("calls", Life, failures, seed, minutes)
    return f"{done:,} acts in {lives:,} graphs met a failing call"


def main() -> None:
    """The command."""
    command(__doc__, "failures", campaign)


if __name__ == "__main__":
    main()
