"""Pictures of runs: what is in them, for any number of views and names of any letters."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes

from graphtide.api.pictures import views as titles
from graphtide.api.pictures.picture import GREY, LINES, Picture
from graphtide.api.pictures.views import have_order, program_words
from graphtide.model.errors import InputError
from graphtide.optimize.strategy import Move
from tests.unit.pictures.made_runs import Made, components, distances, ranks

ODD = ["a" * 200, "$x_1$ and $", "李雷 🌊", "two\nlines\tand \x1b[31m", "", "<b>&amp;</b>"]


def texts(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def said(axes: Axes) -> list[str]:
    return [item.get_text() for item in axes.texts]


def coloured(axes: Axes) -> dict[str, np.ndarray[Any, Any]]:
    """The lines of results by their colours, without those in pale grey and those to names."""
    lines = [item for item in axes.get_lines() if item.get_label() != "_to a name"]
    return {
        str(item.get_color()): np.asarray(item.get_ydata())
        for item in lines
        if item.get_color() != "#CFCFCF"
    }


def line(axes: Axes, at: int = 0) -> np.ndarray[Any, Any]:
    return np.asarray(axes.get_lines()[at].get_ydata(), np.float64)


def test_components_by_view() -> None:
    picture = components(5).run().picture()
    largest, number, edges = picture.figure.axes
    assert picture.title == "Connected components, upto-2000 to upto-2004"
    assert [axes.get_title("left") for axes in picture.figure.axes] == [
        "largest component",
        "components",
        "size of the view",
    ]
    assert [axes.get_ylabel() for axes in picture.figure.axes] == ["vertices", "number", "edges"]
    assert line(largest)[-1] == 30
    assert line(number)[-1] == 1
    assert line(number)[0] == 30
    assert line(edges).tolist() == [0, 10, 20, 30, 40]
    assert texts(edges) == [f"{2000 + at}" for at in range(5)]
    assert edges.get_xlabel() == "view (upto-…)"


def test_distances_by_view() -> None:
    reached, hops, _ = distances(4).run().picture().figure.axes
    assert line(reached).tolist() == [1, 10, 20, 30]
    assert line(hops, 0).tolist() == [0, 4.5, 9.5, 14.5]
    assert line(hops, 1).tolist() == [0, 9, 19, 29]
    assert said(hops) == ["mean", "greatest"]


def test_a_view_that_reaches_nothing_is_a_gap() -> None:
    made = Made(["1", "2"], {"hops": np.array([[np.inf] * 3, [0.0, 1.0, np.inf]])}, base=np.inf)
    reached, hops, _ = made.run().picture().figure.axes
    assert line(reached).tolist() == [0, 2]
    assert np.isnan(line(hops)[0])


def test_ranks_show_the_leaders_of_the_last_view() -> None:
    made = ranks(6)
    values = made.values["rank"]
    panel, _ = made.run().picture().figure.axes
    best = sorted(range(30), key=lambda vertex: -values[-1, vertex])[:4]
    drawn = coloured(panel)
    assert said(panel) == [*(f"v{vertex}" for vertex in best), "mean of all"]
    assert np.allclose(drawn[LINES[0]], values[:, best[0]])
    assert np.allclose(drawn[GREY], values.mean(axis=1))


def test_few_leaders_share_a_panel_and_the_others_are_grey() -> None:
    (panel,) = ranks(6).run().picture(of="top", count=2).figure.axes
    assert [*coloured(panel)] == [*LINES[:2]]
    led = {int(vertex) for row in ranks(6).values["rank"] for vertex in np.argsort(-row)[:2]}
    pale = [item for item in panel.get_lines() if item.get_color() == "#CFCFCF"]
    assert len(pale) == len(led) - 2


def test_many_leaders_have_a_panel_each_and_never_more_than_seven_a_colour() -> None:
    shown = ranks(6).run().picture(of="top", count=12).figure.axes
    panels = [axes for axes in shown if axes.get_visible()]
    values = ranks(6).values["rank"]
    best = sorted(range(30), key=lambda vertex: -values[-1, vertex])[:7]
    assert [axes.get_title("left") for axes in panels] == [f"v{vertex}" for vertex in best]
    assert [[*coloured(axes)] for axes in panels] == [[colour] for colour in LINES]
    assert len({colour.lower() for colour in LINES}) == 7
    rows = ranks(6).run().picture(of="top", count=12, bars=True)
    assert "the first 7 of 12" in rows.figure.texts[-1].get_text()
    for count in (0, 101, True):
        with pytest.raises(InputError, match="draw 1 to 100 vertices"):
            ranks(3).run().picture(of="top", count=count)
    with pytest.raises(InputError, match="no result 'rnak'"):
        ranks(3).run().picture(of="top", field="rnak")


def test_several_results_and_truth() -> None:
    rows = np.array([[True, False], [True, True]])
    made = Made(["1", "2"], {"reached": rows, "size": np.array([[1, 2], [3, 4]])})
    true, _ = made.run().picture().figure.axes
    assert line(true).tolist() == [1, 2]
    assert made.run().picture(field="size").figure.axes[0].get_ylabel() == "size"


def test_times_are_coloured_by_strategy() -> None:
    moves = [Move.SPLIT, Move.FOLLOW, Move.FOLLOW, Move.PASS]
    run = components(4).run(moves, seconds=[4e-3, 1e-3, 2e-3, 5e-3], scratch=[9, 6e-3, 7e-3, 9])
    picture = run.picture(of="times")
    upper, lower = picture.figure.axes
    shapes = {item.get_label(): item.get_offsets()[:, 0].tolist() for item in upper.collections}
    assert shapes == {"differential (2)": [1, 2], "from scratch (2)": [0, 3]}
    # Measured where it was taken, predicted elsewhere.
    assert line(upper).tolist() == [4e-3, 6e-3, 7e-3, 5e-3]
    assert np.allclose(line(lower, 0), [4, 5, 7, 12])
    assert np.allclose(line(lower, 1), [4, 10, 17, 22])
    assert lower.get_ylabel() == "milliseconds"


def test_times_beside_a_run_from_scratch() -> None:
    run = components(3).run(seconds=[1.0, 1.0, 1.0], scratch=[np.nan] * 3)
    assert len(run.picture(of="times").figure.axes[0].get_lines()) == 0
    other = components(3, name="slow").run([Move.PASS] * 3, seconds=[2.0, 3.0, 4.0])
    upper, lower = run.picture(of="times", reference=other).figure.axes
    assert line(upper).tolist() == [2, 3, 4]
    assert lower.get_ylabel() == "seconds"
    strange = components(3, name="strange", collection="others").run()
    with pytest.raises(InputError, match="no reference"):
        run.picture(of="times", reference=strange)


@pytest.mark.parametrize("count", [1, 25, 701, 5000])
@pytest.mark.parametrize("of", ["summary", "times"])
def test_any_number_of_views(count: int, of: Any) -> None:
    picture = components(count).run().picture(of=of)
    assert 1 <= len(texts(picture.figure.axes[-1])) <= 24
    assert len(picture.render("png")) < 400_000


def test_an_outlier_among_thousands_is_drawn() -> None:
    labels = np.zeros((5000, 4), np.int64)
    labels[3210] = [0, 1, 2, 3]
    made = Made([f"{at}" for at in range(5000)], {"c": labels}, labels="c")
    number = made.run().picture().figure.axes[1]
    assert max(np.nanmax(item.get_ydata()) for item in number.get_lines()) == 4


def test_names_of_any_letters(tmp_path: Path) -> None:
    for of in ("summary", "times"):
        run = components(len(ODD), names=ODD, collection="$\\frac$ 李").run()
        picture = run.picture(tmp_path / f"{of}.svg", of=of)
        ElementTree.parse(tmp_path / f"{of}.svg")
        assert max(map(len, texts(picture.figure.axes[-1]))) < 30


def test_files_by_their_ending(tmp_path: Path) -> None:
    run = components(3).run()
    for name, start in (("a.png", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("b.svg", b"<?xml")):
        run.picture(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(InputError, match="no PNG, SVG or PDF"):
        run.picture(tmp_path / "c.gif")
    with pytest.raises(InputError, match="cannot write"):
        run.picture(tmp_path / "nowhere" / "c.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.PNG", "a.png", "b.svg"]


def test_the_same_picture_is_the_same_file() -> None:
    first, second = (components(4).run().picture().render("svg") for _ in range(2))
    assert first == second


def test_a_notebook_shows_it() -> None:
    picture = components(3).run().picture()
    shown, size = picture._repr_png_()
    assert shown.startswith(b"\x89PNG")
    assert size["width"] == 900
    assert isinstance(picture, Picture)


def test_nothing_finished_is_nothing_to_draw() -> None:
    run = components(3, finished=0).run()
    for of in ("summary", "times", "top"):
        with pytest.raises(InputError, match="nothing to draw"):
            run.picture(of=of)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no picture of 'cake'"):
        run.picture(of="cake")  # type: ignore[arg-type]


def test_an_interrupted_run_shows_what_is_finished() -> None:
    picture = components(9, finished=4).run().picture()
    assert len(line(picture.figure.axes[0])) == 4
    said = " ".join(item.get_text() for item in picture.figure.texts)
    assert "4 of 9 views" in said


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["upto-2019", "upto-2020"], True),
        (["2020-01-30", "2020-02-01", "2020-02-02"], True),
        (["-5..0", "0..5"], True),
        (["0.5", "0.75", "1"], True),
        (["all"], True),
        (["without 1-2", "without 2-3"], False),
        (["CA", "NY"], False),
        (["everything", "without 1", "without 2"], False),
        (["2020", "2019"], False),
    ],
)
def test_names_that_go_up_have_an_order(names: list[str], ordered: bool) -> None:
    assert have_order(names) is ordered
    figure = ranks(len(names), names=names).run().picture().figure
    assert bool(figure.axes[-1].patches) is not ordered


def test_bars_and_lines_by_hand() -> None:
    run = components(4).run()
    assert run.picture(bars=True).figure.axes[0].patches
    assert not run.picture(bars=False).figure.axes[0].patches


def test_outages_that_stand_out_come_first() -> None:
    labels = np.zeros((60, 9), np.int64)
    labels[17, :3] = [1, 2, 3]
    labels[40] = range(9)
    made = Made([f"without line {at}" for at in range(60)], {"c": labels}, labels="c")
    picture = made.run().picture()
    largest, number, _ = picture.figure.axes
    rows = [label.get_text() for label in largest.get_yticklabels()]
    assert rows[:2] == ["line 40", "line 17"]
    assert rows[-1] == f"{60 - len(rows) + 1} others"
    assert [bar.get_width() for bar in number.patches][:3] == [9, 4, 1]
    assert said(number)[:3] == ["9", "4", "1"]
    assert picture.title == "Made without one at a time"


def test_few_outages_are_all_there_the_farthest_from_the_median_first() -> None:
    labels = np.zeros((4, 9), np.int64)
    labels[2, :2] = [1, 2]
    labels[1] = range(9)
    names = [f"without {at}" for at in "abcd"]
    made = Made(names, {"c": labels}, labels="c")
    largest = made.run().picture().figure.axes[0]
    assert [label.get_text() for label in largest.get_yticklabels()] == ["b", "c", "a", "d"]


def test_bars_of_alike_values_begin_at_the_median() -> None:
    values = np.array([[1000.0, 1000.0], [1001.0, 1000.0], [990.0, 1000.0], [1000.0, 1000.0]])
    made = Made([f"without {at}" for at in "abcd"], {"load": values})
    mean = made.run().picture().figure.axes[0]
    bars = {bar.get_y(): (bar.get_x(), bar.get_width()) for bar in mean.patches}
    assert [item for _, item in sorted(bars.items())] == [
        (1000, -5),
        (1000, 0.5),
        (1000, 0),
        (1000, 0),
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["2024-01-01", "2024-01-08", "2024-01-15"], "PageRank per week"),
        (["2024-01-01", "2024-02-01", "2024-03-01"], "PageRank per month"),
        (["until-2024-01-02", "until-2024-01-03"], "PageRank up to each day"),
        (["2024-01-01..2024-01-08", "2024-01-08..2024-01-15"], "PageRank per week"),
        (
            ["2024-01-01..2024-01-08", "2024-01-02..2024-01-09"],
            "PageRank in windows of 7 days, day by day",
        ),
        (["2024-01-01T00:00:00", "2024-01-01T01:00:00"], "PageRank per hour"),
        (["without a", "without b"], "PageRank without one at a time"),
        (["without a, b", "without b, c"], "PageRank without some at a time"),
        (["upto-2019", "upto-2020"], "PageRank, upto-2019 to upto-2020"),
        (["2024-13-77", "2024-13-78"], "PageRank, 2024-13-77 to 2024-13-78"),
        (["all"], "PageRank in all"),
        (["without a"], "PageRank without a"),
    ],
)
def test_titles_in_words(names: list[str], words: str) -> None:
    picture = ranks(len(names), names=names, collection="my-views").run().picture()
    assert picture.title == words
    below = picture.figure.texts[-1].get_text()
    assert below.startswith(f"my-views: {len(names)} view")
    assert "damping=0.85, iterations=10" in below


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("WCC()", ("Connected components", "")),
        ("BFS(source='LHR')", ("Hops from LHR", "")),
        ("KHops(sources=[1, 2, 3, 4], k=2)", ("Within 2 hops of 1, 2, 3 and 1 more", "")),
        ("Mine(depth=3)", ("Mine", "depth=3")),
        ("BFS(source=<odd>)", ("BFS", "")),
    ],
)
def test_programs_in_words(program: str, words: tuple[str, str]) -> None:
    assert program_words(program) == words


def test_ranges_are_named_by_their_starts_which_do_not_overhang() -> None:
    names = [f"2024-01-{at:02}..2024-01-{at + 7:02}" for at in range(1, 15)]
    picture = ranks(14, names=names).run().picture()
    panel = picture.figure.axes[-1]
    assert {*texts(panel)} <= {name[:10] for name in names}
    picture.render("png")
    for label in panel.get_xticklabels():
        box = label.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= picture.figure.bbox.x1


def test_every_program_of_the_library_has_a_title() -> None:
    """Or bears a name that is a word as it stands."""
    import graphtide as gt

    words = ("PageRank", "Transitivity", "Triangles")
    for name in gt.algorithms.__all__:
        if name[0].isupper():
            assert name in titles._WORDS or name in words, name
