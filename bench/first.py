"""What a new user waits for: `python -m bench first`.

It makes the wheel (`make wheel`), installs it into an environment of its own with an empty cache,
and times first answers there: of the library, which nothing must be compiled for, of a program of
the user's own, and of a dataflow where the wheel's machine code is taken away. It has its own
command because it installs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.data import ROOT
from bench.figures import Figure

SECTION = "first answers"

WCC = """
import graphtide as gt
graph = gt.Graph([1, 2, 3], [2, 3, 1])
print(graph.maintain(gt.algorithms.WCC)["component"])
"""
PAGE_RANK = """
import graphtide as gt
graph = gt.Graph([1, 2, 3], [2, 3, 1])
print(graph.maintain(gt.algorithms.PageRank)["rank"])
"""
DATAFLOW = """
import graphtide as gt
flow = gt.Dataflow()
edges, roots = flow.input("edges", src=int, dst=int), flow.input("roots", node=int)
def step(reached):
    further = reached.join_map(edges, on={"node": "src"}, node=gt.dataflow.col.dst)
    return further.concat(roots).distinct()
output = roots.iterate(step).output()
edges.insert([(1, 2), (2, 3)])
roots.insert([(1,)])
flow.advance()
print(sorted(output.records()))
"""
OWN = """
import numpy as np
import graphtide as gt
@gt.program
class Cheapest:
    source: gt.Vertex
    cost: float = gt.inf
    found = gt.Min(float)
    def initialize(self, v): v.cost = 1.0 if v == self.source else gt.inf
    def traverse(self, u, e, v): v.found(u.cost * (1.0 + e.fee))
    def update(self, v): v.cost = min(v.cost, v.found)
graph = gt.Graph([1, 2, 3], [2, 3, 1], fee=[0.1, 0.2, 0.3])
live = graph.maintain(Cheapest(source=1))
live.advance(insert=[(1, 3, 0.05)], delete=[(2, 3)])
graph.run(Cheapest(source=1), [np.arange(3) != out for out in range(3)])
print(live["cost"])
"""
TIMED = """
import resource, sys, time
began = time.perf_counter()
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), {"__name__": "__main__"})
used = resource.getrusage(resource.RUSAGE_SELF)
print("TOOK", time.perf_counter() - began, used.ru_utime + used.ru_stime)
"""


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark; `quick` leaves everything out that would install."""
    if quick:
        return [Figure("first answers", None, "below", 3, "s", "it installs", SECTION)]
    with tempfile.TemporaryDirectory() as folder:
        python = _installed(Path(folder))
        figures = [
            _library(python, Path(folder), "WCC", WCC),
            _library(python, Path(folder), "PageRank", PAGE_RANK),
            _library(python, Path(folder), "a dataflow", DATAFLOW),
        ]
        return [*figures, _own(python, Path(folder)), _cold_dataflow(python, Path(folder))]


def _installed(folder: Path) -> Path:
    """The Python of a fresh environment that has the wheel and nothing else of ours."""
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_wheel.py"), str(folder)], check=True)
    (wheel,) = folder.glob("graphtide-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    return python


def _timed(python: Path, script: str, cache: Path) -> tuple[float, float]:
    """Wall and processor seconds of a script in a process of its own.

    The script is a file: the text of a program is read from where it stands.
    """
    file = cache.with_suffix(".py")
    file.write_text(script, "utf-8")
    environment = {**os.environ, "GRAPHTIDE_CACHE": str(cache), "PYTHONPATH": ""}
    began = time.perf_counter()
    command = [str(python), "-c", TIMED, str(file)]
    found = subprocess.run(command, check=True, capture_output=True, env=environment, text=True)
    wall = time.perf_counter() - began
    *_, line = (line for line in found.stdout.splitlines() if line.startswith("TOOK"))
    return wall, float(line.split()[2])


def _library(python: Path, folder: Path, name: str, script: str) -> Figure:
    cache = Path(tempfile.mkdtemp(dir=folder))
    wall, used = _timed(python, script, cache)
    compiled = len(list(cache.rglob("*.nbc")))
    note = f"{used:.1f} s of processor time; {compiled} kernels compiled"
    return Figure(f"{name}, from the shell", wall, "below", 3, "s", note, SECTION)


def _own(python: Path, folder: Path) -> Figure:
    """A program that the wheel does not know, maintained and run, less what starting takes."""
    _, started = _timed(python, WCC, Path(tempfile.mkdtemp(dir=folder)))
    _, used = _timed(python, OWN, Path(tempfile.mkdtemp(dir=folder)))
    name = "a program of one's own, maintained and run: processor time"
    note = f"{used:.1f} s, of which {started:.1f} s for starting"
    return Figure(name, used - started, "at most", 6, "s", note, SECTION)


def _cold_dataflow(python: Path, folder: Path) -> Figure:
    """A dataflow where there is no machine code at all."""
    home = subprocess.run(
        [python, "-c", "import graphtide; print(graphtide.__path__[0])"],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ""},
        text=True,
    ).stdout.strip()
    manifest = Path(home) / "machine_code" / "manifest.json"
    told = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**told, "kernels": "others"}))
    _, used = _timed(python, DATAFLOW, Path(tempfile.mkdtemp(dir=folder)))
    name = "a dataflow without machine code: processor time"
    return Figure(name, used, "at most", 30, "s", "", SECTION)
