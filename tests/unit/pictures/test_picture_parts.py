"""The parts of pictures against plain recomputations: bands, similarities, texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.api.pictures.picture import duration, short_number, shortened
from graphtide.api.pictures.views import banded
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.run.collection.planned_views import similarity
from graphtide.store.catalog import Catalog
from tests.examples import examples
from tests.graphs import write_graph
from tests.scenario.stored import CALLS, write_views


@given(st.lists(st.floats(-10, 10) | st.just(np.nan), min_size=1, max_size=60), st.integers(1, 20))
@settings(deadline=None, max_examples=examples(60))
def test_bands_lose_nothing(values: list[float], places: int) -> None:
    band = banded(np.array(values), places)
    known = [value for value in values if value == value]
    if not known:
        assert np.isnan(band.least).all()
        return
    assert np.nanmin(band.least) == min(known)
    assert np.nanmax(band.greatest) == max(known)
    inside = ~np.isnan(band.median)
    assert (band.least[inside] <= band.median[inside]).all()
    assert (band.median[inside] <= band.greatest[inside]).all()


@given(st.lists(st.sets(st.integers(0, 8)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=examples(60))
def test_similarity_is_the_share_in_common(views: list[set[int]]) -> None:
    distances = np.array([[len(one ^ other) for other in views] for one in views])
    sizes = np.array([float(len(view)) for view in views])
    found = similarity(distances, sizes, sizes)
    for at, one in enumerate(views):
        for beside, other in enumerate(views):
            shared = len(one & other) / len(one | other) if one | other else 1.0
            assert found[at, beside] == pytest.approx(shared)


def test_the_matrix_of_a_collection(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    chosen = [set(rng.choice(60, rng.integers(0, 60), replace=False).tolist()) for _ in range(12)]
    catalog = Catalog(tmp_path)
    people = [{"id": name} for name in ("a", "b", "c")]
    graph = write_graph(catalog, "G", GraphSchema(PropertyType.STRING), people, CALLS)
    rows = {id(row): at for at, row in enumerate(CALLS)}
    views = {
        f"v{at}": (lambda row, kept=kept: rows[id(row)] in kept) for at, kept in enumerate(chosen)
    }
    write_views(catalog, graph, "collection", "some", views)
    collection = gt.session(tmp_path).collection("some")
    figure = collection.picture().figure
    order = [step.view for step in collection.plan.steps if step.view is not None]
    for axes, shown in zip(figure.axes, (range(12), order), strict=False):
        drawn = np.asarray(axes.get_images()[0].get_array())
        for at, one in enumerate(shown):
            for beside, other in enumerate(shown):
                left, right = chosen[one], chosen[other]
                shared = len(left & right) / len(left | right) if left | right else 1.0
                assert drawn[at, beside] == pytest.approx(shared)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.2e-5, "12 µs"),
        (3.4e-3, "3.4 ms"),
        (0.99999, "1 s"),
        (5.61, "5.61 s"),
        (119.0, "119 s"),
        (3600.0, "60 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_numbers_and_names_are_short() -> None:
    assert [short_number(value) for value in (0, 0.25, 999, 1234, 3.4e6, 2e9)] == [
        "0",
        "0.25",
        "999",
        "1,234",
        "3.4 M",
        "2 G",
    ]
    assert shortened("a  b\nc", 10) == "a b c"
    cut = shortened("x" * 30 + "END", 20)
    assert len(cut) == 20
    assert cut.endswith("END")
    assert "…" in cut
