"""The log of a live graph where calls of the system fail, and where somebody changed its files."""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model import disk
from graphtide.model.disk import checksum
from graphtide.model.errors import DamagedError, StoreError
from graphtide.store import log as log_segments
from graphtide.store.files import Damage, seal
from graphtide.store.log import create_segment, read_segment, segment_name

pytestmark = pytest.mark.interpreted


def begun(folder: Path) -> gt.LiveGraph:
    vertices = pa.table({"id": [0, 1, 2], "limit": pa.array([None] * 3, pa.string())})
    return gt.live(folder, gt.Graph([0, 1], [1, 2], weight=[1.0, 2.0], vertices=vertices))


def weights(graph: gt.LiveGraph) -> list[float]:
    return sorted(graph.edges()["weight"].to_pylist())


class FailingCall:
    """Fails one call on files of the log, before or after its effect. Nothing waits for a disk."""

    def __init__(self, number: int, error: int = errno.EIO, *, after: bool = False) -> None:
        self.left, self.error, self.after = number, error, after

    def __call__(self, call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if call.operation == "sync":
            make = int
        if not {"log", "log.new"} & set(call.path.parts):
            return make()
        self.left -= 1
        if self.left != 0:
            return make()
        if self.after:
            make()
        raise OSError(self.error, os.strerror(self.error))


@pytest.fixture(autouse=True)
def _no_hook() -> Iterator[None]:
    yield
    disk.hook = None


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("act", ["checkpoint", "columns at once", "columns later"])
def test_a_log_that_cannot_go_on_in_a_new_file_loses_nothing(
    tmp_path: Path, act: str, after: bool
) -> None:
    number, failed = 0, True
    while failed:
        number += 1
        folder = tmp_path / f"{number}"
        with begun(folder) as graph:
            if act != "columns at once":
                graph.advance(insert=[(0, 2, 3.0)])
            disk.hook = failing = FailingCall(number, after=after)
            try:
                if act == "checkpoint":
                    graph.checkpoint()
                else:  # The first limit: from then on, the log has numbers there.
                    graph.advance(vertices={"id": [7], "limit": [9]})
            except StoreError:
                pass
            failed, failing.left = failing.left <= 0, -1
            known, limits = weights(graph), graph.vertices().num_rows
            graph.advance(insert=[(1, 3, 4.0)])
            with gt.live(folder, readonly=True) as reader:
                assert weights(reader) == sorted([*known, 4.0]), number
            graph.checkpoint()
            graph.advance(insert=[(2, 0, 5.0)])
        for readonly in (True, False):
            with gt.live(folder, readonly=readonly) as again:
                assert weights(again) == sorted([*known, 4.0, 5.0]), number
                assert again.vertices().num_rows == limits + 1
        disk.hook = None
    assert number > 5


def test_readers_miss_no_record_that_could_not_be_noted_as_acknowledged(tmp_path: Path) -> None:
    with begun(tmp_path / "g") as graph:
        graph.advance(insert=[(0, 2, 3.0)])
        disk.hook = FailingCall(3)  # The frame, its sync, and the note.
        graph.advance(insert=[(1, 3, 4.0)])
        assert disk.hook.left == 0
        disk.hook = None
        graph.advance(vertices={"id": [7], "limit": [9]})
        with gt.live(tmp_path / "g", readonly=True) as reader:
            assert weights(reader) == weights(graph) == [1.0, 2.0, 3.0, 4.0]


def delivering(folder: Path) -> gt.LiveGraph:
    graph = begun(folder / "g")
    graph.query("near", gt.queries.Hops(0, 2))
    graph.deliver("near", folder / "out", consumer="files")
    return graph


def test_no_handles_left_is_no_damage(tmp_path: Path) -> None:
    def no_handles(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if call.operation == "open" and call.path.suffix != ".parquet":
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return make()

    with delivering(tmp_path) as graph:
        disk.hook = no_handles
        with pytest.raises(StoreError, match="cannot be read: Too many open files") as told:
            graph.advance(insert=[(2, 3, 3.0)])
        assert not isinstance(told.value, DamagedError)
        assert "delete" not in (told.value.hint or "")
        disk.hook = None
        graph.advance(insert=[(1, 3, 4.0)])
    assert len(list((tmp_path / "out").glob("changes-*.parquet"))) == 2
    disk.hook = no_handles
    for readonly in (False, True):
        with pytest.raises(StoreError) as told:
            gt.live(tmp_path / "g", readonly=readonly)
        assert not isinstance(told.value, DamagedError)


def test_changes_are_on_the_disk_before_it_is_noted_that_they_are_taken(tmp_path: Path) -> None:
    calls: list[tuple[str, str]] = []

    def note(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        calls.append((call.operation, call.path.name))
        return make()

    with delivering(tmp_path) as graph:
        disk.hook = note
        graph.advance(insert=[(0, 2, 3.0)])
    synced = [name for operation, name in calls if operation in ("sync", "rename")]
    changes = ".changes-000000000001.parquet.new"
    at = synced.index(changes)
    assert synced[at : at + 5] == [changes, changes, "out", ".files.new", ".files.new"]


def left_by_an_earlier_version(folder: Path) -> None:
    """A writer had made the next file of the log when something stopped it, and went on before."""
    with begun(folder) as graph:
        graph.advance(insert=[(0, 2, 3.0)])
        log = sorted((folder / "log").iterdir())[0]
        read = read_segment(log)
        assert not hasattr(read, "problem")
        create_segment(folder / "log" / segment_name(2), read.description).close()
        graph.advance(insert=[(1, 3, 4.0)])
        graph.advance(insert=[(2, 3, 5.0)])


def test_a_file_that_the_writer_did_not_come_to_use_is_stepped_over(tmp_path: Path) -> None:
    left_by_an_earlier_version(tmp_path / "g")
    with gt.live(tmp_path / "g", readonly=True) as reader:
        assert weights(reader) == [1.0, 2.0, 3.0, 4.0, 5.0]
        with gt.live(tmp_path / "g") as graph:
            assert [path.name for path in (tmp_path / "g" / "log").iterdir()] == [segment_name(1)]
            graph.advance(insert=[(3, 0, 6.0)])
            graph.checkpoint()
            graph.advance(insert=[(3, 1, 7.0)])
        reader.refresh()
        assert weights(reader) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    with gt.live(tmp_path / "g") as graph:
        assert weights(graph) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_a_file_with_records_that_the_one_before_has_as_well_is_damage(tmp_path: Path) -> None:
    left_by_an_earlier_version(tmp_path / "g")
    log = tmp_path / "g" / "log"
    with begun(tmp_path / "h") as other:
        other.advance(insert=[(0, 2, 3.0)])
        other.advance(insert=[(0, 2, 3.0)])
        shutil.copy(tmp_path / "h" / "log" / segment_name(1), log / segment_name(4))
    with pytest.raises(DamagedError):
        gt.live(tmp_path / "g")


def test_the_log_of_another_graph_with_the_same_columns_is_refused(tmp_path: Path) -> None:
    for name, batches in (("g", 2), ("h", 2), ("long", 3), ("short", 1)):
        with begun(tmp_path / name) as graph:
            for _ in range(batches):
                graph.advance(insert=[(0, 2, 3.0)])
            if name == "g":
                graph.checkpoint()
    for name in ("h", "long"):
        shutil.rmtree(tmp_path / "g" / "log")
        shutil.copytree(tmp_path / name / "log", tmp_path / "g" / "log")
        for readonly in (False, True):
            with pytest.raises(DamagedError, match="of another graph"):
                gt.live(tmp_path / "g", readonly=readonly)


def test_a_log_that_ends_before_the_checkpoint_is_damage(tmp_path: Path) -> None:
    with begun(tmp_path / "g") as graph:
        graph.advance(insert=[(0, 2, 3.0)])
        shutil.copytree(tmp_path / "g" / "log", tmp_path / "before")
        graph.advance(insert=[(0, 2, 4.0)])
        graph.checkpoint()
    shutil.rmtree(tmp_path / "g" / "log")
    shutil.copytree(tmp_path / "before", tmp_path / "g" / "log")
    for readonly in (False, True):
        with pytest.raises(DamagedError, match="lost the records from 2 on"):
            gt.live(tmp_path / "g", readonly=readonly)


@pytest.mark.parametrize("name", ["log", "consumer"])
def test_a_pipe_in_place_of_a_file_hangs_nobody(tmp_path: Path, name: str) -> None:
    with begun(tmp_path / "g") as graph:
        graph.query("near", gt.queries.Hops(0, 2))
        graph.deliver("near", tmp_path / "out", consumer="files")
        graph.advance(insert=[(0, 2, 3.0)])
    path = next((tmp_path / "g" / ("log" if name == "log" else "consumers")).iterdir())
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DamagedError, match="is a pipe"), gt.live(tmp_path / "g") as graph:
        graph.deliver("near", tmp_path / "out", consumer="files")


@pytest.mark.parametrize("counted", [2, 1 << 31])
def test_a_frame_whose_records_are_not_in_it(tmp_path: Path, counted: int) -> None:
    """Made by somebody who knows the format: all checksums are right."""
    with begun(tmp_path / "g") as graph:
        graph.advance(insert=[(0, 2, 3.0)])
    path = next((tmp_path / "g" / "log").iterdir())
    segment = read_segment(path)
    assert not isinstance(segment, Damage)
    frame, at = bytearray(log_segments.frame_of(segment.next, [b"one"])), log_segments._FRAME_HEAD
    frame[at : at + 4] = struct.pack("<I", counted)
    head = log_segments._FRAME.unpack_from(frame)
    frame[: at - 4] = log_segments._FRAME.pack(*head[:-1], checksum(memoryview(frame)[at:]))
    frame[at - 4 : at] = struct.pack("<I", checksum(memoryview(frame)[: at - 4]))
    path.write_bytes(path.read_bytes() + frame)
    for readonly in (False, True):
        with pytest.raises(DamagedError, match="no Graphtide has written"):
            gt.live(tmp_path / "g", readonly=readonly)


def test_a_consumer_whose_version_is_no_number(tmp_path: Path) -> None:
    """Sealed by somebody who could write the folder: the checksum is right."""
    with begun(tmp_path / "g") as graph:
        graph.query("near", gt.queries.Hops(0, 2))
        graph.deliver("near", tmp_path / "out", consumer="files")
    path = next((tmp_path / "g" / "consumers").iterdir())
    path.write_bytes(seal({"version": None})[0])
    with pytest.raises(DamagedError, match="how far"), gt.live(tmp_path / "g") as graph:
        graph.deliver("near", tmp_path / "out", consumer="files")
