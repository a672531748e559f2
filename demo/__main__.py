"""A million calls through all of Graphtide: files, Spark, views in GVDL, runs, pictures.

Leaves its files, stores, tables and pictures in `demo-output/`.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from rich.console import Console

import graphtide as gt
from demo import telling
from demo.calls import write_calls
from demo.questions import QUESTIONS, Answered, answer


def main() -> None:
    """Make the data, load it, ask the questions, show what came of it."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    chosen = parser.parse_args()
    console = Console()
    shutil.rmtree(chosen.output, ignore_errors=True)
    began = time.perf_counter()

    session = load(console, chosen.output, chosen.calls)
    define(console, session)
    answers = run(console, session)
    show(console, answers)
    keep(console, session, answers, chosen.output)
    console.print(
        f"\ndone in {time.perf_counter() - began:.0f} s; next: `graphtide open "
        f"{chosen.output}/store` to look at it in the browser, or README.md",
        markup=False,
    )


def load(console: Console, output: Path, calls: int) -> gt.Session:
    """Write two CSV files and load them with Spark."""
    console.rule("1. a telephone network: two CSV files, loaded with Spark")
    customers = max(calls // 10, 10)
    vertices, edges = write_calls(output / "data", customers=customers, calls=calls)
    session = gt.session(output / "store")
    graph = session.load("Calls", vertices=str(vertices), edges=str(edges))
    console.print(f"{graph.num_vertices:,} customers, {graph.num_edges:,} calls in five years")
    return session


def define(console: Console, session: gt.Session) -> None:
    """Make the collections; each is stored as the small deltas between its views."""
    console.rule("2. many views of it, in a line of GVDL each")
    for question in QUESTIONS:
        console.print(f"{question.statement}", highlight=False, markup=False)
        (made,) = session.execute(question.statement)
        collection = made.value
        assert isinstance(collection, gt.Collection)
        whole = sum(len(view) for view in collection)
        console.print(
            f"  {len(collection):,} views of {whole:,} calls in all, stored as "
            f"{collection.differences:,} differences\n"
        )


def run(console: Console, session: gt.Session) -> list[Answered]:
    """Answer the questions, both ways."""
    console.rule("3. one program over every view")
    console.print("(on the first run, programs are compiled: about half a minute)")
    answers = []
    for question in QUESTIONS:
        console.print(question.words)
        answers.append(answer(session, question))
        console.print(f"  {telling.chosen(answers[-1].shared)}")
    return answers


def show(console: Console, answers: list[Answered]) -> None:
    """The answers, and what they took."""
    console.rule("4. the answers")
    components, week, settled = (item.shared for item in answers)
    console.print(telling.connected(components))
    console.print(telling.central(week, 61, "in seven days"))
    console.print(telling.central(settled, 61, "by all calls so far"))
    console.rule("5. what sharing gains")
    console.print(telling.times(answers))
    console.print(
        "Sharing pays where a delta changes few results. Ranks depend on each other: where nearly "
        "every new call moves nearly every rank, Graphtide notices, and runs views from scratch. "
        "Within a tolerance, here of 1%, most ranks stay as they are, and sharing pays again."
    )


def keep(console: Console, session: gt.Session, answers: list[Answered], output: Path) -> None:
    """Pictures and tables, as files."""
    console.rule("6. pictures and tables")
    for item in answers:
        name = item.question.collection
        item.shared.summary().to_csv(output / f"{name}.csv")
        item.shared.picture(output / f"{name}.png")
        item.shared.picture(output / f"{name}-times.png", of="times", reference=item.scratch)
    answers[1].shared.picture(output / "seven-days-top.png", of="top")
    session.collection("seven-days").picture(output / "seven-days-similarity.png")
    for path in sorted([*output.glob("*.png"), *output.glob("*.csv")]):
        console.print(str(path), markup=False, highlight=False)


if __name__ == "__main__":
    main()
