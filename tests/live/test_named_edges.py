"""Rows that name edges of a live graph by texts as well, beside a plain list of edges."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError

KINDS = ["call", "mail", None]
Edge = tuple[int, int, int, str | None]


def edges_of(live: gt.LiveGraph) -> list[Edge]:
    """All edges of the version, in an order of their own."""
    rows = live.edges().to_pylist()
    found = [(row["src"], row["dst"], row["km"], row["kind"]) for row in rows]
    return sorted(found, key=repr)


def random_edges(pick: random.Random, count: int) -> list[Edge]:
    return [
        (pick.randrange(4), pick.randrange(4), pick.randrange(3), pick.choice(KINDS))
        for _ in range(count)
    ]


def columns(edges: list[Edge]) -> dict[str, Any]:
    src, dst, km, kind = (list(part) for part in zip(*edges, strict=True))
    return {"src": src, "dst": dst, "km": km, "kind": pa.array(kind, pa.string())}


def live_of(folder: Path, edges: list[Edge]) -> gt.LiveGraph:
    return gt.live(folder, gt.Graph(**columns(edges)))


@pytest.mark.parametrize("seed", range(3))
def test_rows_take_edges_away_by_texts_and_numbers(tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    kept = random_edges(pick, 60)
    live = live_of(tmp_path / "live", kept)
    for _ in range(8):
        gone = pick.sample(kept, min(5, len(kept)))
        for edge in gone:
            kept.remove(edge)
        come = random_edges(pick, 3)
        kept += come
        live.advance(insert=columns(come), delete=columns(gone))
        assert edges_of(live) == sorted(kept, key=repr)
    live.close()
    with gt.live(tmp_path / "live") as again:
        assert edges_of(again) == sorted(kept, key=repr)


@pytest.mark.parametrize("seed", range(3))
def test_updates_find_edges_by_texts(tmp_path: Path, seed: int) -> None:
    """Of several that a row may mean it changes one: which, only their other values tell."""
    pick = random.Random(seed)
    kept = [(at % 5, at // 5, at, pick.choice(KINDS)) for at in range(25)]
    kept += [(src, dst, km + 100, "other") for src, dst, km, _ in kept[:10]]
    live = live_of(tmp_path / "live", kept)
    for at in range(6):
        places = pick.sample(range(len(kept)), 4)
        rows = [(*kept[place][:2], 1000 + 10 * at + place, kept[place][3]) for place in places]
        for place, row in zip(places, rows, strict=True):
            kept[place] = row
        live.advance(update=columns(rows), match="kind")
        assert edges_of(live) == sorted(kept, key=repr)
    live.close()


def refusal(live: gt.LiveGraph, **given: Any) -> str:
    before = live.version, edges_of(live)
    with pytest.raises(InputError) as raised:
        live.advance(**given)
    assert (live.version, edges_of(live)) == before
    return str(raised.value)


def test_what_names_no_edge_is_refused_by_its_own_name(tmp_path: Path) -> None:
    live = live_of(tmp_path / "live", [(0, 1, 5, "call"), (1, 2, 7, "mail")])
    row = {"src": 0, "dst": 1, "km": 6, "kind": "mail"}
    told = refusal(live, update=[row], match=["kind"])
    assert told.startswith("a row of update names edges that are not there")
    assert "(0, 1, 'mail')" in told
    assert refusal(live, update=[{"src": 2, "dst": 1, "km": 1}]).startswith("a row of update names")
    assert refusal(live, update=[{"src": 9, "dst": 1, "km": 1}]).startswith("a row of update names")
    assert "did you mean `kind`" in refusal(live, update=[row], match=["kin"])
    assert "without update" in refusal(live, delete=[(0, 1)], match=["kind"])
    assert "type string" in refusal(live, delete=[{"src": 0, "dst": 1, "kind": 3.5}])
    assert "(0, 1, 'mail')" in refusal(live, delete=[{"src": 0, "dst": 1, "kind": "mail"}])
    twice = [{"src": 0, "dst": 1, "kind": "call"}] * 2
    assert refusal(live, delete=twice).startswith("a row of delete names edges")
    live.close()


def test_rows_are_told_without_what_users_did_not_give(tmp_path: Path) -> None:
    live = live_of(tmp_path / "live", [(0, 1, 5, "call")])
    live.query("far", gt.queries.Path(0, 1, weight="km"))
    told = refusal(live, insert=[(1, 0, -3, "call")])
    assert "row 0: (1, 0, -3)" in told
    live.close()


def test_versions_that_are_not_there_have_no_changes(tmp_path: Path) -> None:
    live = live_of(tmp_path / "live", [(0, 1, 5, "call")])
    live.query("far", gt.queries.Path(0, 1))
    assert list(live.changes("far", since=live.version)) == []
    for since in (-1, live.version + 1, True, "0"):
        with pytest.raises(InputError, match="the graph is at"):
            live.changes("far", since=since)  # type: ignore[arg-type]
    live.close()
