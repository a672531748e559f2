"""Every line of the European transmission grid out in turn: which outages split it, and what off?

    python -m demo.grid FOLDER

FOLDER holds grid-2869pegase-bus.csv.gz and grid-2869pegase-branch.csv.gz, the PEGASE case of 2,869
buses as tables. The tutorial on contingency tells what comes out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import graphtide as gt

BUSES, BRANCHES = "grid-2869pegase-bus.csv.gz", "grid-2869pegase-branch.csv.gz"


def main() -> None:
    """Load the grid, take every branch out, tell what splits."""
    parser = argparse.ArgumentParser(prog="python -m demo.grid", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help=f"holds {BUSES} and {BRANCHES}")
    folder = parser.parse_args().folder
    missing = [name for name in (BUSES, BRANCHES) if not (folder / name).exists()]
    if missing:
        sys.exit(f"{folder} lacks {' and '.join(missing)}")
    with TemporaryDirectory() as store:
        session = gt.session(store, progress=False)
        grid = load(session, folder)
        began = perf_counter()
        outages = grid.collection("n-1", gt.without_each("edge", name="{index}"))
        print(f"{len(outages):,} outages planned and stored in {perf_counter() - began:.1f} s")
        tell(outages)


def load(session: gt.Session, folder: Path) -> gt.CatalogGraph:
    """The grid as a graph: buses with their voltage, branches with their reactance."""
    grid = session.load(
        "Grid",
        vertices=str(folder / BUSES),
        edges=str(folder / BRANCHES),
        id="bus",
        src="fbus",
        dst="tbus",
    )
    print(f"{grid.num_vertices:,} buses, {grid.num_edges:,} branches")
    return grid


def tell(outages: gt.Collection) -> None:
    """Components of all outages, both ways; the sizes of what is split off."""
    shared = outages.run(gt.algorithms.WCC)
    scratch = outages.run(gt.algorithms.WCC, name="scratch", strategy="scratch")
    for name, run in (("shared", shared), ("each from scratch", scratch)):
        print(f"components of all outages, {name}: {run.seconds:.3f} s")
    summary = shared.summary()
    buses = len(shared.values(0))
    split = np.flatnonzero(summary["components"].to_numpy() > 1)
    lost = buses - summary["largest"].to_numpy()[split]
    print(f"{len(split):,} of {len(shared):,} outages split the grid")
    for size, number in sorted(Counter(lost.tolist()).items()):
        print(f"  {number:,} cut off {size:,} {'bus' if size == 1 else 'buses'}")


if __name__ == "__main__":
    main()
