"""The demo runs to its end on few calls, and leaves what it says it leaves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

from demo.calls import FIRST_DAY, LAST_DAY, write_calls
from demo.telling import verdict


def test_calls_are_the_same_for_the_same_seed_and_lie_in_the_five_years(tmp_path: Path) -> None:
    one = write_calls(tmp_path / "one", customers=50, calls=400)
    other = write_calls(tmp_path / "other", customers=50, calls=400)
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    calls = pa_csv.read_csv(one[1])
    days = calls["day"].to_numpy()
    assert days.min() >= FIRST_DAY
    assert days.max() <= LAST_DAY
    for end in ("src", "dst"):
        assert set(np.unique(calls[end].to_numpy())) <= set(range(50))


@pytest.mark.parametrize(
    ("gain", "words"),
    [(20.04, "20.0 times faster"), (1.05, "no faster"), (0.5, "2.0 times slower")],
)
def test_a_loss_is_called_a_loss(gain: float, words: str) -> None:
    assert verdict(gain) == words


@pytest.mark.spark
def test_the_demo_runs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from demo.__main__ import main

    output = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["demo", "--calls", "3000", "--output", str(output)])
    main()
    told = capsys.readouterr().out
    assert "300 customers, 3,000 calls" in told
    assert "done in" in told
    pictures = {path.name for path in output.glob("*.png")}
    assert {"until-each-day.png", "seven-days-times.png", "seven-days-similarity.png"} <= pictures
    summary = pa_csv.read_csv(output / "until-each-day.csv").to_pylist()
    assert summary[-1]["edges"] == 3000
    assert summary[-1]["components"] <= summary[0]["components"]
