"""Drawn graphs: where vertices stand, what is drawn and what is left out, and what colours say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

import graphtide as gt
from graphtide.api.pictures.picture import BLUE, ORANGE, RED, Picture
from graphtide.api.pictures.vertices import (
    components_of,
    hops_from,
    lay_out,
    neighbours_of,
    spread_apart,
)
from graphtide.model.errors import InputError, NotFoundError
from graphtide.optimize.strategy import Move
from tests.unit.pictures.made_runs import Made

GRAPHS = [
    nx.karate_club_graph(),
    nx.grid_2d_graph(5, 7),
    nx.star_graph(12),
    nx.disjoint_union(nx.cycle_graph(9), nx.path_graph(4)),
    nx.complete_graph(6),
    nx.empty_graph(3),
]


def edges_of(graph: Any) -> np.ndarray[Any, Any]:
    numbered = nx.convert_node_labels_to_integers(graph)
    return np.array(list(numbered.edges()), np.int64).reshape(-1, 2)


@pytest.mark.parametrize("graph", GRAPHS)
def test_neighbours_are_near_and_components_apart(graph: Any) -> None:
    edges, count = edges_of(graph), len(graph)
    places = lay_out(count, edges)
    assert np.array_equal(places, lay_out(count, edges))
    assert np.isfinite(places).all()
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert (apart + np.eye(count) > 0.05).all(), "no two vertices on each other"
    lengths = apart[tuple(edges.T)]
    others = nx.convert_node_labels_to_integers(graph)
    far = [apart[a, b] for a, b in nx.complement(others).edges()]
    if len(edges) and far:
        assert lengths.mean() < np.mean(far)
    boxes = [
        (places[[*part]].min(axis=0), places[[*part]].max(axis=0))
        for part in nx.connected_components(others)
    ]
    for at, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:at]:
            assert (high < other_low).any() or (other_high < low).any()


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=16))
def test_hops_and_components_are_those_of_networkx(
    count: int, pairs: list[tuple[int, int]]
) -> None:
    edges = np.array([pair for pair in pairs if max(pair) < count], np.int64).reshape(-1, 2)
    neighbours = neighbours_of(count, edges)
    graph = nx.Graph(edges.tolist())
    graph.add_nodes_from(range(count))
    for hops in (0, 1, 2, None):
        assert hops_from(neighbours, [0], hops) == nx.single_source_shortest_path_length(
            graph, 0, hops
        )
    parts = components_of(neighbours)
    assert {frozenset(part) for part in parts} == set(
        map(frozenset, nx.connected_components(graph))
    )
    assert [len(part) for part in parts] == sorted(map(len, parts), reverse=True)
    assert len(hops_from(neighbours, [0], most=2)) <= 2


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_names_of_lines_are_moved_apart_and_keep_their_order(wanted: list[float]) -> None:
    places = spread_apart(wanted, 0.1)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(np.array(places)[order]) > 0.1 - 1e-9).all()
    if len(wanted) == 1 or (np.diff(np.sort(wanted)) >= 0.1).all():
        assert np.allclose(places, wanted)


PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]


def drawn_run(values: Any, versions: list[list[tuple[int, int]]], **more: Any) -> gt.Run:
    names = more.pop("names", [f"day-{at}" for at in range(len(versions))])
    made = Made(names, {"found": np.array(values)}, edges=versions, **more)
    return made.run([Move.PASS] * len(versions))


def dots(axes: Axes) -> PathCollection:
    return next(item for item in axes.collections if isinstance(item, PathCollection))


def fills(axes: Axes) -> list[str]:
    return [to_hex(colour).upper() for colour in dots(axes).get_facecolors()]


def lines(axes: Axes) -> dict[tuple[str, bool], int]:
    """How many lines there are by colour, solid or dashed."""
    found = {}
    for item in axes.collections:
        if isinstance(item, LineCollection) and len(item.get_segments()):
            dashed = item.get_linestyle()[0][1] is not None
            found[to_hex(item.get_colors()[0]).upper(), dashed] = len(item.get_segments())
    return found


def below(picture: Picture) -> str:
    return picture.figure.texts[-1].get_text()


def legend(picture: Picture) -> list[str]:
    return [item.get_text() for box in picture.figure.legends for item in box.get_texts()]


def names(axes: Axes) -> set[str]:
    return {item.get_text() for item in axes.texts}


def test_a_view_is_coloured_by_its_result_and_changes_stand_out() -> None:
    run = drawn_run(
        [[0, 0, 0, 3, 3], [0, 0, 0, 0, 4]],
        [[(0, 1), (1, 2), (3, 4)], [(0, 1), (2, 1), (2, 3)]],
        labels="found",
        program="WCC()",
    )
    picture = run.draw("day-1", arrows=False)
    (axes,) = picture.figure.axes
    assert picture.title == "Connected components in day-1"
    assert below(picture) == "views; 3 edges; changes since day-0"
    assert fills(axes) == [BLUE] * 4 + ["#9A9A9A"]
    # The edge that turned round joins the same vertices: nothing came, nothing went.
    assert lines(axes) == {(RED, False): 1, ("#B4B4B4", False): 2, (RED, True): 1}
    assert legend(picture) == [
        "with v0",
        "alone",
        "edge came",
        "edge went",
        "result changed",
    ]
    rings = [to_hex(colour) for colour in dots(axes).get_edgecolors()]
    assert [colour == "#222222" for colour in rings] == [False, False, False, True, True]
    assert names(axes) == {"v0", "v1", "v2", "v3", "v4"}
    calm = run.draw("day-1", since=False, arrows=False)
    assert legend(calm) == ["with v0"]
    assert "changes" not in below(calm)


def test_views_beside_each_other_keep_places_and_colours() -> None:
    run = drawn_run(
        [[0, 0, 2, 2, 2], [0, 0, 0, 3, 3], [0] * 5],
        [[(0, 1), (2, 3), (3, 4)], [(0, 1), (1, 2), (3, 4)], PATH],
        labels="found",
    )
    picture = run.draw(["day-0", "day-1", "day-2"])
    panels = picture.figure.axes
    places = [np.asarray(dots(axes).get_offsets()).tolist() for axes in panels]
    assert places[0] == places[1] == places[2]
    assert fills(panels[2]) == [BLUE] * 5
    assert fills(panels[0])[:2] == [BLUE] * 2
    assert fills(panels[0])[2] == fills(panels[0])[4] != BLUE
    assert {"day-1", "3 edges (+1 −1)"} <= names(panels[1])
    assert {"day-0", "3 edges"} <= names(panels[0])
    assert run.draw([0, 2]).figure.axes[1].texts[-1].get_text() == "4 edges (+1 −0)"
    for views in ([], list(range(13))):
        with pytest.raises(InputError, match="draw 1 to 12 of them"):
            run.draw(views)


def test_parallel_edges_turned_ones_and_loops() -> None:
    run = drawn_run(
        np.zeros((2, 5)), [[(0, 1), (1, 2)], [(0, 1), (0, 1), (1, 0), (2, 2), (2, 1), (3, 1)]]
    )
    panel = run.draw([0, 1]).figure.axes[1]
    assert "6 edges (+4 −0)" in names(panel)
    assert lines(panel) == {("#B4B4B4", False): 3, (RED, False): 1}
    (alone,) = run.draw(1).figure.axes
    arrows = [patch.get_arrowstyle() for patch in alone.patches]
    assert sorted(type(style).__name__ for style in arrows) == [
        "CurveFilledAB",
        "CurveFilledB",
        "CurveFilledB",
    ]
    assert sum(line.get_marker() == "o" for line in alone.get_lines()) == 1


def test_edges_without_a_direction_have_no_arrows() -> None:
    for directed in (True, False):
        graph = gt.Graph(["a", "b"], ["b", "c"], day=[1, 2], directed=directed)
        picture = graph.view("day = 1").draw()
        assert bool(picture.figure.axes[0].patches) is directed


def test_without_a_view_there_are_up_to_six_from_the_first_to_the_last() -> None:
    run = drawn_run(np.zeros((9, 5)), [PATH] * 9)
    panels = [axes.texts[-2].get_text() for axes in run.draw().figure.axes]
    assert panels == ["day-0", "day-2", "day-3", "day-5", "day-6", "day-8"]
    assert len(drawn_run(np.zeros((2, 5)), [PATH] * 2).draw().figure.axes) == 2
    with pytest.raises(InputError, match=r"name the view first: run.draw\(VIEW, 'a.png'\)"):
        run.draw("a.png")


def test_outages_are_told_from_a_view_that_is_named() -> None:
    outages = ["everything", "without a", "without b"]
    run = drawn_run([[1.0] * 5] * 3, [PATH, PATH[1:], PATH[:-1]], names=outages)
    assert "changes" not in below(run.draw("without a"))
    picture = run.draw("without a", since="everything", arrows=False)
    assert lines(picture.figure.axes[0]) == {("#B4B4B4", False): 3, (RED, True): 1}
    assert below(picture) == "views; 3 edges; changes since everything"


def test_numbers_have_a_scale_and_what_is_not_reached_is_hollow() -> None:
    run = drawn_run([[0.0, 1.0, 2.0, np.inf, np.inf]], [PATH], base=np.inf)
    picture = run.draw(0)
    colours = fills(picture.figure.axes[0])
    assert len(set(colours)) == 4
    assert colours[3:] == ["#FFFFFF"] * 2
    assert legend(picture) == ["not reached"]
    scale = picture.figure.axes[1]
    assert [label.get_text() for label in scale.get_xticklabels()] == ["0", "1", "2"]
    far = np.iinfo(np.int64).max
    whole = drawn_run([[0, 1, far, far, far]], [PATH], base=far).draw(0)
    assert fills(whole.figure.axes[0])[2:] == ["#FFFFFF"] * 3
    alike = drawn_run([[4.0] * 5], [PATH]).draw(0)
    assert legend(alike) == ["found: 4"]


@pytest.mark.parametrize(
    "values",
    [
        [-1e308, -1.0, 0.0, 1.0, 1.7e308],
        [np.nan, np.inf, -np.inf, 5e-324, 0.0],
        [-(2**63), 2**63 - 1, 0, 1, 2],
        [0.1, 0.1 + 1e-17, 0.1 + 2e-17, 0.1, 0.1],
    ],
)
def test_extreme_numbers_are_drawn(values: list[Any]) -> None:
    run = drawn_run([values, values[::-1]], [PATH, PATH[1:]])
    for picture in (run.draw(0), run.draw("day-1"), run.draw([0, 1])):
        assert picture.render("png").startswith(b"\x89PNG")


def test_truth_values_and_more_components_than_colours() -> None:
    truth = drawn_run([[True, False, True, True, False]], [PATH]).draw(0)
    assert fills(truth.figure.axes[0]) == [BLUE, "#FFFFFF", BLUE, BLUE, "#FFFFFF"]
    assert legend(truth) == ["found: true", "found: false"]
    pairs = [(2 * at, 2 * at + 1) for at in range(9)]
    labels = [[2 * (at // 2) for at in range(18)]]
    many = drawn_run(labels, [pairs], labels="found").draw(0)
    colours = fills(many.figure.axes[0])
    assert len({*colours}) == 7
    assert colours[:4] == [BLUE, BLUE, ORANGE, ORANGE]
    assert legend(many)[-1] == "smaller ones"


def test_the_neighbourhood_of_a_vertex() -> None:
    run = drawn_run([[0.0] * 5], [PATH])
    near = run.draw(0, around="v0", hops=1)
    assert names(near.figure.axes[0]) == {"v0", "v1"}
    assert below(near).endswith("2 vertices within 1 hop of 'v0'")
    assert len(names(run.draw(0, around="v4").figure.axes[0])) == 3
    both = run.draw(0, around=["v0", "v4"], hops=1)
    assert below(both).endswith("4 vertices within 1 hop of 'v0' and 'v4'")
    whole = run.draw(0, around="v0", hops=None)
    assert below(whole).endswith("5 vertices connected with 'v0'")
    with pytest.raises(ValueError, match="nobody"):
        run.draw(0, around="nobody")


def test_a_large_graph_is_cut_and_says_so() -> None:
    star = [(0, at) for at in range(1, 700)]
    run = drawn_run([np.zeros(700)], [[*star, (698, 699)]])
    picture = run.draw(0)
    assert below(picture).endswith("drawn: 200 of 700 vertices, from 'v0' on")
    assert len(dots(picture.figure.axes[0]).get_offsets()) == 200
    drawn = np.asarray(run.draw(0, most=3).figure.axes[0].collections[-1].get_offsets())
    assert len(drawn) == 3
    assert "cut there" in below(run.draw(0, around="v5", most=50))
    for most in (0, 1001, 2.5, True):
        with pytest.raises(InputError, match="draw 1 to 1,000 vertices"):
            run.draw(0, most=most)
    with pytest.raises(InputError, match="hops cannot be -1"):
        run.draw(0, around="v1", hops=-1)


def test_places_of_ones_own() -> None:
    run = drawn_run([[0.0] * 5], [PATH])
    places = {f"v{at}": (at, at * at) for at in range(5)}
    axes = run.draw(0, places=places).figure.axes[0]
    assert np.asarray(dots(axes).get_offsets()).tolist() == [[at, at * at] for at in range(5)]
    near = {name: (x / 1000, y / 1000) for name, (x, y) in places.items()}
    assert np.ptp(run.draw(0, places=near).figure.axes[0].get_xlim()) < 0.05
    assert len(dots(run.draw(0, around="v0", hops=0).figure.axes[0]).get_offsets()) == 1
    with pytest.raises(InputError, match="places lacks 2 vertices of those that are drawn, 'v3'"):
        run.draw(0, places={name: places[name] for name in ("v0", "v1", "v2")})


def test_what_cannot_be_drawn_says_why() -> None:
    run = drawn_run([[0.0] * 5] * 2, [PATH, []])
    with pytest.raises(InputError, match="without an edge: nothing to draw"):
        run.draw(1, since=False)
    with pytest.raises(InputError, match="no result 'fuond'"):
        run.draw(0, field="fuond")
    with pytest.raises(NotFoundError, match="no view 'day-7'"):
        run.draw("day-7")
    with pytest.raises(InputError, match="is an array"):
        drawn_run([np.zeros((5, 2))], [PATH]).draw(0)
    with pytest.raises(InputError, match="does not know the edges"):
        Made(["a"], {"found": np.zeros((1, 2))}).run().draw(0)


def test_views_of_a_graph_in_memory(tmp_path: Path) -> None:
    lines_ = gt.samples.power_grid()
    grid = gt.Graph.from_frame(lines_)
    hours = grid.collection("for h in 0..4 [hour-{h}: h < out_from or h >= out_until]")
    picture = hours["hour-2"].draw(tmp_path / "hour.svg", arrows=False)
    rows = lines_.to_pylist()
    pairs = [
        {
            frozenset((row["src"], row["dst"]))
            for row in rows
            if not row["out_from"] <= hour < row["out_until"]
        }
        for hour in (1, 2)
    ]
    assert lines(picture.figure.axes[0]) == {
        (RED, True): len(pairs[0] - pairs[1]),
        ("#B4B4B4", False): len(pairs[0] & pairs[1]),
    }
    assert (tmp_path / "hour.svg").read_bytes().startswith(b"<?xml")
    assert picture.title == "The graph of hour-2"
    again = hours["hour-2"].draw(arrows=False)
    assert picture.render("svg") == again.render("svg")
    alone = grid.view("km > 30")
    assert below(alone.draw()) == f"{len(alone)} edges"
    with pytest.raises(NotFoundError, match="no view 'hour-9'"):
        hours[1].draw(since="hour-9")


def test_the_sample_grid_is_whole_before_and_after_the_storm() -> None:
    rows = gt.samples.power_grid().to_pylist()
    assert rows == gt.samples.power_grid().to_pylist()
    assert nx.is_connected(nx.Graph([(row["src"], row["dst"]) for row in rows]))
    for hour in (0, 12):
        assert not any(row["out_from"] <= hour < row["out_until"] for row in rows)
    assert len({end for row in rows for end in (row["src"], row["dst"])}) == 50
