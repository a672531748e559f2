"""`python -m bench NAME [--part PART] [--json FILE] [--quick]`: run one benchmark, or all.

Exit code 0 if every figure that was measured is held, 1 if one is missed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
from pathlib import Path

from bench.figures import print_figures, write_json

BENCHMARKS = (
    "headlines",
    "views",
    "engine",
    "runs",
    "dataflow",
    "rules",
    "walks",
    "live",
    "durable",
    "streams",
    "cluster",
)
MODULES = {"durable": "live_durable", "streams": "live_streams"}


def main() -> int:
    """Parse the command line, run, report."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=(*BENCHMARKS, "first", "all"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--quick", action="store_true", help="small inputs: a smoke test only")
    parser.add_argument("--part", metavar="PART", help="of a benchmark with parts, this one alone")
    chosen = parser.parse_args()
    quick = " (quick: the bars are not meant for this)" if chosen.quick else ""
    figures = []
    for name in BENCHMARKS if chosen.name == "all" else (chosen.name,):
        module = importlib.import_module(f"bench.{MODULES.get(name, name)}")
        if chosen.part is not None and chosen.part not in getattr(module, "PARTS", ()):
            parser.error(f"the benchmark {name} has no part {chosen.part}")
        gc.freeze()  # Each figure begins with a collection, which need not look through imports.
        part = {} if chosen.part is None else {"part": chosen.part}
        found = module.run(quick=chosen.quick, **part)
        print_figures(name + quick, found)
        figures += found
    if chosen.json:
        write_json(chosen.json, chosen.name + quick, figures)
    return 1 if any(item.missed for item in figures) and not chosen.quick else 0


if __name__ == "__main__":
    raise SystemExit(main())
