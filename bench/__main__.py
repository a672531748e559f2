"""`python -m bench NAME [--part PART] [--json FILE] [--quick]`: run one benchmark, or all.

Exit code 0 if every figure that was measured is held, 1 if one is missed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from pathlib import Path
from types import ModuleType

from bench.figures import print_figures, write_json

BENCHMARKS = {
    "headlines": "the figures of the README, as users get them",
    "views": "from a stored graph to a stored collection",
    "engine": "programs kept current",
    "runs": "one computation over a whole collection",
    "dataflow": "the dataflow engine beside Differential Dataflow, and by itself",
    "rules": "Datalog and relational views",
    "walks": "walks kept current",
    "live": "queries kept current",
    "durable": "live graphs on disk",
    "streams": "streams into live graphs",
    "cluster": "runs by several workers",
    "page": "the page in a browser",
}
APART = {"first": "what a new user waits for: makes an environment and installs a wheel"}
"""Not among `all`."""
MODULES = {"durable": "live_durable", "streams": "live_streams"}


def main() -> int:
    """Parse the command line, run, report."""
    parser = _parser()
    chosen = parser.parse_args()
    quick = " (quick: the bars are not meant for this)" if chosen.quick else ""
    figures = []
    for name in BENCHMARKS if chosen.name == "all" else (chosen.name,):
        if chosen.part is not None and chosen.part not in parts_of(name):
            known = ", ".join(parts_of(name)) or "no parts"
            parser.error(f"the benchmark {name} has no part {chosen.part}: it has {known}")
        module = _module(name)
        gc.freeze()  # Each figure begins with a collection, which need not look through imports.
        part = {} if chosen.part is None else {"part": chosen.part}
        measured = module.run(quick=chosen.quick, **part)
        print_figures(name + quick, measured)
        figures += measured
    if chosen.json:
        write_json(chosen.json, chosen.name + quick, figures)
    return 1 if any(item.missed for item in figures) and not chosen.quick else 0


def parts_of(name: str) -> tuple[str, ...]:
    """The parts that a benchmark can be asked for by name."""
    return tuple(getattr(_module(name), "PARTS", ()))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"bench.{MODULES.get(name, name)}")


def _parser() -> argparse.ArgumentParser:
    helps = {"-h", "--help"} & set(sys.argv)
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog=_listing() if helps else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = (*BENCHMARKS, *APART, "all")
    parser.add_argument("name", choices=names, metavar="NAME", help="one of those below")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--quick", action="store_true", help="small inputs: a smoke test only")
    parser.add_argument("--part", metavar="PART", help="of a benchmark with parts, this one alone")
    return parser


def _listing() -> str:
    """All benchmarks with their parts, which their modules know."""
    lines = ["benchmarks:"]
    for name, text in (BENCHMARKS | APART).items():
        parts = ", ".join(parts_of(name))
        lines.append(f"  {name:<10} {text}" + (f"; parts: {parts}" if parts else ""))
    return "\n".join([*lines, f"  {'all':<10} all but first"])


if __name__ == "__main__":
    raise SystemExit(main())
