"""Texts in the ids of groups: plain where they can be, and never two alike."""

from __future__ import annotations

import pytest

from graphtide.spark.grouping import quoted_text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Berlin", "Berlin"),
        ("New York", "New York"),
        ("São Paulo (SP)", "São Paulo (SP)"),
        ("a", "a"),
        ("", "''"),
        ("null", "'null'"),
        ("nullable", "nullable"),
        (" a", "' a'"),
        ("a ", "'a '"),
        ("a\n", "'a\n'"),
        ("a, b", "'a, b'"),
        ("it's", r"'it\'s'"),
        ("\\", r"'\\'"),
        ("city=a", "'city=a'"),
    ],
)
def test_texts(text: str, told: str) -> None:
    assert quoted_text(text) == told
