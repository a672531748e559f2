"""Standing questions on a graph that changes, beside plain Python, with heavy deletion."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import examples.interactive
from examples.interactive import QUESTIONS, EvolvingGraph, Question
from tests.dataflow.building import MEMORY

Pair = tuple[int, int]
VERTICES = 9


class Plain:
    """The graph as lists, and the answers to each class of questions, found by looking at all."""

    def __init__(self) -> None:
        self.names: list[tuple[int, str]] = []
        self.edges: list[Pair] = []

    def look_up(self, asked: list[Any]) -> Counter[Any]:
        return Counter((a, name) for (a,) in asked for node, name in self.names if node == a)

    def one(self, asked: list[Any]) -> Counter[Any]:
        return Counter((a, dst) for (a,) in asked for src, dst in self.edges if src == a)

    def two(self, asked: list[Any]) -> Counter[Any]:
        return Counter(
            (a, end)
            for (a,) in asked
            for src, middle in self.edges
            for start, end in self.edges
            if src == a and start == middle
        )

    def paths(self, asked: list[Any]) -> Counter[Any]:
        hops = {pair: self.hops(*pair) for pair in asked}
        return Counter((*pair, n) for pair, n in hops.items() if n is not None)

    def hops(self, src: int, dst: int) -> int | None:
        reached = {src}
        for count in range(5):
            if dst in reached:
                return count
            reached |= {b for a, b in self.edges if a in reached}
        return None

    def answers(self, name: str, asked: list[Any]) -> Counter[Any]:
        ways = {
            "look-up": self.look_up,
            "one hop": self.one,
            "two hops": self.two,
            "paths": self.paths,
        }
        return ways[name](asked)


class Asked:
    """One class of questions with its standing arguments and the answers that changes add up to."""

    def __init__(self, graph: EvolvingGraph, name: str) -> None:
        self.name = name
        self.question: Question = QUESTIONS[name](graph)
        self.standing: list[Any] = []
        self.found: Counter[Any] = Counter()

    def change(self, random: Random) -> None:
        """Forget some arguments and ask some others, now and then one that stands already."""
        gone = [item for item in self.standing if random.random() < 0.4]
        arity = 2 if self.name == "paths" else 1
        come = [
            tuple(random.randrange(VERTICES) for _ in range(arity))
            for _ in range(random.randrange(4))
        ]
        self.question.forget(gone)
        self.question.ask(come)
        for item in gone:
            self.standing.remove(item)
        self.standing += come

    def take(self) -> dict[Any, int]:
        for record, diff in self.question.changes():
            self.found[record] += diff
        return {record: times for record, times in self.found.items() if times}


def changed(random: Random, live: list[Any], fresh: list[Any], source: Any) -> None:
    """Let a large part of a list go and something new come, in an input as well."""
    gone = [item for item in live if random.random() < random.choice((0.1, 0.5, 0.9))]
    source.remove(gone)
    source.insert(fresh)
    for item in gone:
        live.remove(item)
    live += fresh


@pytest.mark.parametrize("seed", range(3))
def test_answers_follow_the_graph_and_the_questions(seed: int) -> None:
    """After every advance each class answers what plain Python finds, whenever it was opened."""
    random, plain = Random(seed), Plain()
    graph = EvolvingGraph(memory=MEMORY)
    classes = {name: Asked(graph, name) for name in list(QUESTIONS)[: 2 + seed]}
    for step in range(14):
        late = random.choice(list(QUESTIONS))
        if late in classes and step % 4 == 3:
            classes.pop(late).question.close()
        elif late not in classes:
            classes[late] = Asked(graph, late)
        fresh = [(random.randrange(VERTICES), random.randrange(VERTICES)) for _ in range(8)]
        changed(random, plain.edges, fresh, graph.edges)
        names = [(random.randrange(VERTICES), random.choice("abc")) for _ in range(3)]
        changed(random, plain.names, names, graph.vertices)
        for asked in classes.values():
            asked.change(random)
        graph.advance()
        for name, asked in classes.items():
            assert asked.take() == dict(plain.answers(name, asked.standing)), f"{name}, {step}"
    graph.flow.host.end()


def test_a_class_costs_nothing_once_it_is_closed() -> None:
    """What a class keeps goes with it: opened and closed again and again, nothing is left."""
    graph = EvolvingGraph(memory=MEMORY)
    graph.edges.insert([(n, (7 * n + 1) % 50) for n in range(50)])
    machine = graph.flow.host.machine
    held = []
    for _ in range(3):
        for name in QUESTIONS:
            asked = QUESTIONS[name](graph)
            asked.ask([(1, 2), (3, 4)] if name == "paths" else [(1,), (3,)])
            graph.advance()
            asked.close()
        graph.advance()
        held.append(machine.held_bytes)
    assert held[1] == held[2]  # The first time, the machine makes room for its own work.
    graph.flow.host.end()


def test_the_page_of_the_example_says_what_comes_out() -> None:
    """The block of the README runs, and each comment is what its line gives."""
    page = Path(examples.interactive.__file__).with_name("README.md").read_text()
    [block] = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    said = 0
    for line in block.splitlines():
        code, _, wanted = line.partition("  # ")
        if wanted:
            assert eval(code, names) == eval(wanted), line
            said += 1
        else:
            exec(line, names)
    assert said == 5
    names["graph"].flow.host.end()
