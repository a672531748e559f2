"""A made-up telephone network: customers in states, calls with a year and a duration.

Towns exist so that calls are mostly local, and the number of calls grows from year to year; the
same seed gives the same graph.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

STATES = ("CA", "NY", "TX", "FL", "WA", "IL", "OH", "GA")
FIRST_YEAR, LAST_YEAR = 2010, 2019


def write_calls(folder: Path, *, customers: int, calls: int, seed: int = 1) -> tuple[Path, Path]:
    """Write customers.csv and calls.csv, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    state = random.choice(len(STATES), customers, p=_shares(len(STATES)))
    paths = folder / "customers.csv", folder / "calls.csv"
    pa_csv.write_csv(_customers(random, state), paths[0])
    pa_csv.write_csv(_calls(random, state, calls), paths[1])
    return paths


def _customers(random: np.random.Generator, state: np.ndarray) -> pa.Table:
    profession = random.choice(["Engineer", "Doctor", "Lawyer", "Teacher"], len(state))
    return pa.table(
        {
            "id": np.arange(len(state)),
            "state": np.array(STATES)[state],
            "profession": profession,
        }
    )


def _calls(random: np.random.Generator, state: np.ndarray, calls: int) -> pa.Table:
    order = np.argsort(state, kind="stable")
    position = np.empty(len(state), np.int64)
    position[order] = np.arange(len(state))
    caller = (len(state) * random.power(0.7, calls)).astype(np.int64) % len(state)
    nearby = order[(position[caller] + random.geometric(0.01, calls)) % len(state)]
    anyone = random.integers(len(state), size=calls)
    callee = np.where(random.random(calls) < 0.9, nearby, anyone)
    span = LAST_YEAR - FIRST_YEAR + 1
    year = FIRST_YEAR + (span * random.power(1.6, calls)).astype(np.int64)
    return pa.table(
        {
            "src": caller,
            "dst": callee,
            "duration": np.ceil(random.exponential(6.0, calls)).astype(np.int64),
            "year": year,
        }
    )


def _shares(count: int) -> np.ndarray:
    weights = 1 / np.arange(1, count + 1)
    return weights / weights.sum()
