"""The parts of a run, with those that are on their way to become its own.

A run that is done in pieces, some results of all steps at a time, has parts of each piece in
`parts/pieces-N/piece-000000` until they become its own. One whose plan is cut has attempts in
`parts/sub-plans/000000-ID`, one for everybody who ever began with a sub-plan: several may do so at
once, none of them changes what another one wrote, and what all of them left is swept in the end.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import disk_errors, sync_path
from graphtide.model.errors import GraphtideError
from graphtide.store.files import Damage
from graphtide.store.generation import read_manifest
from graphtide.store.part_chain import (
    BEHIND,
    KEPT,
    LAST,
    NONE,
    PARTIAL,
    PartChain,
    read_last,
    start_parts,
)
from graphtide.store.parts import Parts

_PIECES, _SUB_PLANS, _STOP = "pieces", "sub-plans", "STOP"


class PartsOnDisk(PartChain):
    """The parts of a run, and its pieces and attempts."""

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece, in folders of their own: as many as were begun, if any.

        One piece that nobody has begun is the whole.
        """
        begun = [path for path in self._folder.glob(f"{_PIECES}-*") if path.suffix != PARTIAL]
        if not begun and wanted == 1:
            return [self]
        folder = begun[0] if begun else self._begin_pieces(wanted)
        count = int(folder.name.rpartition("-")[2])
        return [PartsOnDisk(self._run, folder / _piece_name(at)) for at in range(count)]

    def end_pieces(self) -> None:
        """Remove the pieces from the disk."""
        for folder in self._folder.glob(f"{_PIECES}-*"):
            disk.remove_tree(folder)

    def attempt(self, number: int) -> PartsOnDisk:
        """A new attempt at a sub-plan in a folder of its own, with links to what there was."""
        folder = self._folder / _SUB_PLANS / f"{number:06d}-{uuid.uuid4().hex}"
        before = self.furthest_attempt(number)
        with disk_errors(f"the results of {self._run.what}", folder, KEPT):
            start_parts(folder)
        made = PartsOnDisk(self._run, folder)
        if before is not None:
            for part in range(len(before)):
                made.take_over(before, part)
        return made

    def furthest_attempt(self, number: int) -> PartsOnDisk | None:
        """The attempt at a sub-plan that has the most parts, if there is a whole one."""
        attempts = []
        for folder in sorted((self._folder / _SUB_PLANS).glob(f"{number:06d}-*")):
            # Whatever is wrong with an attempt, its steps can be made again.
            with contextlib.suppress(GraphtideError):
                attempt = PartsOnDisk(self._run, folder)
                attempts.append((len(attempt.generations), folder.name, attempt))
        return max(attempts)[2] if attempts else None

    def named_attempt(self, name: str) -> PartsOnDisk:
        """An attempt by the name of its folder."""
        return PartsOnDisk(self._run, self._folder / _SUB_PLANS / name)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._folder.name

    def attempted(self) -> dict[int, int]:
        """The first step behind the furthest attempt at each sub-plan. Reads a manifest each."""
        furthest: dict[int, int] = {}
        for last in (self._folder / _SUB_PLANS).glob(f"*/{LAST}"):
            last_part = read_last(last)
            if isinstance(last_part, Damage) or last_part == NONE:
                continue
            read = read_manifest(last.parent / last_part.name, last_part.checksum)
            if not isinstance(read, Damage):
                number = int(last.parent.name.partition("-")[0])
                furthest[number] = max(furthest.get(number, 0), int(read[0][BEHIND]))
        return furthest

    def stop_attempts(self) -> None:
        """Ask everybody who is at an attempt to end it; what is finished is kept."""
        with contextlib.suppress(OSError):
            disk.touch(self._folder / _SUB_PLANS / _STOP)

    def attempts_stopped(self) -> bool:
        """True where attempts are to end, or have been swept: nobody wants what is made of them."""
        folder = self._folder / _SUB_PLANS
        return not folder.exists() or (folder / _STOP).exists()

    def begin_attempts(self) -> None:
        """Let attempts begin, and those go on that were stopped."""
        folder = self._folder / _SUB_PLANS
        disk.make_folder(folder, there=True)
        disk.remove(folder / _STOP)

    def end_attempts(self) -> None:
        """Remove all attempts from the disk."""
        disk.remove_tree(self._folder / _SUB_PLANS)

    def _begin_pieces(self, count: int) -> Path:
        """Folders for so many pieces, all there or none."""
        folder = self._folder / f"{_PIECES}-{count}"
        partial = folder.with_name(folder.name + PARTIAL)
        with disk_errors(f"the results of {self._run.what}", partial, KEPT):
            disk.remove_tree(partial)
            for number in range(count):
                start_parts(partial / _piece_name(number))
            disk.rename(partial, folder)
            sync_path(self._folder)
        return folder


def _piece_name(number: int) -> str:
    return f"piece-{number:06d}"
