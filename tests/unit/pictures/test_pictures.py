"""Pictures of runs: what is in them, for any number of views and names of any letters."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes

from graphtide.api.pictures.bars import have_order
from graphtide.api.pictures.picture import Picture
from graphtide.model.errors import InputError
from graphtide.optimize.strategy import Move
from tests.unit.pictures.made_runs import Made, components, distances, ranks

ODD = ["a" * 200, "$x_1$ and $", "李雷 🌊", "two\nlines\tand \x1b[31m", "", "<b>&amp;</b>"]


def texts(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def line(axes: Axes, at: int = 0) -> np.ndarray[Any, Any]:
    return np.asarray(axes.get_lines()[at].get_ydata(), np.float64)


def test_components_by_view() -> None:
    picture = components(5).run().picture()
    largest, number, edges = picture.figure.axes
    assert picture.title == "WCC() on views"
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
    assert texts(edges) == [f"upto-{2000 + at}" for at in range(5)]


def test_distances_by_view() -> None:
    reached, hops, _ = distances(4).run().picture().figure.axes
    assert line(reached).tolist() == [1, 10, 20, 30]
    assert line(hops, 0).tolist() == [0, 4.5, 9.5, 14.5]
    assert line(hops, 1).tolist() == [0, 9, 19, 29]
    assert [item.get_text() for item in hops.get_legend().get_texts()] == ["mean", "greatest"]


def test_a_view_that_reaches_nothing_is_a_gap() -> None:
    made = Made(["1", "2"], {"hops": np.array([[np.inf] * 3, [0.0, 1.0, np.inf]])}, base=np.inf)
    reached, hops, _ = made.run().picture().figure.axes
    assert line(reached).tolist() == [0, 2]
    assert np.isnan(line(hops)[0])


def test_ranks_show_the_leaders_of_the_last_view() -> None:
    made = ranks(6)
    values = made.values["rank"]
    panel, _ = made.run().picture().figure.axes
    best = sorted(range(30), key=lambda vertex: -values[-1, vertex])[:5]
    named = [item.get_text() for item in panel.get_legend().get_texts()]
    assert named == ["mean", *(f"v{vertex}" for vertex in best)]
    assert np.allclose(line(panel, 1), values[:, best[0]])
    assert np.allclose(line(panel, 0), values.mean(axis=1))


def test_top_draws_as_many_as_asked_for() -> None:
    (panel,) = ranks(6).run().picture(of="top", count=2).figure.axes
    assert len(panel.get_lines()) == 2
    (panel,) = ranks(6).run().picture(of="top", count=12).figure.axes
    looks = {(item.get_color(), item.get_linestyle()) for item in panel.get_lines()}
    assert len(looks) == 12
    with pytest.raises(InputError, match="cannot tell 13 lines apart"):
        ranks(3).run().picture(of="top", count=13)
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


def test_outages_that_stand_out_are_named() -> None:
    labels = np.zeros((60, 9), np.int64)
    labels[17] = range(9)
    labels[40, :3] = [1, 2, 3]
    made = Made([f"without line {at}" for at in range(60)], {"c": labels}, labels="c")
    largest, number, _ = made.run().picture().figure.axes
    assert [item.get_text() for item in number.texts] == ["without line 17"]
    assert [item.get_text() for item in largest.texts] == ["without line 17"]
    heights = [bar.get_height() for bar in number.patches]
    assert (len(heights), heights[17], heights[40], heights[0]) == (60, 9, 4, 1)


def test_names_of_bars_stand_apart() -> None:
    labels = np.zeros((400, 9), np.int64)
    labels[::10] = range(9)
    made = Made([f"without {at}-{at + 1}" for at in range(400)], {"c": labels}, labels="c")
    number = made.run().picture().figure.axes[1]
    places = [item.xy[0] for item in number.texts]
    assert len(places) == 5
    assert min(abs(a - b) for a in places for b in places if a != b) > 400 * 0.1
