"""A few histories, split in several ways; more by `python -m tests.live.splits_campaign`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import repeats
from tests.live.splits_campaign import play


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(repeats(2)))
def test_however_a_history_is_split_its_end_is_the_same(tmp_path: Path, seed: int) -> None:
    play(tmp_path, 78_000 + seed, acts=12)
