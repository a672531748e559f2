"""The finished steps of a run, part by part: in memory, or in a folder one behind the other.

A part is written beside, renamed into place, and counts when LAST names it: a process killed at
any moment loses the steps since the last part and nothing else. A part has a manifest of its own,
which names the checksum of the one before it, and the first part that of the run; so LAST vouches
for all parts, and none of them can be lost, exchanged or changed unnoticed.

A part that several tasks made together has several files for each field. The first part has the
results of the empty version as well.

A run whose plan is cut has an attempt for each sub-plan: parts beside its own, with the steps of
the sub-plan that a worker has finished, in `parts/sub-plans/000000-ID`. They become parts of the
run one after the other, in its order. A run that is done in pieces, some results of all steps at a
time, has parts of each piece in `parts/pieces-N/piece-000000` until they become its own.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from graphtide.model import disk
from graphtide.model.disk import checksums_by_threads, disk_errors, sync_path, sync_tree
from graphtide.model.errors import GraphtideError, InputError
from graphtide.store import files as pointers
from graphtide.store.files import (
    READ_VERTICES,
    Damage,
    FileFacts,
    Pointer,
    inventory_from,
    read_pointer,
    write_table,
)
from graphtide.store.generation import MANIFEST, Generation, Manifest, read_manifest, write_manifest


class SuperstepSpan(NamedTuple):
    """Some supersteps in a row of one task, from which on, and what they took.

    `began` is counted from the beginning of the view. All times are in microseconds.
    """

    superstep: int
    supersteps: int
    began: int
    computed: int
    waited: int
    transferred: int


class PartMaker(NamedTuple):
    """Who made a part, and from when to when (seconds of the epoch), in how much processor time.

    `sub_plan` is the number of the one that its steps belong to; `spans` are what supersteps took,
    `sent` how many bytes of states went to other tasks.
    """

    worker: str
    sub_plan: int
    began: float
    ended: float
    processor: float
    spans: Sequence[SuperstepSpan] = ()
    sent: int = 0


@dataclass(frozen=True)
class Part:
    """Finished steps: their record, the differences of each field, and who made them."""

    record: pa.Table
    differences: Mapping[str, pa.Table]
    made: PartMaker | None = None


class FinishedParts(Protocol):
    """Finished steps, part by part."""

    def __len__(self) -> int: ...

    def append(self, part: Part) -> None:
        """Keep a part for good."""

    def record(self) -> pa.Table | None:
        """The records of all finished steps; None where there are none."""

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""

    def made(self, part: int) -> tuple[PartMaker, ...]:
        """The workers that made a part: none if unknown, several if they shared it."""


class Parts(FinishedParts, Protocol):
    """The finished steps of a run, with its pieces and attempts."""

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece of a run done in pieces: `wanted`, or as many as were begun."""

    def end_pieces(self) -> None:
        """Drop the pieces, after they became parts."""

    def attempt(self, number: int) -> Parts:
        """A new attempt at a sub-plan, which begins with the parts of the furthest earlier one."""

    def take_over(self, attempt: FinishedParts, part: int) -> None:
        """Make a part of an attempt the next part of the run."""

    def end_attempts(self) -> None:
        """Drop all attempts, after they became parts."""


class PartsInMemory:
    """Parts that last as long as the process."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._pieces: list[PartsInMemory] = []
        self._attempts: dict[int, PartsInMemory] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def append(self, part: Part) -> None:
        self._parts.append(part)

    def record(self) -> pa.Table | None:
        return pa.concat_tables([part.record for part in self._parts]) if self._parts else None

    def first_step(self, part: int) -> int:
        return int(self._parts[part].record.column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        return self._parts[part].differences[field]

    def made(self, part: int) -> tuple[PartMaker, ...]:
        made = self._parts[part].made
        return () if made is None else (made,)

    def pieces(self, wanted: int) -> Sequence[Parts]:
        self._pieces = self._pieces or [PartsInMemory() for _ in range(wanted)]
        return self._pieces

    def end_pieces(self) -> None:
        self._pieces = []

    def attempt(self, number: int) -> PartsInMemory:
        return self._attempts.setdefault(number, type(self)())

    def take_over(self, attempt: FinishedParts, part: int) -> None:
        assert isinstance(attempt, PartsInMemory)
        self._parts.append(attempt._parts[part])

    def end_attempts(self) -> None:
        self._attempts = {}


class RecordOnly(PartsInMemory):
    """The records of finished steps, and none of their results."""

    def append(self, part: Part) -> None:
        super().append(Part(part.record, {}, part.made))

    def differences(self, part: int, field: str) -> pa.Table:
        raise InputError(
            "the results of this run were not kept",
            hint="its record is there; run it again with results to read them",
        )


PARTS, PARTIAL = "parts", ".partial"
BEHIND = "behind"
_RECORD, _MADE = "record.parquet", "made"
TOLD = "told"
_PIECES, _SUB_PLANS, _STOP = "pieces", "sub-plans", "STOP"
LAST, NONE = "LAST", Pointer("none", "00000000")
Written = Sequence[tuple[Path, FileFacts]]
"""Files that tasks have written."""

KEPT = "make room; what is finished is kept, and the run can be resumed"


class PartsOnDisk:
    """Parts in a folder, those of earlier writers and our own; with pieces and attempts in it.

    Several workers may try a sub-plan at once, each in a folder of its own.
    """

    def __init__(self, run: Generation, piece: Path | None = None) -> None:
        self._run = run
        self._folder = run.path / PARTS if piece is None else piece
        self._root = run.checksum if piece is None else f"{run.checksum} {piece.name}"
        self._last = self._read_last()

    def __len__(self) -> int:
        return _count(self._last)

    def append(self, part: Part) -> None:
        """Write a part; it is on the disk when this returns."""

        def write(folder: Path) -> dict[str, FileFacts]:
            write_table(part.record, folder / _RECORD)
            for field, table in part.differences.items():
                write_differences(table, folder / f"{field}.field.parquet")
            return {}

        behind = int(part.record.column("step")[-1].as_py()) + 1
        self._add(write, {BEHIND: behind, _MADE: part.made})

    @property
    def finished(self) -> int:
        """How many steps are finished. Reads only the manifest of the last part."""
        if self._last == NONE:
            return 0
        read = read_manifest(self._folder / self._last.name, self._last.checksum)
        return 0 if isinstance(read, Damage) else int(read[0][BEHIND])

    def record(self) -> pa.Table | None:
        tables = [part.table(_RECORD) for part in self.generations]
        return pa.concat_tables(tables) if tables else None

    def first_step(self, part: int) -> int:
        return int(self.generations[part].table(_RECORD).column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        whole = f"{field}.field.parquet"
        if whole in self.generations[part].files:
            names = [whole]
        else:
            names = self.several(part, f"{field}.field-") or [whole]
        return self.tables(part, names)

    def several(self, part: int, prefix: str) -> list[str]:
        """The files of a part whose names begin with a prefix, sorted."""
        return sorted(name for name in self.generations[part].files if name.startswith(prefix))

    def tables(self, part: int, names: Sequence[str]) -> pa.Table:
        """Several files of a part as one table."""
        table = pa.concat_tables([self.generations[part].table(name) for name in names])
        READ_VERTICES.add(table.num_rows)
        return table

    def made(self, part: int) -> tuple[PartMaker, ...]:
        found = self.generations[part].manifest.get(_MADE) or ()
        several = found if all(isinstance(item, list) for item in found) else [found]
        return tuple(map(_made_by, several))

    def take_over(self, attempt: FinishedParts, part: int) -> None:
        """Make a part of an attempt the next part: its files are linked, not written again."""
        assert isinstance(attempt, PartsOnDisk)
        given = attempt.generations[part]

        def link(folder: Path) -> dict[str, FileFacts]:
            for name in given.files:
                disk.link_or_copy(given.path / name, folder / name)
            return dict(given.files)

        self._add(link, {name: given.manifest.get(name) for name in (BEHIND, _MADE)})

    def take_in(
        self,
        record: pa.Table,
        fields: Mapping[str, Written],
        made: Sequence[PartMaker],
        told: Manifest,
        base: Mapping[str, Written] = MappingProxyType({}),
        states: Written = (),
    ) -> None:
        """Make files that others have written the next part: several a field, linked as they are.

        All of them hold differences of the one step of the record, results of the empty version, or
        `states` that a later run goes on from.
        """
        listed = [(f"{field}.field", files) for field, files in fields.items()]
        listed += [(f"{field}.base", files) for field, files in base.items()]
        listed += [("states", states)]

        def link(folder: Path) -> dict[str, FileFacts]:
            write_table(record, folder / _RECORD)
            linked = {}
            for stem, files in listed:
                for at, (path, facts) in enumerate(files):
                    name = f"{stem}-{at:05d}{path.suffix}"
                    disk.link_or_copy(path, folder / name)
                    linked[name] = facts
            return linked

        behind = int(record.column("step")[-1].as_py()) + 1
        self._add(link, {BEHIND: behind, _MADE: made, TOLD: told})

    @property
    def folder(self) -> Path:
        return self._folder

    @cached_property
    def generations(self) -> list[Generation]:
        """All parts with their manifests, after a check that each vouches for the one before."""
        generations: list[Generation] = []
        checksum = self._last.checksum
        for number in reversed(range(len(self))):
            part = self._open(number, checksum)
            generations.append(part)
            checksum = part.manifest["follows"]
        if generations and checksum != self._root:
            raise self._run.damaged(
                Damage(generations[-1].path / MANIFEST, "is that of another run")
            )
        return generations[::-1]

    def _add(self, fill: Callable[[Path], dict[str, FileFacts]], told: Manifest) -> None:
        """One more part, whose files `fill` puts into a folder; it returns those listed before.

        `told` is the first step behind the part, and who made it.
        """
        final = self._folder / f"part-{len(self):06d}"
        partial = final.with_name(final.name + PARTIAL)
        before = self._last.checksum if len(self) else self._root
        content = {"part": len(self), "follows": before, **told}
        with disk_errors(f"the results of {self._run.what}", partial, KEPT):
            disk.remove_tree(partial)
            # A folder that has been swept does not come back: who writes into it still is late.
            disk.make_folder(partial)
            carried = fill(partial)
            checksum = write_manifest(partial, content, checksums_by_threads, carried=carried)
            sync_tree(partial)
            disk.remove_tree(final)
            disk.rename(partial, final)
            sync_path(self._folder)
            self._put_last(Pointer(final.name, checksum))

    def _put_last(self, last: Pointer) -> None:
        pointers.prepare(self._folder / LAST, last)
        pointers.commit(self._folder / LAST)
        sync_path(self._folder)
        self._last = last
        # What was opened before has one part fewer.
        self.__dict__.pop("generations", None)

    def _read_last(self) -> Pointer:
        file = self._folder / LAST
        pointer = read_last(file)
        while isinstance(pointer, Pointer) and self._is_behind(pointer):
            # Whoever writes has gone on since, or else somebody has put an older LAST here.
            again = read_last(file)
            pointer = Damage(file, "names a part before the last") if again == pointer else again
        if isinstance(pointer, Pointer):
            return pointer
        self._run.check_in_force()
        raise self._run.damaged(pointer)

    def _is_behind(self, last: Pointer) -> bool:
        """True if there are more parts than LAST and one unfinished writer explain."""
        return (self._folder / f"part-{_count(last) + 1:06d}").exists()

    def _open(self, number: int, checksum: str) -> Generation:
        path = self._folder / f"part-{number:06d}"
        read = read_manifest(path, checksum)
        if not isinstance(read, Damage) and read[0].get("part") != number:
            read = Damage(path / MANIFEST, "is that of another part")
        run = self._run
        if isinstance(read, Damage):
            run.check_in_force()
            raise run.damaged(read)
        files = inventory_from(read[0]["files"])
        return Generation(path, *read, files, run.what, run.remedy, within=run.path)

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
        for folder in self._folder.glob(f"{_PIECES}-*"):
            disk.remove_tree(folder)

    def attempt(self, number: int) -> PartsOnDisk:
        """A new attempt at a sub-plan, in its own folder, with the parts of the furthest one."""
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
        """The undamaged attempt at a sub-plan that has the most parts; None if there is none."""
        attempts = []
        for folder in sorted((self._folder / _SUB_PLANS).glob(f"{number:06d}-*")):
            # Whatever is wrong with an attempt, its steps can be made again.
            with contextlib.suppress(GraphtideError):
                attempt = PartsOnDisk(self._run, folder)
                attempts.append((len(attempt.generations), folder.name, attempt))
        return max(attempts)[2] if attempts else None

    def named_attempt(self, name: str) -> PartsOnDisk:
        return PartsOnDisk(self._run, self._folder / _SUB_PLANS / name)

    @property
    def name(self) -> str:
        return self._folder.name

    def attempted(self) -> dict[int, int]:
        """How far each sub-plan is: the first step that no attempt has. Reads a manifest each."""
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
        """Ask all workers to end their attempts; finished parts are kept."""
        with contextlib.suppress(OSError):
            disk.touch(self._folder / _SUB_PLANS / _STOP)

    def attempts_stopped(self) -> bool:
        """True if attempts are to end, or were removed."""
        folder = self._folder / _SUB_PLANS
        return not folder.exists() or (folder / _STOP).exists()

    def begin_attempts(self) -> None:
        """Allow attempts to begin, or to go on after a stop."""
        folder = self._folder / _SUB_PLANS
        disk.make_folder(folder, there=True)
        disk.remove(folder / _STOP)

    def end_attempts(self) -> None:
        disk.remove_tree(self._folder / _SUB_PLANS)

    def _begin_pieces(self, count: int) -> Path:
        """Make the folders of all pieces, or none."""
        folder = self._folder / f"{_PIECES}-{count}"
        partial = folder.with_name(folder.name + PARTIAL)
        with disk_errors(f"the results of {self._run.what}", partial, KEPT):
            disk.remove_tree(partial)
            for number in range(count):
                start_parts(partial / _piece_name(number))
            disk.rename(partial, folder)
            sync_path(self._folder)
        return folder


def _made_by(told: Sequence[Any]) -> PartMaker:
    """The maker of a part from its manifest; older manifests have no spans and no bytes."""
    made = PartMaker(*told)
    return made._replace(spans=tuple(SuperstepSpan(*span) for span in made.spans))


def read_last(file: Path) -> Pointer | Damage:
    """The pointer to the last part, or what is wrong with it."""
    pointer = read_pointer(file) or Damage(file, "is gone")
    if isinstance(pointer, Pointer) and pointer != NONE and not pointer.name.startswith("part-"):
        return Damage(file, "is not as it was written")
    return pointer


def _count(last: Pointer) -> int:
    return 0 if last == NONE else int(last.name.removeprefix("part-")) + 1


def start_parts(folder: Path) -> None:
    """Begin a chain without parts. Only before anybody else can see the folder."""
    disk.make_folders_below(folder.parent.parent, folder)
    pointers.prepare(folder / LAST, NONE)
    pointers.commit(folder / LAST)


def write_differences(table: pa.Table, path: Path) -> None:
    """Write a table that encodes only `step`, which has long runs: twice as fast."""
    write_table(table, path, use_dictionary=["step"], compression="lz4", write_statistics=False)


def _piece_name(number: int) -> str:
    return f"piece-{number:06d}"
