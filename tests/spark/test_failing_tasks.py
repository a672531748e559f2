"""Tasks that always fail: an error of ours says what has happened, and what was there stays.

Tasks raise, are killed as the system kills them that lacks memory, or ask for more than they may
have; files are cut or damaged; a program fails in its compiled code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import GraphtideError, InputError, SetupError, StoreError
from graphtide.run.collection import sub_plans
from graphtide.spark import tasks

pytestmark = [pytest.mark.spark, pytest.mark.slow]
VIEWS = {f"upto-{at}": f"at <= {at}" for at in range(0, 60, 6)}
campaign = pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="takes minutes")


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> gt.Session:
    return gt.session(tmp_path_factory.mktemp("failing"), spark=spark, progress=False)


@pytest.fixture(scope="module")
def views(session: gt.Session) -> gt.Collection:
    rows = [(at * 7 % 23, at * 11 % 19, at) for at in range(60)]
    graph = session.load("net", edges=rows, edge_columns=["src", "dst", "at"])
    return graph.collection("growing", VIEWS)


@pytest.fixture(scope="module")
def here(views: gt.Collection) -> pa.Table:
    return views.run(WCC, name="here", workers=1).to_arrow()


@pytest.fixture(autouse=True)
def small_runs_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sub_plans, "SPARK_SECONDS", -1e9)
    monkeypatch.setattr("graphtide.optimize.cutting.STEP", 1e7)


def failing(plain: Callable[..., Any], how: str, marker: Path | None = None) -> Callable[..., Any]:
    """Tasks that fail, of which the second does where they run together; once with a marker."""
    together, once = plain is tasks._barrier_task, None if marker is None else str(marker)

    def made(*given: Any) -> Any:
        inner = plain(*given)

        def fails() -> bool:
            import os

            if together:
                from pyspark import BarrierTaskContext

                if BarrierTaskContext.get().partitionId() != 1:  # type: ignore[no-untyped-call]
                    return False
            try:
                return once is None or not os.close(os.open(once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return False

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            import resource
            import signal

            if not fails():
                yield from inner(batches)
            elif how == "raise":
                raise KeyError("what is not there")
            elif how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                _, hard = resource.getrlimit(resource.RLIMIT_AS)
                resource.setrlimit(resource.RLIMIT_AS, (8 << 30, hard))
                bytearray(16 << 30)

        return task

    return made


FAILURES: dict[str, tuple[type[GraphtideError], str]] = {
    "raise": (StoreError, "running on Spark: KeyError: 'what is not there'"),
    "kill": (SetupError, "running on Spark: a Python worker of Spark died"),
    "memory": (SetupError, r"a Python worker of Spark ran out of memory \(MemoryError\)"),
}


def check_told(error: GraphtideError) -> None:
    """An error in our words, with nothing of Java or a traceback in it or behind it."""
    assert error.__suppress_context__ or error.__context__ is None
    told = str(error)
    assert "\n  try: " in told
    assert not any(word in told for word in ("Traceback", "java", "py4j", "o1", "stage"))


@pytest.mark.parametrize("how", [pytest.param("raise", marks=campaign), "kill", "memory"])
def test_a_task_that_always_fails(
    how: str, views: gt.Collection, here: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, match = FAILURES[how]
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "_task", failing(tasks._task, how))
        with pytest.raises(kind, match=match) as told:
            views.run(WCC, name=how, on="spark", workers=2)
    check_told(told.value)
    assert views.run(WCC, name=how, resume=True, workers=1).to_arrow().equals(here)


@campaign
@pytest.mark.parametrize("how", FAILURES)
def test_one_of_the_tasks_that_run_together_always_fails(
    how: str, views: gt.Collection, here: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, match = FAILURES[how]
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "_barrier_task", failing(tasks._barrier_task, how))
        with pytest.raises(kind, match=match) as told:
            views.run(WCC, name=f"{how}-together", on="shards")
    check_told(told.value)
    found = views.run(WCC, name=f"{how}-together", resume=True, on="shards")
    assert found.to_arrow().equals(here)


@campaign
@pytest.mark.parametrize("how", FAILURES)
def test_a_task_that_fails_once(
    how: str,
    views: gt.Collection,
    here: pa.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spark begins tasks that run together anew, also within one machine."""
    task = failing(tasks._barrier_task, how, tmp_path / "failed")
    monkeypatch.setattr(tasks, "_barrier_task", task)
    found = views.run(WCC, name=f"{how}-once", on="shards")
    assert (tmp_path / "failed").exists()
    assert found.to_arrow().equals(here)


@gt.program
class Outside:
    """Compiled code that writes behind the end of an array, of some vertices."""

    iterations = 2
    x = gt.State(float, size=3)
    got = gt.Sum(float)

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.got(u.x[0])

    def update(self, v):  # type: ignore[no-untyped-def]
        v.x[v.id] = v.got


@campaign
@pytest.mark.parametrize("on", ["spark", "shards"])
def test_a_program_that_fails_in_a_task(views: gt.Collection, on: Any) -> None:
    with pytest.raises(GraphtideError, match=r"index \d+ is outside of an array of 3") as told:
        views.run(Outside, name=f"outside-{on}", on=on, workers=2)
    assert told.value.__suppress_context__ or told.value.__context__ is None


def test_damaged_files_of_a_load(session: gt.Session, tmp_path: Path) -> None:
    """Cut, without its pages, and with one bit that is another: by Arrow, and by tasks."""
    count = 5_000
    ends = {"src": list(range(count)), "dst": list(range(1, count + 1))}
    facts = {"at": [at * at for at in range(count)]}
    whole, wrong = tmp_path / "whole.parquet", tmp_path / "a b" / "wrong.parquet"
    pq.write_table(pa.table(ends | facts), whole, write_page_checksum=True, use_dictionary=False)
    data = whole.read_bytes()
    footer = pq.read_metadata(whole).row_group(0)
    damages = {"cut": data[: len(data) // 2]}
    for column, name in enumerate((*ends, *facts)):
        at = footer.column(column).data_page_offset + 200
        damages[f"one bit of {name}"] = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
    damages["no pages"] = data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :]
    wrong.parent.mkdir()
    for name, damaged in damages.items():
        wrong.write_bytes(damaged)
        with pytest.raises(InputError) as told:
            session.load("damaged", edges=wrong)
        assert told.value.where == str(wrong), name
        check_told(told.value)
    assert "damaged" not in session.graphs()
    assert not list(session.catalog.root.glob("graphs/damaged/*.partial"))
