"""Labels of texts order the way the texts do, however they come."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.engine.dataflow.columns import Texts
from tests.examples import examples

pytestmark = pytest.mark.compiled  # Once is enough: no kernel has a part in it.


def check(texts: Texts) -> None:
    labels = texts.labels().tolist()
    assert len(labels) == len(texts)
    by_text = sorted(range(len(texts)), key=texts.text)
    ordered = [labels[code] for code in by_text]
    assert ordered == sorted(set(labels))


@settings(max_examples=examples(50))
@given(st.lists(st.lists(st.text(max_size=4), max_size=6), max_size=12))
def test_labels_order_the_way_texts_do(batches: list[list[str]]) -> None:
    texts = Texts()
    for batch in batches:
        for text in batch:
            texts.code(text)
        check(texts)


@pytest.mark.parametrize("next_to", ["before", "behind", "between", "anywhere"])
def test_texts_that_come_one_by_one(next_to: str) -> None:
    """A hundred texts at one place use up the gap there: all get labels anew, still in order."""
    random = Random(3)
    texts = Texts()
    for number in range(100):
        texts.code(f"m{number:04}")
    check(texts)
    for number in range(160):
        text = {
            "before": f"a{1000 - number:04}",
            "behind": f"z{number:04}",
            "between": "m0050" + "a" * number + "b",
            "anywhere": f"m{random.random()}",
        }[next_to]
        texts.code(text)
        check(texts)


def test_a_code_stays() -> None:
    texts = Texts()
    assert [texts.code(text) for text in ("b", "a", "b")] == [0, 1, 0]
    texts.labels()
    assert (texts.code("a"), texts.text(0)) == (1, "b")
