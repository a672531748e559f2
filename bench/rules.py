"""Rules and relational views: `python -m bench rules [--part PART]`.

What the dataflow engine needs for them, the queries of TPC-H maintained, Datalog, and that beside
other engines and on the facts of a real program, through `graphtide` alone. Times are medians in
seconds of the processor, taken in turns where two are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bench.figures import Figure
from bench.rules_analysis import analysis_figures
from bench.rules_datalog import datalog_figures
from bench.rules_engine import engine_figures
from bench.rules_interactive import interactive_figures
from bench.rules_peers import peer_figures
from bench.rules_tpch import all_tpch_figures, tpch_figures
from bench.rules_workers import worker_figures

PARTS: dict[str, Callable[..., Iterable[Figure]]] = {
    "engine": engine_figures,
    "tpch": tpch_figures,
    "tpch-all": all_tpch_figures,
    "datalog": datalog_figures,
    "peers": peer_figures,
    "analysis": analysis_figures,
    "interactive": interactive_figures,
    "workers": worker_figures,
}


def run(*, quick: bool, part: str | None = None) -> list[Figure]:
    """All figures of this benchmark, or those of one part."""
    chosen = PARTS.values() if part is None else [PARTS[part]]
    return [figure for figures in chosen for figure in figures(quick=quick)]
