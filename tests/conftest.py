"""One small session for all Spark tests of a process, on the master that the environment names.

GRAPHTIDE_TEST_MASTER is a Spark master, or `connect` for Spark Connect, whose server has executors
in processes of their own.
One process holds one session only; spark/test_masters.py starts the other masters in processes of
their own and runs there every test that is marked `masters`.
"""

from __future__ import annotations

import gc
import os
import signal
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from graphtide.model import errors
from tests import java
from tests.reached import watch_kernels, write_notes
from tests.unset import spoil_unset_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

watch_kernels()  # Before a test imports a kernel.
spoil_unset_memory()

# A busy machine takes long to draw examples, which is no fault of theirs.
settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")

# A shell has what it starts in the background ignore Ctrl-C, and whatever that starts too. Tests
# that interrupt, here or in a process of their own, mean a process that somebody sits before.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Read by every Java that Spark starts from here, in processes that tests start too.
os.environ.setdefault("SPARK_SUBMIT_OPTS", java.options())

# Processes that tests start may have to compile, and their standard error is compared.
os.environ.setdefault("GRAPHTIDE_QUIET", "1")

# A test that fails is to show where.
errors.HIDES_FROM_PYTEST = False

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.executor.memory": "1g",
    "spark.executor.extraJavaOptions": java.OPTIONS,
}

# Plans of tests run over a few rows, where compiling them is much of the work: without it 14 tests
# took a fifth less of the JVM's time. The other masters compile, as users do.
UNCOMPILED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# Two processes that begin like this compile different kernels: the machine of all dataflows, which
# takes longest, and the programs. What needs no kernels comes next, what needs the machine last:
# then each finds on disk what the other one has compiled.
ORDER = (
    "tests/dataflow/test_library.py",
    "tests/equivalence/test_algorithms.py",
    "tests/property/",
    "tests/unit/",
    "tests/",
    "tests/dataflow/",
)

# With Spark, those that run no program of ours come first: the others then find on disk what the
# tests without Spark have compiled beside them.
PROGRAMS = (
    "tests/live/",
    "tests/scenario/",
    *(
        f"tests/spark/test_{name}.py"
        for name in (
            "graphsurge_data",
            "graphsurge_scripts",
            "masters",
            "programs_on_workers",
            "runs",
            "shard_runs",
            "spark_runs",
            "streams",
        )
    ),
)


# Tests that run compiled and interpreted need not all run twice: with this variable, which only
# `make test` sets, interpreted runs take a share of their parameters, and of the tests without
# parameters, always the same ones.
SHARE = "GRAPHTIDE_SHARE"
_ONE_OF, _ONE_WITHOUT = 8, 4
WHOLE = (
    "tests/dataflow/test_arrow_layouts.py",
    "tests/dataflow/test_once.py",
    "tests/dataflow/test_sharing.py",
    "tests/unit/engine/test_histories.py",
    "tests/unit/engine/test_queries.py",
)
"""Files whose tests alone enter some kernel: they run as a whole."""
LEFT_OUT = tuple(
    f"tests/{name}.py"
    for name in (
        "live/test_live_deaths",
        "live/test_live_kills",
        "live/test_streams",
        "scenario/test_run_kill",
    )
)
"""Files whose processes are interpreted, or whose questions are the disk's: once is enough."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """By what is compiled, then slow tests first: who is done sooner finds short ones to take."""
    if SHARE in os.environ:
        left_out = [item for item in items if not _is_of_the_share(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_of_the_share(item)]

    items.sort(key=_place)


def _place(item: pytest.Item) -> tuple[int, bool]:
    known = [name for name in ORDER if item.nodeid.startswith(name)]
    place = ORDER.index(max(known, key=len, default="tests/"))
    if item.get_closest_marker("spark") is not None:
        place = int(item.nodeid.startswith(PROGRAMS))
    return place, item.get_closest_marker("slow") is None


def _is_of_the_share(item: pytest.Item) -> bool:
    """True for what runs interpreted only, and for some of what runs compiled as well."""
    if item.get_closest_marker("interpreted") is not None or item.nodeid.startswith(WHOLE):
        return True
    if item.nodeid.startswith(LEFT_OUT):
        return False
    return zlib.crc32(item.nodeid.encode()) % (_ONE_OF if "[" in item.name else _ONE_WITHOUT) == 0


def pytest_collection_finish() -> None:
    """Modules and tests stay: no collection of garbage need look through them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _benchmarks_collect_what_is_theirs(request: pytest.FixtureRequest) -> None:
    """Each figure begins with a collection, which need not look through all other tests.

    `python -m bench` freezes what it has imported for the same reason.
    """
    if "bench" in request.node.name:
        gc.collect()
        gc.freeze()


def pytest_sessionfinish() -> None:
    write_notes()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # Imported here: tests that need no Spark do not wait for it.
    from graphtide.spark.session import open_session

    master = os.environ.get("GRAPHTIDE_TEST_MASTER", "local[2]")
    if master == "connect":
        # Any free port: two runs on one machine must not meet.
        os.environ["SPARK_TESTING"] = "1"
        session = open_session(remote="local-cluster[2,1,1024]", memory="1g", settings=SETTINGS)
    else:
        plainly = UNCOMPILED if master.startswith("local[") else {}
        session = open_session(master, memory="1g", settings=SETTINGS | plainly)
    yield session
    session.stop()
