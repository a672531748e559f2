"""The page in a browser: how long until there is a picture, a step of the slider, a frame.

com-dblp with 252 views and a run of components, sx-mathoverflow with 2,351 views and ranks, stored
and served as users do it: each by a server in a process of its own, which is warm. Milliseconds are
those of the browser's clock, from what the user does until the frame that shows it is drawn.
Memory is that of the server beside that of a process that makes the run and holds it.

    python -m bench page [--quick] [--json FILE]
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.runs_graphs import read_edges
from graphtide.web.saved import EDITOR, STATIC
from tests.web.browser import Browser, Page, installed

AUTHORS, COMMUNITIES, ANSWERS = (
    "com-dblp.txt.gz",
    "com-dblp-communities.txt.gz",
    "sx-mathoverflow.txt.gz",
)
DAY = 86_400
CATALOG, PICTURE, TABLE, DRAWING, FRAME = 300, 1_000, 150, 300, 33
"""Milliseconds."""
TIMES_THE_RUN, FOLLOWED, WHEEL, LIBRARIES = 2, 1.03, 2.0, 150
DRAWN, PANNED = 2_000, 50_000
ROUNDS, STEPS, TURNS = 5, 15, 5


@dataclass(frozen=True)
class Case:
    """A graph with a collection and a program to run over it."""

    title: str
    collection: str
    statement: str
    program: str

    @property
    def run(self) -> str:
        """What its run is called."""
        return f"{self.collection}-run"


REMOVALS = Case(
    "com-dblp, components",
    "removals",
    "without 5 of (for i in 0..9 [c{i}: src.c{i} or dst.c{i}])",
    "wcc",
)
WINDOWS = Case(
    "sx-mathoverflow, ranks",
    "days",
    "for d in 0..LAST [upto-{d}: day <= d]",
    "page_rank(iterations=10)",
)


def run(*, quick: bool) -> list[Figure]:
    """All figures; quickly on small graphs of the same shape."""
    figures = list(sizes())
    if installed() is None:
        reason = "skipped: no browser is installed here (apt-get install chromium)"
        return [*figures, *_skipped(reason)]
    if quick:
        with data.stand_ins():
            return [*figures, *_measured(quick=True)]
    return [*figures, *_measured(quick=False)]


def sizes() -> Iterator[Figure]:
    """What the page adds to the wheel, and what a browser loads where nobody opens the editor."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in STATIC.parent.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(STATIC.parent))
    grown = len(packed.getvalue()) / 1e6
    yield Figure("growth of the wheel", grown, "at most", WHEEL, "MB", section="sizes")
    libraries: list[float] = []
    own: list[float] = []
    for path in STATIC.rglob("*"):
        if path.suffix in {".js", ".css", ".html", ".svg"} and path != STATIC / EDITOR:
            known = libraries if "vendor" in path.parts else own
            known.append(len(gzip.compress(path.read_bytes())) / 1e3)
    name = "libraries but the editor, gzipped"
    yield Figure(name, sum(libraries), "below", LIBRARIES, "kB", section="sizes")
    note = f"{len(own)} files, as they are read, with their comments"
    yield Figure("the page's own files, gzipped", sum(own), "below", None, "kB", note, "sizes")


def _skipped(reason: str) -> Iterator[Figure]:
    for case in (REMOVALS, WINDOWS):
        yield Figure("first picture of a run", None, "at most", PICTURE, "ms", reason, case.title)


def _measured(*, quick: bool) -> Iterator[Figure]:
    for case, file in ((REMOVALS, AUTHORS), (WINDOWS, ANSWERS)):
        if data.find(file) is None or (case is REMOVALS and data.find(COMMUNITIES) is None):
            name = "first picture of a run"
            yield Figure(name, None, "at most", PICTURE, "ms", data.missing(file), case.title)
            continue
        with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
            _child("make", folder, case.collection, str(int(quick)))
            alone = float(_child("hold", folder, case.collection))
            with Served(folder) as served, Browser() as browser:
                yield from _of_case(case, served, browser, alone, quick)


def _of_case(
    case: Case, served: Served, browser: Browser, alone: float, quick: bool
) -> Iterator[Figure]:
    site = Site(browser, served.address, 2 if quick else ROUNDS, 3 if quick else STEPS)
    place = f"run/{case.run}"
    middle, last = (f"view={quote(view)}" for view in json.loads(served.ask(f"views {case.run}")))
    yield _figure("first picture of the catalog", site.first("", _CATALOG), CATALOG, case)
    yield _figure("first picture of a run", site.first(place, _RUN), PICTURE, case)
    table = site.steps(f"{place}?{middle}", _TABLE)
    yield _figure("a step of the slider, table", table, TABLE, case)
    drawn = site.steps(f"{place}?{middle}&tab=graph&g_most={DRAWN}", _DRAWING)
    yield _figure(f"a step of the slider, drawing of {DRAWN:,} edges", drawn, DRAWING, case)
    frames, edges = site.pan(f"{place}?{last}&tab=graph&g_sample=1&g_most={PANNED}")
    drawing, between = (statistics.median(found) for found in zip(*frames, strict=True))
    note = f"{edges}; {between:.0f} ms from frame to frame by WebGL without graphics"
    yield Figure("drawing a frame while panning", drawing, "at most", FRAME, "ms", note, case.title)
    peak = float(served.ask("peak"))
    note = f"{peak:.0f} MB, the run {alone:.0f} MB"
    name = "memory of the server over that of the run"
    yield Figure(name, peak / alone, "below", TIMES_THE_RUN, "x", note, case.title)
    yield _followed(case, served, site, 1 if quick else TURNS)


def _figure(name: str, took: list[float], bar: float, case: Case) -> Figure:
    note = f"{min(took):.0f} to {max(took):.0f} ms in {len(took)}"
    return Figure(name, statistics.median(took), "at most", bar, "ms", note, case.title)


def _followed(case: Case, served: Served, site: Site, turns: int) -> Figure:
    """The same run with nobody looking, and with the page open at it, in turns.

    Processor time of the server, which makes the run and answers the page. The page is open before,
    as it is for whoever begins a run in it: a browser that starts takes processors from all others.
    """
    alone: list[tuple[float, ...]] = []
    followed: list[tuple[float, ...]] = []
    for turn in range(turns + 1):
        for found, looks in ((alone, False), (followed, True)):
            name = f"{case.collection}-{turn}-{'seen' if looks else 'alone'}"
            page = site.open("jobs")
            page.wait("h1")
            job = served.ask(f"begin run {case.program} on collection {case.collection} as {name}")
            page.evaluate(f"location.hash = '#/{'run/' + name if looks else 'gone'}'")
            took = tuple(map(float, served.ask(f"wait {job}").split()))
            page.close()
            if turn or turns == 1:
                found.append(took)
    (one, waited), (other, before) = (
        map(statistics.median, zip(*found, strict=True)) for found in (followed, alone)
    )
    note = f"{one:.3g} s over {other:.3g} s, {waited:.3g} and {before:.3g} s by the clock"
    return Figure("a run that is followed", one / other, "at most", FOLLOWED, "x", note, case.title)


class Site:
    """A served page, as a user meets it again and again."""

    def __init__(self, browser: Browser, address: str, rounds: int, steps: int) -> None:
        self._browser, self._address = browser, address
        self._rounds, self._steps = rounds, steps

    def open(self, place: str) -> Page:
        """A page of its own at a place."""
        return self._browser.open(f"{self._address}#/{place}")

    def first(self, place: str, ready: str) -> list[float]:
        """Milliseconds from opening the address to the frame that shows it, the cache empty."""
        found = []
        for turn in range(self._rounds + 1):
            page = self._browser.open("about:blank")
            script = _FIRST.replace("READY", ready)
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
            page.go(f"{self._address}#/{place}")
            took = page.evaluate("window.graphtideShown")
            page.close()
            if turn:
                found.append(float(took))
        return found

    def steps(self, place: str, ready: str) -> list[float]:
        """Milliseconds from a key to the frame that shows the next view, of so many steps."""
        page = self.open(place)
        page.wait("input[type=range]")
        page.until(f"({ready})(document.querySelector('.name-box input').value)")
        found = []
        for turn in range(self._steps + 1):
            page.evaluate("document.querySelector('input[type=range]').focus()")
            page.evaluate(_STEP.replace("READY", ready))
            page.key("ArrowRight")
            took = page.evaluate("window.graphtideStepped")
            if turn:
                found.append(float(took))
        page.close()
        return found

    def pan(self, place: str) -> tuple[list[tuple[float, float]], str]:
        """Of each frame while a drawing is dragged, the milliseconds that the page took to draw it
        and those since the last one; and what the drawing holds.
        """
        page = self.open(place)
        page.until("document.querySelector('[data-layout]')?.dataset.layout !== 'moving'", 300)
        x, y = page.middle(".drawing-canvas")
        page.evaluate(_FRAMES)
        for turn in range(4):
            away = 120 if turn % 2 else -120
            page.drag((x, y), (x + away, y + away / 2), steps=10)
        frames = [(one, other) for one, other in page.evaluate("graphtideFrames.slice(1)")]
        said = page.text(".drawing-facts")
        page.close()
        return frames, said.split(";")[0][:80]


_CATALOG = "() => document.querySelector('.item')"
_RUN = "() => document.querySelector('main canvas') && document.querySelector('.table tbody tr')"
_TABLE = """(view) => !document.querySelector('.table[aria-busy=true]')
  && performance.getEntriesByType('resource').some(({ name }) => name.includes('/table?')
    && new URL(name).searchParams.get('view') === view)"""
_DRAWING = """(view) => document.querySelector('.drawing-canvas')?.dataset.view === view
  || document.querySelector('.drawing')?.dataset.view === view"""
_FIRST = """window.graphtideShown = new Promise((resolve) => {
  const ready = READY;
  const look = () => ready()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
    : requestAnimationFrame(look);
  requestAnimationFrame(look);
})"""
_STEP = """void (window.graphtideStepped = new Promise((resolve) => {
  const ready = READY, box = document.querySelector('.name-box input'), before = box.value;
  performance.setResourceTimingBufferSize(10000);
  addEventListener('keydown', () => {
    const began = performance.now();
    const look = () => box.value !== before && ready(box.value)
      ? requestAnimationFrame(() => resolve(performance.now() - began))
      : requestAnimationFrame(look);
    requestAnimationFrame(look);
  }, { once: true, capture: true });
}))"""
_FRAMES = """void (() => {
  window.graphtideFrames = [];
  let last = performance.now();
  const note = (now) => {
    const drawing = Number(document.querySelector('[data-frame]').dataset.frame);
    graphtideFrames.push([drawing, now - last]);
    last = now;
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
})()"""


# What other processes do


class Served:
    """A server in a process of its own, until the block ends."""

    def __init__(self, folder: str) -> None:
        command = [sys.executable, "-m", "bench.page", "serve", folder]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = self._answer()

    def ask(self, command: str) -> str:
        """What it answers to a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._process.wait()}")
        return line.strip()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _child(*words: str) -> str:
    """What a process of this module prints last."""
    command = [sys.executable, "-m", "bench.page", *words]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return found.stdout.strip().splitlines()[-1] if found.stdout.strip() else ""


def make(folder: str, name: str, quick: bool) -> None:
    """Load the graph of a case, and make its collection and its run."""
    session = gt.session(folder, progress=False)
    if name == REMOVALS.collection:
        case, (edges, more) = REMOVALS, _authors(quick)
        statement = case.statement if not quick else case.statement.replace("5 of", "2 of")
        statement = statement.replace("0..9", "0..3") if quick else statement
        graph = session.load("authors", edges, directed=False, **more)
    else:
        case, edges = WINDOWS, _answers(quick)
        last = int(edges.column("day").to_numpy().max())
        statement = case.statement.replace("LAST", str(last))
        graph = session.load("answers", edges)
    graph.collection(case.collection, statement)
    session.execute(f"run {case.program} on collection {case.collection} as {case.run}")


def _authors(quick: bool) -> tuple[pa.Table, dict[str, Any]]:
    table, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    path = data.find(AUTHORS)
    assert table is not None
    assert groups is not None
    assert path is not None
    largest = data.largest_communities(groups, 4 if quick else 10)
    edges = pa.table({"src": table.ids[table.src], "dst": table.ids[table.dst]})
    return edges, {"vertices": data.community_vertices(path, largest)}


def _answers(quick: bool) -> pa.Table:
    table = read_edges(ANSWERS, directed=True)
    assert table is not None
    day = (table.time - table.time.min()) // (DAY * (30 if quick else 1))
    ids = table.ids
    return pa.table({"src": ids[table.src], "dst": ids[table.dst], "day": day.astype(np.int64)})


def hold(folder: str, name: str) -> None:
    """Make the run of a collection, hold it, and print the megabytes that it took at the peak."""
    case = REMOVALS if name == REMOVALS.collection else WINDOWS
    session = gt.session(folder, progress=False)
    session.execute(f"run {case.program} on collection {name} as held")
    held = session.results("held")
    held.table(held.views[-1])
    print(_peak())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def serve(folder: str) -> None:
    """Serve a store, and do what lines of standard input say."""
    from graphtide.web import jobs
    from graphtide.web.opening import open_page

    session = gt.session(folder, progress=False)
    lines: list[str] = []
    page = open_page(session=session, allow_changes=True, browser=False, report=lines.append)
    shelf = page._server.shelf
    print(page.address, flush=True)

    def views(run: str) -> str:
        """One from the middle, and the last."""
        names = session.results(run).views
        return json.dumps([names[len(names) // 2], names[-1]])

    began = {}

    def begin(text: str) -> str:
        used = time.process_time()
        job = jobs.begin_job(shelf, {"statement": text})["id"]
        began[job] = used
        return str(job)

    def wait(job: str) -> str:
        jobs.jobs_of(shelf).get(job).wait_for_end(3600)
        shown = jobs.show_job(shelf, job, {})
        if shown["state"] != "done":
            raise RuntimeError(f"{shown['statement']}: {shown['problem']}")
        return f"{time.process_time() - began[job]} {shown['seconds']}"

    acts: dict[str, Callable[[str], object]] = {
        "peak": lambda _: _peak(),
        "views": views,
        "begin": begin,
        "wait": wait,
    }
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        print(acts[word](rest), flush=True)
    page.close()


if __name__ == "__main__":
    # What programs print while they compile is no answer.
    os.environ.setdefault("GRAPHTIDE_QUIET", "1")
    role, *words = sys.argv[1:]
    match role:
        case "make":
            make(words[0], words[1], words[2] == "1")
        case "hold":
            hold(*words)
        case "serve":
            serve(*words)
