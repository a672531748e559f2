"""Walks kept current: `python -m bench walks`.

Triangles, clustering coefficients, rings, and walks that read state, through `graphtide` alone,
beside plain compiled loops, igraph, NetworKit and the delta queries of Differential Dataflow
(`dogsdogsdogs`) in the same run. Times are medians of single-threaded calls, in seconds of the
processor; all answers are compared.
"""

from __future__ import annotations

from bench import data
from bench.figures import Figure, say
from bench.streams import Size
from bench.walks_batches import SIZES, batch_figures, hub_figures
from bench.walks_inputs import real_pairs, rmat_pairs
from bench.walks_memory import memory_figures
from bench.walks_rings import ring_figures
from bench.walks_rounds import round_figures
from bench.walks_scratch import scratch_figures
from bench.walks_supports import search_figures, support_figures
from bench.walks_views import view_figures

REAL, SCALE, HUB = "com-dblp", 16, 100_000
SUPPORTS = 12
"""Two steps from everywhere are too many on a larger graph with hubs."""
QUICK = Size(1, 0, 1), Size(5, 5, 1)
QUICK_ROUNDS = (Size(1, 1, 1),)


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark; quickly on small graphs of the same shape."""
    if not quick:
        return _figures(SIZES, SCALE, HUB, quick=False)
    with data.stand_ins():
        return _figures(QUICK, 5, 20, quick=True)


def _figures(sizes: tuple[Size, ...], scale: int, hub: int, *, quick: bool) -> list[Figure]:
    figures: list[Figure] = []
    for name in (REAL, f"RMAT {scale}"):
        pairs = real_pairs(REAL) if name == REAL else rmat_pairs(scale)
        if pairs is None:
            reason = data.missing(f"{REAL}.txt.gz")
            figures.append(Figure(f"{REAL}, all", None, "at most", 1, "x", reason, REAL))
            continue
        say(f"{name}: from scratch")
        figures += scratch_figures(pairs, 1 if quick else 5)
        say(f"{name}: batches")
        figures += batch_figures(pairs, sizes, build=not quick)
        if name == REAL:
            say(f"{name}: walks that read state")
            figures += round_figures(pairs, *([QUICK_ROUNDS] if quick else []))
    say("beside a hub")
    figures += hub_figures(hub, 2 if quick else 300)
    say("least values at hubs")
    figures += support_figures(rmat_pairs(5 if quick else SUPPORTS), *([2] if quick else []))
    figures += search_figures(rmat_pairs(scale), *([2] if quick else []))
    say("collections")
    figures += view_figures(quick=quick)
    say("rings")
    figures += ring_figures()
    say("memory")
    graphs = (REAL, str(scale)) if data.find(f"{REAL}.txt.gz") else (str(scale),)
    return [*figures, *memory_figures(graphs)]
