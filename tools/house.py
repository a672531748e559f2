"""How large the house is, and how far it is through it: figures for whoever makes it smaller.

    python tools/house.py              counts of src, and four walks through it
    python tools/house.py --counts     counts alone, in a second
    python tools/house.py --json FILE  the same for machines
    python tools/house.py --riddles 100 --seed 7   docstrings drawn at random, to be read afresh

A walk is something that a user does, traced with `sys.setprofile` and interpreted kernels, behind
a first time that imports everything: how many of our files it enters, how many of our classes it
makes instances of, and how many calls of ours it makes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
PACKAGE = str(SRC / "graphtide")
AIMS = {
    "lines": 95_000,
    "modules": 500,
    "glossary words": 50,
    "class names used twice": 0,
    "walk edge: files": 12,
    "walk program: files": 25,
    "walk collection: files": 50,
    "walk rules: files": 45,
}


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--counts", action="store_true", help="no walks")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--riddles", type=int, help="print so many docstrings, and nothing else")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--walk", choices=WALKS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.walk:
        print(json.dumps(traced(WALKS[chosen.walk])))
        return
    if chosen.riddles:
        print_docstrings(chosen.riddles, chosen.seed)
        return
    figures: dict[str, Any] = counts()
    if not chosen.counts:
        for name in WALKS:
            figures |= {f"walk {name}: {what}": found for what, found in walk(name).items()}
    for name, found in figures.items():
        aim = f"   (aim {AIMS[name]:,})" if name in AIMS else ""
        print(f"{name:34} {found:>10,}{aim}")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")


def counts() -> dict[str, int]:
    """Lines of each kind, modules, functions, kernels, words and names."""
    found: Counter[str] = Counter()
    classes: defaultdict[str, int] = defaultdict(int)
    importers: defaultdict[str, set[str]] = defaultdict(set)
    modules = {module_name(path): path for path in sorted(SRC.rglob("*.py"))}
    for name, path in modules.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        found["modules"] += 1
        found["lines"] += len(text.splitlines())
        found["blank"] += sum(not line.strip() for line in text.splitlines())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found["imports"] += (node.end_lineno or 0) - node.lineno + 1
                for module in imported(node, modules):
                    importers[module].add(name)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found["functions"] += 1
                found["short functions"] += body_lines(node) <= 3
                found["kernels"] += any("kernel" in ast.unparse(d) for d in node.decorator_list)
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] += 1
            found["docstrings"] += docstring_lines(node)
    found["code"] = found["lines"] - found["blank"] - found["imports"] - found["docstrings"]
    found["class names used twice"] = sum(count > 1 for count in classes.values())
    found["modules with one importer"] = sum(
        len(importers[name]) == 1 and path.name != "__init__.py" for name, path in modules.items()
    )
    found["glossary words"] = glossary_words()
    names = (
        "lines code docstrings imports blank modules functions kernels",
        "modules with one importer",
        "short functions",
        "glossary words",
        "class names used twice",
    )
    return {name: found[name] for name in [*names[0].split(), *names[1:]]}


def module_name(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


def imported(node: ast.Import | ast.ImportFrom, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    for alias in node.names:
        full = f"{node.module}.{alias.name}"
        yield full if full in known else str(node.module)


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a body behind its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1


def docstring_lines(node: ast.AST) -> int:
    """The lines of a docstring, if the node has one."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if not isinstance(node, kinds) or ast.get_docstring(node) is None:
        return 0
    return (node.body[0].end_lineno or 0) - node.body[0].lineno + 1


def glossary_words() -> int:
    """The rows of the glossary in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text[text.index("## Glossary") : text.index("## How it is written")]
    return len(re.findall(r"^\| (?!word|---)", text, re.MULTILINE))


def print_docstrings(number: int, seed: int) -> None:
    """Docstrings of functions and classes at random, each with its place."""
    found = [
        (path.relative_to(SRC), node.name, doc)
        for path in sorted(SRC.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        if (doc := ast.get_docstring(node)) is not None
    ]
    for path, name, doc in random.Random(seed).sample(found, number):
        print(f"{path}: {name}\n    " + doc.replace("\n", "\n    "))


def walk(name: str) -> dict[str, int]:
    """A walk in a process of its own."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "GRAPHTIDE_QUIET": "1"}
    command = [sys.executable, __file__, "--walk", name]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def traced(make: Callable[[], Callable[[], object]]) -> dict[str, int]:
    """What the act that `make` prepares enters, the second time that it is done."""
    make()()
    act = make()
    files, types, calls = set(), set(), 0

    def hear(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        code = frame.f_code
        if event != "call":
            return
        if code.co_name == "__init__" and "self" in frame.f_locals:
            kind = type(frame.f_locals["self"])
            if kind.__module__.startswith("graphtide"):
                types.add(kind)
        if code.co_filename.startswith(PACKAGE):
            calls += 1
            files.add(code.co_filename)

    sys.setprofile(hear)
    try:
        act()
    finally:
        sys.setprofile(None)
    return {"files": len(files), "types": len(types), "calls": calls}


def edge() -> Callable[[], object]:
    """One inserted edge, to the path that it changes."""
    import graphtide as gt

    graph = gt.Graph([1, 2, 3], [2, 3, 4], weight=[1.0, 1.0, 1.0])
    live = graph.maintain(gt.algorithms.ShortestPaths(source=1))
    live.advance(insert=[(1, 3, 1.5)])
    return lambda: live.advance(insert=[(1, 4, 0.5)]).to_pylist()


def program() -> Callable[[], object]:
    """A program class, to the code that keeps it current."""
    import graphtide as gt

    graph = gt.Graph([1, 2, 3], [2, 3, 4], weight=[1.0, 1.0, 1.0])

    def act() -> object:
        @gt.program
        class Nearest:
            source: gt.Vertex
            far: float = gt.inf
            best = gt.Min(float)

            def initialize(self, v):  # type: ignore[no-untyped-def]
                v.far = 0.0 if v == self.source else gt.inf

            def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
                v.best(u.far + e.weight)

            def update(self, v):  # type: ignore[no-untyped-def]
                v.far = min(v.far, v.best)

        return graph.maintain(Nearest(source=1))

    return act


def collection() -> Callable[[], object]:
    """A collection in memory, a run over it, and its summary."""
    import graphtide as gt

    graph = gt.Graph([1, 2, 3, 1], [2, 3, 4, 4], year=[2000, 2001, 2002, 2003])

    def act() -> object:
        years = graph.collection("years", "for y in 2000..2003 [upto-{y}: year <= y]")
        return years.run(gt.algorithms.WCC).summary()

    return act


def rules() -> Callable[[], object]:
    """A rule, to its answer, and then a fact more."""
    import graphtide as gt

    def act() -> object:
        text = ".decl e(a: number, b: number)\n.decl t(a: number, b: number)\n"
        text += "t(a, b) :- e(a, b).\nt(a, c) :- t(a, b), e(b, c).\n.output t\n"
        rules = gt.datalog(text)
        rules.insert("e", [(1, 2), (2, 3)])
        rules.advance()
        rules.insert("e", [(3, 4)])
        rules.advance()
        return rules.table("t")

    return act


WALKS: dict[str, Callable[[], Callable[[], object]]] = {
    "edge": edge,
    "program": program,
    "collection": collection,
    "rules": rules,
}


if __name__ == "__main__":
    sys.path.insert(0, str(SRC))
    main()
