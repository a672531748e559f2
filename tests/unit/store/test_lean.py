"""A lean graph on disk: what is sorted, what is noticed, and how one takes another's place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtide.kernels.graph.adjacency import LeanGraph, compress
from graphtide.model.errors import DamagedError, InputError, NotFoundError
from graphtide.store import lean as lean_sorting
from graphtide.store.lean import EdgeBlock, lean_facts, read_lean_graph, write_lean_graph
from tests.failures.hostile_changes import list_again

pytestmark = pytest.mark.interpreted
TYPES = {"weight": np.float64, "open/shut": np.bool_}


def random_edges(seed: int, vertices: int, edges: int) -> EdgeBlock:
    """Loops and parallel edges included; most edges are of a few vertices."""
    pick = np.random.default_rng(seed)
    ends = np.minimum(pick.geometric(0.1, (2, edges)) - 1, max(vertices - 1, 0)).astype(np.int32)
    return EdgeBlock(*ends, {"weight": pick.random(edges), "open/shut": pick.random(edges) < 0.5})


def blocks_of(whole: EdgeBlock, rows: int) -> Iterator[EdgeBlock]:
    for first in range(0, len(whole.src), rows):
        part = slice(first, first + rows)
        columns = {name: column[part] for name, column in whole.columns.items()}
        yield EdgeBlock(whole.src[part], whole.dst[part], columns)


def written(folder: Path, whole: EdgeBlock, vertices: int, rows: int = 7) -> LeanGraph:
    write_lean_graph(folder, vertices, len(whole.src), blocks_of(whole, rows), TYPES)
    return read_lean_graph(folder)


def check_same(one: LeanGraph, other: LeanGraph) -> None:
    assert one.vertices == other.vertices
    for mine, theirs in zip((*one.out, *one.into), (*other.out, *other.into), strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()
    for name in TYPES:
        assert one.columns[name].tolist() == other.columns[name].tolist()


@pytest.mark.parametrize("bucket", [1, 5, 40, 1000])
@pytest.mark.parametrize(("vertices", "edges"), [(0, 0), (1, 0), (1, 9), (60, 200), (500, 90)])
def test_rows_do_not_depend_on_blocks_or_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: int, vertices: int, edges: int
) -> None:
    monkeypatch.setattr(lean_sorting, "BUCKET_EDGES", bucket)
    whole = random_edges(edges, vertices, edges)
    expected = compress(vertices, whole.src, whole.dst, whole.columns)
    check_same(written(tmp_path / "lean", whole, vertices, rows=11), expected)
    names = {item.name for item in (tmp_path / "lean").rglob("*") if item.is_file()}
    assert {name for name in names if not name.endswith(".bin")} <= {
        "CURRENT", "LOCK", "manifest.json",
    }  # fmt: skip


def test_it_takes_thirteen_bytes_an_edge(tmp_path: Path) -> None:
    whole = random_edges(1, 1000, 16_000)
    lean = written(tmp_path / "lean", whole, 1000, rows=4000)
    files = sum(
        item.stat().st_size
        for item in (tmp_path / "lean").rglob("*.bin")
        if "column" not in item.name
    )
    assert files == lean.bytes <= 13 * lean.edges


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.bin"))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


HURT: dict[str, Any] = {
    "lost": Path.unlink,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-4]),
    "changed": flip,
}


@pytest.mark.parametrize("how", HURT)
def test_a_file_that_is_not_as_it_was_written_is_an_error(tmp_path: Path, how: str) -> None:
    whole = random_edges(2, 30, 100)
    for number in range(7):
        folder = tmp_path / str(number)
        written(folder, whole, 30)
        hurt = files_of(folder)[number]
        HURT[how](hurt)
        with pytest.raises(DamagedError, match=hurt.name) as error:
            read_lean_graph(folder)
        assert "its lean graph is made again" in str(error.value)


@pytest.mark.parametrize(
    ("name", "type_", "number"),
    [
        ("out-offsets", np.uint32, 2**32 - 1),
        ("in-offsets", np.uint32, 101),
        *(
            (name, np.int32, number)
            for name in ("out-targets", "in-sources")
            for number in (-1, 30)
        ),
        *(("in-edges", np.int32, number) for number in (-1, 100)),
        ("column-1", np.uint8, 2),
    ],
)
def test_numbers_that_lead_elsewhere_are_refused(
    tmp_path: Path, name: str, type_: Any, number: int
) -> None:
    """Kernels look at no bounds, and whoever can write a checksum can write any."""
    folder = tmp_path / "lean"
    written(folder, random_edges(2, 30, 100), 30)
    (path,) = folder.glob(f"g-*/{name}.bin")
    items = np.fromfile(path, type_)
    items[3] = number
    path.write_bytes(items.tobytes())
    list_again(path)
    with pytest.raises(DamagedError, match="the lean graph holds what no Graphtide has written"):
        read_lean_graph(folder)


def test_another_one_takes_its_place_in_one_step(tmp_path: Path) -> None:
    folder = tmp_path / "lean"
    first = written(folder, random_edges(3, 20, 50), 20)
    before = first.into.neighbour.tolist()
    second = random_edges(4, 25, 70)
    check_same(written(folder, second, 25), compress(25, second.src, second.dst, second.columns))
    assert first.into.neighbour.tolist() == before
    facts = lean_facts(folder)
    assert facts is not None
    assert facts["edges"] == 70


def test_what_goes_wrong_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    folder, whole = tmp_path / "lean", random_edges(5, 20, 50)
    assert lean_facts(folder) is None
    with pytest.raises(NotFoundError):
        read_lean_graph(folder)
    expected = written(folder, whole, 20)
    with pytest.raises(InputError, match="50 edges in blocks, and 51 were announced"):
        write_lean_graph(folder, 20, 51, blocks_of(whole, 7), TYPES)
    check_same(read_lean_graph(folder), expected)
    with pytest.raises(InputError, match="too many"):
        write_lean_graph(folder, (1 << 31) + 1, 0, [])
