"""`python -m bench NAME [--json FILE] [--quick]`: run one benchmark and print its figures.

Exit code 0 if every figure that was measured is held, 1 if one is missed.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from bench.figures import print_figures, write_json

HERE = Path(__file__).parent
BENCHMARKS = tuple(
    name for name in ("views", "engine", "dataflow", "runs") if (HERE / f"{name}.py").is_file()
)


def main() -> int:
    """Parse the command line, run, report."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=BENCHMARKS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--quick", action="store_true", help="small inputs: a smoke test only")
    chosen = parser.parse_args()
    benchmark = importlib.import_module(f"bench.{chosen.name}")
    figures = benchmark.run(quick=chosen.quick)
    title = f"{chosen.name}{' (quick: the bars are not meant for this)' if chosen.quick else ''}"
    print_figures(title, figures)
    if chosen.json:
        write_json(chosen.json, title, figures)
    return 1 if any(item.missed for item in figures) and not chosen.quick else 0


if __name__ == "__main__":
    raise SystemExit(main())
