"""Disks that a power cut may leave: `python -m tests.failures.power --cuts 1000 --seed 7`.

All calls on the files of a live graph are noted while it takes random acts. Then the power fails
behind some call. Of the bytes that were written to a file and not synced, any sectors may be there;
of the names that were made, changed and removed in a folder that was not synced, the first so many.
Whatever disk that makes, it opens to the state after the last act that was done, or to one that the
act under way may have come to.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import graphtide as gt
from graphtide.model import disk
from graphtide.model.errors import InputError, UnusableError
from graphtide.run.durable import live_store
from tests.failures.calls import SECTOR, hooked
from tests.failures.campaigns import command
from tests.failures.kills import (
    START,
    State,
    begin,
    carry_out,
    found_state,
    random_acts,
    warm_up,
)

ACTS = 8
"""How many acts a graph has before it, if the power does not fail."""


@dataclass
class File:
    """What of a file is on the disk for good, and what was done to it since."""

    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)
    """A place with the bytes that were written there; None where the rest was cut off."""

    def after_cut(self, pick: random.Random) -> bytes:
        """What may be there: in order, but any sector of any write may be missing."""
        data = bytearray(self.synced)
        for at, written in self.since:
            if written is None:
                if pick.random() < 0.5:
                    del data[at:]
                continue
            while written:
                piece = SECTOR - at % SECTOR
                if pick.random() < 0.5:
                    data.extend(bytes(max(0, at - len(data))))
                    data[at : at + len(written[:piece])] = written[:piece]
                at, written = at + piece, written[piece:]
        return bytes(data)

    def all(self) -> bytes:
        """What a process reads."""
        data = bytearray(self.synced)
        for at, written in self.since:
            if written is None:
                del data[at:]
            else:
                data.extend(bytes(max(0, at - len(data))))
                data[at : at + len(written)] = written
        return bytes(data)


@dataclass
class Folder:
    """The names in a folder that are there for good, and how they changed since."""

    synced: dict[str, Any] = field(default_factory=dict)
    since: list[dict[str, Any]] = field(default_factory=list)

    def now(self) -> dict[str, Any]:
        """The names that a process sees."""
        return self.since[-1] if self.since else self.synced

    def change(self, names: dict[str, Any]) -> None:
        """Have other names, once they are synced."""
        self.since.append(names)

    def after_cut(self, pick: random.Random) -> dict[str, Any]:
        """The names that may be there."""
        return pick.choice([self.synced, *self.since])


class Disk:
    """A hook that notes what calls do to the folder of a graph, as a disk would."""

    def __init__(self, root: Path) -> None:
        self._path, self.root = root, Folder()
        self._opened: dict[int, Any] = {}
        """Files and folders by the numbers that the system knows them by."""

    def __call__(self, call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if call.operation == "sync" and not call.path.is_relative_to(self._path):
            return None
        what = call.operation
        written = bytes(call.given[1]) if what == "write" else b""
        made = None if what == "sync" else make()
        if not call.path.is_relative_to(self._path) or call.path == self._path.parent:
            return made
        getattr(self, f"_{what}", lambda *_: None)(call, made, written)
        return made

    def _find(self, path: Path) -> Any:
        found: Any = self.root
        for part in path.relative_to(self._path).parts:
            found = found.now()[part]
        return found

    def _put(self, path: Path, item: Any) -> None:
        folder = self._find(path.parent)
        names = {name: held for name, held in folder.now().items() if name != path.name}
        folder.change(names if item is None else {**names, path.name: item})

    def _create(self, call: disk.SystemCall, descriptor: int, _: bytes) -> None:
        self._put(call.path, File())
        self._opened[os.fstat(descriptor).st_ino] = self._find(call.path)

    def _open(self, call: disk.SystemCall, descriptor: int, _: bytes) -> None:
        status = os.fstat(descriptor)
        if call.path.name == "LOCK" and "LOCK" not in self._find(call.path.parent).now():
            self._put(call.path, File())
        self._opened[status.st_ino] = self._find(call.path)

    def _mkdir(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        if call.path != self._path:
            self._put(call.path, Folder())

    def _write(self, call: disk.SystemCall, size: int, written: bytes) -> None:
        file = self._opened[os.fstat(call.given[0]).st_ino]
        file.since.append((call.given[2], written[:size]))

    def _truncate(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        file = self._opened[os.fstat(call.given[0]).st_ino]
        file.since.append((call.given[1], None))

    def _sync(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        item = self._opened[os.fstat(call.given[0]).st_ino]
        if isinstance(item, Folder):
            item.synced, item.since = item.now(), []
        else:
            item.synced, item.since = item.all(), []

    def _rename(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        source, target = call.given
        item, folder = self._find(source), self._find(source.parent)
        names = {name: held for name, held in folder.now().items() if name != source.name}
        folder.change({**names, target.name: item})

    def _link(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        source, target = call.given
        self._put(target, self._find(source))

    def _remove(self, call: disk.SystemCall, made: Any, _: bytes) -> None:
        self._put(call.path, None)

    _rmdir = _rmtree = _remove

    def after_cut(self, folder: Path, pick: random.Random) -> None:
        """Make the folder as a power cut may leave it."""
        folder.mkdir()
        _make(folder, self.root, pick)


def _make(path: Path, item: Folder, pick: random.Random) -> None:
    for name, held in item.after_cut(pick).items():
        if isinstance(held, File):
            (path / name).write_bytes(held.after_cut(pick))
        else:
            (path / name).mkdir()
            _make(path / name, held, pick)


class PowerCutError(BaseException):
    """The power fails."""


def cut(folder: Path, pick: random.Random) -> None:
    """Let a graph live until the power fails, and look at what is left."""
    root = folder / "graph"
    noted, left = Disk(root), int(2 ** pick.uniform(5, 10))

    def until_cut(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        nonlocal left
        left -= 1
        if left < 0 and begun:
            raise PowerCutError
        return noted(call, make)

    state, allowed, begun = State(START), [State(START)], False
    graph = None
    with hooked(until_cut):
        try:
            begin(folder)
            begun = True
            graph = gt.live(root)
            for _ in range(ACTS):
                ((act, states),) = random_acts(pick, state, 1)
                allowed = [state, *states]
                try:
                    carry_out(graph, act)
                    state = states[-1]
                except InputError:  # A checkpoint by itself has come before a rollback.
                    state = replace(state, undo=())
                allowed = [state]
        except PowerCutError:
            pass
        except UnusableError:  # What was to be closed behind it found the graph stopped.
            assert left < 0
    if graph is not None:
        with hooked(lambda call, make: None if call.operation == "sync" else make()):
            graph.close()
    for number in range(3):
        left_over = folder / f"cut-{number}"
        left_over.mkdir()
        noted.after_cut(left_over / "graph", pick)
        for readonly in (True, False):
            with gt.live(left_over / "graph", readonly=readonly) as again:
                if not readonly:  # What readers are told is noted without a sync.
                    found_state(again, allowed)
                    if number == 0:
                        again.checkpoint()


def campaign(cuts: int, seed: int, minutes: float = 1e9) -> str:
    """Let the power fail so often; raises what the first wrong disk shows."""
    warm_up()
    live_store.LOG_BYTES = 3000
    began, done = time.monotonic(), 0
    while done < cuts and time.monotonic() - began < 60 * minutes:
        folder = Path(tempfile.mkdtemp(prefix="power-"))
        try:
            cut(folder, random.Random(f"{seed}:{done}"))
        except Exception as error:
            raise AssertionError(f"seed {seed}, cut {done} in {folder}: {error}") from error
        done += 1
        shutil.rmtree(folder)
    return f"{done:,} power cuts, {3 * done:,} disks,"


def main() -> None:
    """The command."""
    command(__doc__, "cuts", campaign)


if __name__ == "__main__":
    main()
