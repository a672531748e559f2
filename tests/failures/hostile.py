"""Folders that somebody else made: `python -m tests.failures.hostile --minutes 10 --seed 7`.

Each case takes a copy of a store, changes it as somebody would who wants to do harm and knows the
formats (checksums and pointers are made to fit), and then does with it what users do. What must
hold, whatever was changed:

- nothing that the folder holds is carried out or imported, and no process or socket is made;
- nothing is written, removed or renamed outside of the store and of what the user names;
- nothing hangs, and nothing takes memory by what a number in a file says;
- what goes wrong is an error of ours.

The first two are watched by an audit hook of Python, which sees every call. It cannot be removed,
so cases run in a process of their own. A seed and the number of a case repeat it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pyarrow as pa

import graphtide as gt
from graphtide.algorithms import BFS
from graphtide.store.seal import seal, unseal
from tests.damage.small_store import readings, write_store

SECONDS = 60
"""No case takes so long; one that does hangs."""
ROOM = 3 << 30
"""Bytes that the process may take besides those that it has; no case needs so many."""

CANARY = "ran"
"""The file that everything writes which is carried out."""
OUTSIDE = "outside"

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.utime"}
_DESCRIPTORS = {"os.remove", "os.rmdir", "os.mkdir"}
_TWO_PATHS = {"os.rename", "os.link", "os.symlink"}
_NEVER = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system")
_NEVER += ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")
_NEVER += ("ctypes.dlopen", "pickle.", "marshal.", "code.__new__", "webbrowser.", "os.startfile")

Change = Callable[[random.Random, Path], str]
Use = Callable[[Path], None]


class Watch:
    """The hook: while it is armed, it notes what nobody may do."""

    def __init__(self, below: Path) -> None:
        self.armed = False
        self.noted: list[str] = []
        self._below = os.path.realpath(below)
        home = Path(gt.__file__).parent
        self._code = (str(home), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))
        self._cache = os.path.realpath(os.environ["GRAPHTIDE_CACHE"])
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        self.armed = False
        try:
            problem = self._problem(event, given)
            if problem:
                stack = "".join(traceback.format_stack(sys._getframe(1), limit=6))
                self.noted.append(f"{event}: {problem}\n{stack}")
        finally:
            self.armed = True

    def _problem(self, event: str, given: tuple[Any, ...]) -> str | None:
        if event == "exec":
            return self._foreign_code(given[0])
        if event == "import":
            name = str(given[0]).partition(".")[0]
            return f"the module {name}" if name.startswith("planted") else None
        if event == "open":
            path, mode, flags = given
            writes = (flags or 0) & _WRITES or (isinstance(mode, str) and set(mode) & set("wax+"))
            return self._outside(path) if writes else None
        if event in _CHANGES:
            return self._outside(given[0], given[-1] if event in _DESCRIPTORS else -1)
        if event in _TWO_PATHS:
            return self._outside(given[0]) or self._outside(given[1])
        return repr(given)[:200] if event.startswith(_NEVER) else None

    def _foreign_code(self, code: Any) -> str | None:
        """Code may come from what is installed, and from what we generate into the cache."""
        name = getattr(code, "co_filename", "")
        if name.startswith((*self._code, "<frozen", self._cache)):
            return None
        frame: FrameType | None = sys._getframe(3)
        caller = frame.f_code.co_filename if frame else ""
        library = caller.startswith(self._code[1:]) and not caller.startswith(self._code[0])
        return None if library else f"{name} by {caller}"

    def _outside(self, path: Any, folder: int = -1) -> str | None:
        if isinstance(path, int):
            return None
        if folder >= 0:
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))
        real = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
        allowed = real.startswith((self._below + "/work", self._cache)) or real == "/dev"
        return None if allowed else f"{os.fsdecode(path)}"


# ---- what there is


def write_stores(root: Path) -> None:
    """A catalog with one of everything, a live graph with one of every program, and a copy."""
    catalog = root / "catalog"
    write_store(catalog)
    rows = {"src": [0, 1, 0, 2], "dst": [1, 2, 1, 0], "weight": [1.0, 2.0, 1.0, 0.5]}
    kinds = {"kind": ["b", "c", "b", "a"]}
    live = gt.live(root / "live", gt.Graph.from_frame(pa.table(rows | kinds)))
    for name, program in programs().items():
        live.register(name, program)
    for name, query in queries().items():
        live.query(name, query)
    live.deliver("hops", lambda *_: None, consumer="reader")
    live.set_landmarks(2)
    live.advance(insert=[(3, 1, 1.0, "d")])
    live.checkpoint()
    live.advance(insert=[(3, 4, 1.5, "d")], delete=[(0, 1)], id="second")
    live.close()
    gt.session(catalog, progress=False).execute(f"use graph Calls; serialize to '{root / 'copy'}';")


def programs() -> dict[str, Any]:
    """One of each kind that a live graph stores."""
    rules = ".decl edge(u: vertex, v: vertex)\n.decl two(u: vertex, v: vertex)\n.output two\n"
    (root := Path(tempfile.mkdtemp()) / "flows.dl").write_text(
        rules + "two(a, c) :- edge(a, b), edge(b, c).\n"
    )
    from graphtide.lang.python.program_files import programs_of

    (two,) = programs_of(root).values()
    return {"hops": BFS(source=0), "own": Own(least=0.5), "reach": Heavy, "two": two, "into": Into}


@gt.program
class Own:
    """Is stored as a text of Python: names change in it."""

    least: float
    n: int
    found = gt.Sum(int)

    def traverse(self, u, e, v):
        if e["weight"] >= self.least:
            v.found(1)

    def update(self, v):
        old = v.n
        v.n = v.found
        v.n = v.n + old - old


@gt.program
class Heavy:
    """Is stored as a text of L_NGA."""

    dist = gt.State(float, default=0.0)
    best = gt.Max(float)

    def traverse(self, u, e, v):
        v.best(e.weight)

    def update(self, v):
        v.dist = max(v.best, 0.0)


@gt.dataflow.program("into", int, missing=0)
def Into(edges: Any) -> Any:
    """Is stored by its name."""
    return edges.count(by="dst")


def queries() -> dict[str, Any]:
    """One of each kind."""
    q = gt.queries
    return {
        "path": q.Path(0, 2),
        "paths": q.Paths([(0, 2), (1, 2)]),
        "hops2": q.Hops(0, 2),
        "far": q.Reach(0),
    }


# ---- what users do


def use_catalog(work: Path) -> None:
    """Read all that is stored, and take a copy in."""
    session = gt.session(work / "catalog", progress=False)
    for read in readings().values():
        with ours():
            read(session)
    with ours():
        session.check()
    with ours():
        session.execute("show graphs; delete run years-WCC;")


def use_copy(work: Path) -> None:
    """Take a copy in, and read it."""
    session = gt.session(work / "catalog", progress=False)
    with ours():
        session.execute(f"deserialize from '{work / 'copy'}';")
    with ours():
        session.graph("Calls").edges()


def use_live(work: Path) -> None:
    """Look at a live graph, and then write it."""
    for options in ({"readonly": True}, {}, {"trust": False}):
        with ours(), gt.live(work / "live", **options) as graph:
            for name in graph.registered():
                with ours():
                    live = graph.program(name)
                    if live.fields:
                        live.table()
                with ours():
                    list(graph.changes(name, 0))
            with ours():
                [query.table() for query in graph.queries.values()]
            with ours():
                graph.edges(), graph.vertices(), graph.explain()
            if not graph.readonly:
                with ours():
                    graph.advance(insert=[(1, 5, 1.0, "e")])
                with ours():
                    graph.deliver("hops", lambda *_: None, consumer="reader")
                with ours():
                    graph.checkpoint()


refused: Counter[str] = Counter()


@contextmanager
def ours() -> Iterator[None]:
    """Errors of ours are what a hostile folder may end in; they are counted."""
    try:
        yield
    except gt.GraphtideError as error:
        refused[type(error).__name__] += 1


# ---- what is changed

BAD_NAMES = (
    "../../outside/PLANTED", "/tmp/graphtide-planted", "..", ".", "", "a//b", "a/../../b", "a\0b",
    "a\nb", "a\\b", "ü" * 200, "\ud800", "edges/../../../../outside/secret", "-" * 300, "con:",
    "manifest.json", "../CURRENT", "~/x", "$HOME/x", "%2e%2e/x",
)  # fmt: skip
RUN = f"__import__('pathlib').Path({CANARY!r}).touch()"
PAYLOADS: tuple[Any, ...] = (
    f"{RUN}\n@gt.program\nclass P:\n    n: int\n",
    f"@gt.program\nclass P:\n    x = {RUN}\n    def update(self, v): v.x = 1\n",
    f"@{RUN}\nclass P: pass", f"class P({RUN}): pass", "planted", "planted_module", "os", "system",
    "os.system", "__main__", "tests.failures.hostile", "builtins", "eval", "Into.build", ".", "",
    "x.dl", "/etc/passwd.dl", "../outside/secret.nga", "module", "python", "nga", "datalog",
    "library", "text", "algorithms", "__doc__", "BFS", "SCC", None, True, -1, 0, 1, 10**15, 2**63,
    2**64, -(2**63), 1e308, float("inf"), float("nan"), [], {}, [[]], {"a": 1}, [1, 2], "\ud800",
    "a\0b", "x\nimport planted\n", "int", "date", "9" * 5000, "(" * 300, "v" * 5000,
    f".decl two(u: vertex)\n.input two(filename=\"../{OUTSIDE}/secret\")\n.output two\n",
    f"e[\"x\\n{RUN}\"]",
)  # fmt: skip


def mutated(pick: random.Random, value: Any, names: tuple[Any, ...] = PAYLOADS) -> Any:
    """A JSON value with one thing in it changed."""
    if isinstance(value, dict) and value and pick.random() < 0.9:
        key = pick.choice(list(value))
        act = pick.random()
        if act < 0.1:
            return {other: item for other, item in value.items() if other != key}
        if act < 0.2:
            return {**value, str(pick.choice(names)): value[key]}
        return {**value, key: mutated(pick, value[key], names)}
    if isinstance(value, list) and value and pick.random() < 0.9:
        at = pick.randrange(len(value))
        if pick.random() < 0.15:
            return value[:at] + value[at + 1 :] if pick.random() < 0.5 else [*value, value[at]]
        return [*value[:at], mutated(pick, value[at], names), *value[at + 1 :]]
    if isinstance(value, str) and value and pick.random() < 0.5:
        at = pick.randrange(len(value) + 1)
        piece = pick.choice([item for item in names if isinstance(item, str)])
        return value[:at] + piece + value[at + pick.randrange(4) :]
    if isinstance(value, int) and not isinstance(value, bool) and pick.random() < 0.5:
        return value + pick.choice((-1, 1, 7, -value, 10**15, 2**31, 2**40))
    return pick.choice(names)


def change_manifest(pick: random.Random, folder: Path) -> str:
    """One manifest, anything in it; its seal and the pointers to it are made to fit."""
    path = pick.choice(sorted(folder.rglob("manifest.json")))
    content, old = unseal(path.read_bytes())
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        content = mutated(pick, content)
        if not isinstance(content, dict):
            content = {}
    return _write_manifest(path, content, old)


def change_names(pick: random.Random, folder: Path) -> str:
    """One manifest that lists a file under a name which leads elsewhere."""
    path = pick.choice(sorted(folder.rglob("manifest.json")))
    content, old = unseal(path.read_bytes())
    files = content["files"]
    known, name = pick.choice(list(files)), pick.choice(BAD_NAMES)
    entry = files[known]
    if pick.random() < 0.5:
        del files[known]
    files[name] = entry
    for entry in content:  # Other names that a manifest holds.
        if isinstance(content[entry], str) and pick.random() < 0.05:
            content[entry] = name
    return _write_manifest(path, content, old)


def _write_manifest(path: Path, content: dict[str, Any], old: str) -> str:
    content.pop("checksum", None)
    try:
        data, new = seal(content)
    except (UnicodeEncodeError, ValueError):
        data, new = b"{}", "00000000"
    path.write_bytes(data)
    for pointer in (*path.parent.parent.rglob("CURRENT"), *path.parent.parent.rglob("LAST")):
        pointer.write_bytes(pointer.read_bytes().replace(old.encode(), new.encode()))
    return str(path)


def change_pointer(pick: random.Random, folder: Path) -> str:
    """A pointer that names something else."""
    path = pick.choice([*sorted(folder.rglob("CURRENT")), *sorted(folder.rglob("LAST"))])
    name = pick.choice(BAD_NAMES)
    checksum = path.read_bytes().partition(b" ")[2] or b"00000000\n"
    path.write_bytes(name.encode(errors="surrogatepass") + b" " + checksum)
    return str(path)


def put_link(pick: random.Random, folder: Path) -> str:
    """In place of a file or folder: a link, a pipe, or something else."""
    entries = sorted(item for item in folder.rglob("*") if not item.is_symlink())
    path = pick.choice([item for item in entries if item.is_file() or pick.random() < 0.3])
    away = folder.parent.parent / OUTSIDE / "moved"
    kind = pick.choice(("link", "link", "dangling", "pipe", "folder", "device", "file", "hard"))
    if kind in ("link", "hard") and path.is_file():
        shutil.copy(path, away)
    elif kind == "link":
        shutil.copytree(path, away, symlinks=True)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    match kind:
        case "link":
            path.symlink_to(away)
        case "hard":
            os.link(away, path) if away.exists() else path.touch()
        case "dangling":
            path.symlink_to(away.with_name("PLANTED"))
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.write_bytes(pick.randbytes(100))
    return f"{kind} for {path}"


def change_records(pick: random.Random, folder: Path) -> str:
    """Programs, queries and settings in the log, or in the checkpoint, as nobody registers them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = gt.live(folder, trust=Into)
    said = []
    with graph:
        for at in range(pick.randint(1, 3)):
            state = graph._state
            kind = pick.choice(("register", "register", "register", "ask", "set"))
            if kind == "set":
                facts: dict[str, Any] = {"settings": mutated(pick, dict(state.settings))}
            else:
                known = state.registered if kind == "register" else state.queries
                stored = json.loads(json.dumps(known[pick.choice(list(known))]))
                for _ in range(pick.choice((1, 1, 2))):
                    stored = mutated(pick, stored)
                name = pick.choice((f"evil{at}", "hops", "path"))
                facts = {"name": name, "program" if kind == "register" else "query": stored}
            said.append(repr((kind, facts)))
            try:
                graph._writer.remember(kind, **facts)  # type: ignore[union-attr]
            except (ValueError, TypeError):  # It is in the log, or cannot be.
                break
        if pick.random() < 0.5:
            with suppress(gt.GraphtideError, ValueError):
                graph.checkpoint()
    return "; ".join(said)


CASES: tuple[tuple[str, Change, Use, int], ...] = (
    ("live", change_records, use_live, 6),
    ("live", change_manifest, use_live, 4),
    ("live", change_names, use_live, 2),
    ("live", change_pointer, use_live, 1),
    ("live", put_link, use_live, 3),
    ("catalog", change_manifest, use_catalog, 4),
    ("catalog", change_names, use_catalog, 2),
    ("catalog", change_pointer, use_catalog, 1),
    ("catalog", put_link, use_catalog, 3),
    ("copy", change_names, use_copy, 2),
    ("copy", change_manifest, use_copy, 2),
    ("copy", put_link, use_copy, 2),
)


class Cases:
    """Stores to take copies of, and cases to try on them."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.seed = root, seed
        self.stores, self.outside = root / "stores", root / OUTSIDE
        write_stores(self.stores)
        self.outside.mkdir()
        (self.outside / "secret").write_text("secret\n")
        (root / "planted.py").write_text(f"open({CANARY!r}, 'w')\n")
        (root / "planted_module.py").write_text(f"open({CANARY!r}, 'w')\n")
        os.chdir(root)
        sys.path.insert(0, str(root))
        self.watch = Watch(root)
        for use in dict.fromkeys(item[2] for item in CASES):  # Imports and generates what it needs.
            self._fresh()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(root / "work")
        refused.clear()

    def _fresh(self) -> Path:
        work = self.root / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.stores, work)
        for name in ("moved", "PLANTED"):
            path = self.outside / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return work

    def run(self, number: int) -> str | None:
        """What is wrong with a case; None where nothing is."""
        pick = random.Random(f"{self.seed} {number}")
        name, change, use, _ = pick.choices(CASES, [item[3] for item in CASES])[0]
        work = self._fresh()
        changed = change(pick, work / name)
        before = _tree(self.outside)
        problem = None
        signal.alarm(SECONDS)
        self.watch.noted.clear()
        self.watch.armed = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(work)
        except Exception:
            problem = traceback.format_exc()
        finally:
            self.watch.armed = False
            signal.alarm(0)
        problem = problem or next(iter(self.watch.noted), None)
        if (self.root / CANARY).exists():
            (self.root / CANARY).unlink()
            problem = f"carried out\n{problem}"
        if _tree(self.outside) != before:
            problem = f"changed outside\n{problem}"
        if problem is None:
            return None
        return (
            f"--seed {self.seed} --case {number}: {change.__name__} of {changed[:3000]}\n{problem}"
        )


def _tree(folder: Path) -> list[tuple[str, bytes]]:
    files = sorted(item for item in folder.rglob("*") if item.is_file() and not item.is_symlink())
    return [(str(item), item.read_bytes()) for item in files]


def _hangs(*_: object) -> None:
    raise TimeoutError(f"it takes more than {SECONDS} s")


def campaign(seed: int, cases: int, minutes: float | None, only: int | None) -> int:
    """Try cases, print what is wrong; how many are."""
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _hangs)
    with tempfile.TemporaryDirectory() as name:
        os.environ["GRAPHTIDE_CACHE"] = f"{name}/cache"
        tried = Cases(Path(name), seed)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, -1))
        wrong, until, number = 0, time.monotonic() + 60 * (minutes or 0), 0
        numbers = (
            iter(range(cases if minutes is None else 1 << 60)) if only is None else iter([only])
        )
        for number in numbers:
            if minutes is not None and time.monotonic() > until:
                break
            problem = tried.run(number)
            if problem:
                wrong += 1
                print(problem, flush=True)
        print(f"{number + 1:,} cases, {wrong} wrong; refused: {dict(refused)}", flush=True)
        os.chdir("/")
    return wrong


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    sys.exit(1 if campaign(given.seed, given.cases, given.minutes, given.case) else 0)


if __name__ == "__main__":
    main()
