"""A made-up telephone network: customers in states, calls with a day and a duration.

Customers live in towns and call mostly within them; some call far more than others, and the number
of calls grows over the years. The same seed gives the same graph.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

STATES = ("CA", "NY", "TX", "FL", "WA", "IL", "OH", "GA")
PROFESSIONS = ("Engineer", "Doctor", "Lawyer", "Teacher")
FIRST_DAY, LAST_DAY = np.datetime64("2015-01-01"), np.datetime64("2019-12-31")


def write_calls(folder: Path, *, customers: int, calls: int, seed: int = 1) -> tuple[Path, Path]:
    """Write customers.csv and calls.csv, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    paths = folder / "customers.csv", folder / "calls.csv"
    pa_csv.write_csv(_customers(random, customers), paths[0])
    pa_csv.write_csv(_calls(random, customers, calls), paths[1])
    return paths


def _customers(random: np.random.Generator, customers: int) -> pa.Table:
    """Neighbours in the list are neighbours in the world: states are stretches of it."""
    borders = np.cumsum(_shares(len(STATES)))
    state = np.searchsorted(borders, (np.arange(customers) + 0.5) / customers)
    columns = {
        "id": np.arange(customers),
        "state": np.array(STATES)[np.minimum(state, len(STATES) - 1)],
        "profession": random.choice(PROFESSIONS, customers),
    }
    return pa.table(columns)


def _calls(random: np.random.Generator, customers: int, calls: int) -> pa.Table:
    """Nine of ten calls go to somebody near; days later in the years have more calls."""
    talkative = random.permutation(customers)
    caller = talkative[(customers * random.power(0.7, calls)).astype(np.int64) % customers]
    away = random.geometric(0.01, calls) * random.choice((-1, 1), calls)
    nearby, anyone = (caller + away) % customers, random.integers(customers, size=calls)
    days = (LAST_DAY - FIRST_DAY).astype(np.int64) + 1
    day = FIRST_DAY + np.sort((days * random.power(1.6, calls)).astype(np.int64) % days)
    columns = {
        "src": caller,
        "dst": np.where(random.random(calls) < 0.9, nearby, anyone),
        "duration": np.ceil(random.exponential(6.0, calls)).astype(np.int64),
        "day": day,
    }
    return pa.table(columns)


def _shares(count: int) -> np.ndarray:
    weights: np.ndarray = 1 / np.arange(1, count + 1)
    shares: np.ndarray = weights / weights.sum()
    return shares
