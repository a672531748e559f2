"""Kernels of templates are compiled without a program, whose functions are put in later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.code import generated_module
from graphtide.kernels import jit

SOURCE = """
import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel, kernel, lean_kernel, program_kernel

OWN = 5


@program_kernel((np.float64, np.int64))
def own(number, values):
    return number + values[0], OWN


@program_kernel(None, joined=False)
def write(values, at):
    values[at] = OWN + more(at)


@program_kernel(np.int64)
def more(at):
    return at


@inner_kernel
def twice(number, values):
    one, other = own(number * 2, values)
    return one + other


@kernel
def added(count, values):
    room = np.zeros(2)
    for number in range(count):
        room[number % 2] += twice(number, values)
    return room[0] + room[1]


@bare_kernel
def written(values):
    for at in range(len(values)):
        write(values, np.int32(at))


@lean_kernel
def apart(number):
    return number + 1
"""
"""Its functions return numbers of other types than they are said to, and call one another."""

closed = pytest.mark.skipif(
    not jit.LINKS or "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is closed"
)


def answers(module: Any) -> tuple[float, list[int], int]:
    """What the kernels of a module say."""
    values = np.zeros(3, np.int64)
    module.written(values)
    return module.added(3, np.array([0.5])), values.tolist(), module.apart(1)


@contextmanager
def compiled_kernels() -> Iterator[list[tuple[str, str]]]:
    """The names and types of all that is compiled or closed meanwhile."""
    from numba.core import event

    found: list[tuple[str, str]] = []

    class Listener(event.Listener):
        """Writes down what Numba tells."""

        def on_start(self, event: Any) -> None:
            kernel = event.data["dispatcher"].py_func
            found.append((kernel.__name__, f"{kernel.__module__} {event.data['args']}"))

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):  # type: ignore[no-untyped-call]
        yield found


def test_each_program_has_its_own_answers() -> None:
    """Though one process has them all, and they are asked in turns."""
    one = generated_module(SOURCE, "closing_one")
    other = generated_module(SOURCE.replace("OWN = 5", "OWN = 50"), "closing_other")
    for _ in range(2):
        assert answers(one) == (6 + 1.5 + 15, [5, 6, 7], 2)
        assert answers(other) == (6 + 1.5 + 150, [50, 51, 52], 2)


@closed
def test_a_second_program_compiles_its_own_functions_alone() -> None:
    answers(generated_module(SOURCE.replace("OWN = 5", "OWN = 6"), "closing_first"))
    with compiled_kernels() as found:
        answers(generated_module(SOURCE.replace("OWN = 5", "OWN = 7"), "closing_second"))
    names = [name for name, _ in found]
    assert len(set(names)) == len(names)
    assert set(names) <= {"added", "own", "write", "written"}  # Fewer if an earlier run left any.


SHARING = """
import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel, program_kernel


@program_kernel(np.int64)
def own(at):
    return at


@inner_kernel
def mixed(spare, values, seldom, number):
    total = 0
    for at in range(len(values)):
{steps}
    if number < 0:
        total += seldom[0]
    return total


@bare_kernel
def closed(values, seldom):
    return mixed(1, values, seldom, own(1)) - mixed(2, values, seldom, own(2))


@bare_kernel
def plain(values, seldom):
    return mixed(1, values, seldom, 1) - mixed(2, values, seldom, 2)
"""
"""Two kernels that call a third, too long to be put into them, with more than it uses."""


def test_a_kernel_does_not_call_what_belongs_to_a_closed_one() -> None:
    """LLVM takes arguments away from functions that are one module's own, and knows all by name."""
    line = "        total += values[(at * {0} + number) % len(values)] * {0} ^ total >> {0} % 7"
    steps = "\n".join(line.format(number) for number in range(1, 60))
    module: Any = generated_module(SHARING.format(steps=steps), "closing_sharing")
    values, seldom = np.arange(10), np.arange(4)
    assert module.closed(values, seldom) == module.plain(values, seldom)


FRESH = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from tests.unit.kernels.test_closing import SOURCE, answers, compiled_kernels
from graphtide.engine.code import generated_module
with compiled_kernels() as found:
    for own in sys.argv[2:]:
        print(*answers(generated_module(SOURCE.replace("OWN = 5", f"OWN = {own}"), f"own_{own}")))
print(*sorted(name for name, _ in found if name in SOURCE))
"""


@closed
def test_other_processes_find_what_is_shared_and_what_is_closed(tmp_path: Path) -> None:
    """And no process takes one program's kernel for another's."""
    told = []
    for programs in (["5"], ["50"], ["50", "5", "8"]):
        made = subprocess.run(
            [sys.executable, "-c", FRESH, str(Path(__file__).parents[3]), *programs],
            env={**os.environ, "GRAPHTIDE_CACHE": str(tmp_path / "cache")},
            check=True,
            capture_output=True,
            text=True,
        )
        told.append(made.stdout.splitlines())
    assert told[0][0] == "22.5 [5, 6, 7] 2"
    assert told[1] == ["157.5 [50, 51, 52] 2", "added own write written"]
    assert told[2][:2] == ["157.5 [50, 51, 52] 2", "22.5 [5, 6, 7] 2"]
    assert told[2][2:] == ["31.5 [8, 9, 10] 2", "added own write written"]


@gt.program
class Tolls:
    """Like the shortest paths of the library, but for what an edge costs."""

    source: gt.Vertex
    cost: float = gt.inf
    found = gt.Min(float)

    def initialize(self, v: Any) -> None:
        v.cost = 0.0 if v == self.source else gt.inf

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        v.found(u.cost + e.weight + 0.125)

    def update(self, v: Any) -> None:
        v.cost = min(v.cost, v.found)


def use(program: Any) -> Any:
    """Keep a program current, and run it over versions."""
    graph = gt.Graph([1, 2, 3], [2, 3, 1], weight=[1.0, 2.0, 3.0])
    live = graph.maintain(program(source=1))
    live.advance(insert=[(1, 3, 0.5)], delete=[(2, 3)])
    graph.run(program(source=1), [np.arange(3) != out for out in range(3)])
    return live.table()


@closed
def test_a_program_of_ones_own_compiles_nothing_that_is_shared_and_nothing_twice() -> None:
    use(gt.algorithms.ShortestPaths)
    with compiled_kernels() as found:
        costs = use(Tolls)["cost"].to_pylist()
    assert sorted(costs) == [0.0, 0.625, 1.125]
    ours = [item for item in found if "graphtide" in item[1]]
    assert len(set(ours)) == len(ours)
    ways_in = {"begin", "settle", "follow", "follow_stretch"}
    assert {name for name, _ in ours} <= ways_in | {"message", "initial"}
    with compiled_kernels() as again:
        use(Tolls)
    assert again == []
