"""An earlier version of a live graph, put together again to see what has changed since.

The store keeps the last checkpoint and the one before it, and the log goes back as far. What lies
before that is gone.
"""

from __future__ import annotations

from pathlib import Path

from graphtide.model.errors import StoreError
from graphtide.run.durable.records import described_shape, read_record
from graphtide.run.durable.recover import LIVE, Replay, follow_log, replay_of
from graphtide.store.commit import open_committed
from graphtide.store.files import Damage, inventory_from
from graphtide.store.folders import complete
from graphtide.store.generation import Generation, damaged_error, read_manifest
from graphtide.store.graph import StoredGraph, stored_graph
from graphtide.store.log import LoggedRecord, first_logged, read_log
from graphtide.store.seal import well_formed


def earlier_version(
    folder: Path, name: str, what: str, version: int
) -> tuple[Replay, list[LoggedRecord]]:
    """The graph at a version, and the records behind it; StoreError if it is too long ago."""
    first = first_logged(folder)
    known = [item for item in _checkpoints(folder, name, what) if _sequence(item) >= first - 1]
    there = [item for item in known if _version(item) <= version]
    if not there:
        oldest = min(map(_version, known), default=0)
        raise StoreError(
            f"the changes of {what} since version {version:,} are gone: they are known since "
            f"version {oldest:,}",
            where=str(folder),
            hint="take the whole results, live.program(name).table() or "
            "live.queries[name].table(), and go on from there; `deliver` does so under the name "
            "of a new consumer",
        )
    replay = replay_of(max(there, key=_sequence))
    since, graph = replay.state.sequence, replay.state.graph
    records = read_log(folder, what, since, graph, promised=True)
    until = _records_until(records, version)
    follow_log(replay, records[:until])
    return replay, records[until:]


def _records_until(records: list[LoggedRecord], version: int) -> int:
    """How many records lead to a version; those that are no batches come with the one before."""
    for at, item in enumerate(records):
        with well_formed("the log"):
            facts = read_record(item.data, described_shape(item.description)).facts
            behind = facts.get("version", 0) > version
        if behind:
            return at
    return len(records)


def _checkpoints(folder: Path, name: str, what: str) -> list[StoredGraph]:
    """The last one and, if it is whole, the one before."""
    last = open_committed(folder, what)
    checkpoints = [last]
    for older in complete(folder):
        read = read_manifest(folder / older, None)
        if isinstance(read, Damage) and read.error is not None:
            raise damaged_error(what, read, "")
        if older != last.path.name and not isinstance(read, Damage) and LIVE in read[0]:
            manifest, checksum = read
            files = inventory_from(manifest["files"])
            checkpoints.append(Generation(folder / older, manifest, checksum, files, what))
    return [stored_graph(name, item) for item in checkpoints]


def _version(stored: StoredGraph) -> int:
    return _number(stored, "version")


def _sequence(stored: StoredGraph) -> int:
    return _number(stored, "sequence")


def _number(stored: StoredGraph, name: str) -> int:
    with well_formed(stored.generation.what, stored.generation.path):
        return int(stored.generation.manifest[LIVE]["state"][name])
