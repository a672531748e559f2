"""The one place where Spark sessions are made.

`open_session` hands out the session that is already there, or starts a quiet one of modest
size. `private_session` derives from it a session with settings of our own (UTC, one file split
a task, timestamps as Parquet knows them), so that a job is right whatever the settings of the
user's session are, and never changes them.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from graphtide.model.errors import SetupError
from graphtide.model.machine import cache_folder_for
from graphtide.spark.failures import translated
from graphtide.spark.java import java_environment

SPLIT_BYTES = 64 << 20

# The gateway logger is named because Spark announces on the terminal that it changes the root
# level to the gateway's, unless the two are the same.
_LOG_SETTINGS = """rootLogger.level = fatal
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = fatal
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = Spark %p %c{1}: %m%n
"""

_TASKS, _SMALLEST_SPLIT = 8, 4 << 20


def _split_settings(size: int) -> dict[str, str]:
    """One split a task: a second one never fits beside the first."""
    return {
        "spark.sql.files.maxPartitionBytes": str(size),
        "spark.sql.files.openCostInBytes": str(size + 1),
    }


# Ours for the length of a job. A split a task makes the number of a row within its task the
# number of the row within its split, which is what line numbers are counted from.
_PRIVATE_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    **_split_settings(SPLIT_BYTES),
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}


def open_session(
    master: str | None = None,
    *,
    remote: str | None = None,
    memory: str | None = None,
    quiet: bool = True,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The active Spark session if there is one, else a new one.

    `master` is a Spark master (default: all cores of this machine), `remote` a Spark Connect
    address instead. `memory` is the driver's, as Spark writes it (`3g`); by default 40% of the
    machine's, at least 1 GB and at most 8. `settings` go on top of ours.
    """
    active = active_session()
    if active is not None:
        return active
    if remote is not None and not remote.startswith("local"):
        return _build({"spark.remote": remote, **(settings or {})})
    place = remote or master or "local[*]"
    chosen = driver_settings(place, memory, quiet=quiet) | dict(settings or {})
    with java_environment(), _this_python():
        return _build({**chosen, "spark.remote" if remote else "spark.master": place})


@contextlib.contextmanager
def _this_python() -> Iterator[None]:
    """Let workers that Spark starts run this Python, with its packages, unless told otherwise."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def active_session() -> SparkSession | None:
    """The session that this process already has, if any; starts nothing."""
    with translated("asking Spark for its session"):
        try:
            return SparkSession.active()
        except PySparkException:
            return None


def private_session(session: SparkSession) -> SparkSession:
    """A session beside the given one, on the same Spark, with the settings our jobs rely on.

    Over Connect it is a connection of its own: `release` it when it is not needed any more.
    """
    with translated("opening a session"):
        private = session.newSession()
        for key, value in _PRIVATE_SETTINGS.items():
            private.conf.set(key, value)
    if is_connect(private):
        # A connection still open when Python ends says goodbye to its server, and waits minutes
        # for an answer if that has been stopped.
        atexit.register(private.client.close)
    return private


def split_reads(private: SparkSession, size: int) -> None:
    """Let a private session read files of that size, all together, in several tasks of one split.

    Eight keep the cores of most machines at work and are still large enough to be worth a task.
    """
    split = min(max(size // _TASKS, _SMALLEST_SPLIT), SPLIT_BYTES)
    for key, value in _split_settings(split).items():
        private.conf.set(key, value)


def release(private: SparkSession) -> None:
    """End a private session. The Spark that it ran on goes on."""
    if is_connect(private):
        atexit.unregister(private.client.close)
        private.client.close()


def is_connect(session: SparkSession) -> bool:
    """True if the session talks to its Spark over Connect."""
    return "connect" in type(session).__module__


def driver_settings(place: str, memory: str | None = None, *, quiet: bool = True) -> dict[str, str]:
    """What a session whose driver is on this machine is started with; `place` is its master."""
    cores = os.cpu_count() or 2
    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    chosen = {
        "spark.app.name": "graphtide",
        "spark.driver.memory": memory or default_memory(machine_memory()),
        # Nobody else needs to reach this driver; executors on other machines do.
        **(here if place.startswith("local") else {}),
        # Tasks that must run at once and have too few slots are refused after this, not 10 minutes.
        "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "5s",
        "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "6",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(max(8, 4 * cores)),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.warehouse.dir": Path(tempfile.gettempdir(), "graphtide-warehouse").as_uri(),
    }
    if quiet:
        settings_file = _log_settings_file().as_uri()
        chosen["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={settings_file}"
    return chosen


def default_memory(machine_bytes: int) -> str:
    """40% of the machine, within 1 and 8 GB: leaves an 8 GB machine room for Python and disk."""
    megabytes = machine_bytes * 4 // 10 >> 20
    return f"{min(max(megabytes, 1024), 8192)}m"


def machine_memory() -> int:
    """Bytes of memory this process may have: the machine's, or its container's if that is less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        return min(physical, int(limit))
    except (OSError, ValueError):
        return physical


def _build(chosen: Mapping[str, str]) -> SparkSession:
    try:
        with warnings.catch_warnings():
            # Over Connect each setting that was right for the start of the server is offered
            # to the running one again, which refuses it with a warning.
            warnings.filterwarnings("ignore", message="Failed to set spark", category=UserWarning)
            builder = SparkSession.builder
            for key, value in chosen.items():
                builder = builder.config(key, value)
            return builder.getOrCreate()
    except (PySparkException, RuntimeError, ValueError, OSError) as error:
        place = chosen.get("spark.remote") or chosen.get("spark.master", "")
        raise SetupError(
            f"Spark did not start: {str(error).splitlines()[0]}",
            where=place,
            hint="check the address, the memory asked for and the lines above; "
            "quiet=False shows what Spark says",
        ) from None


def _log_settings_file() -> Path:
    """A log4j2 settings file that silences Spark: what fails is raised, and told once."""
    file = cache_folder_for("java") / "log4j2-quiet.properties"
    if not file.is_file() or file.read_bytes() != _LOG_SETTINGS.encode():
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(_LOG_SETTINGS.encode())
        fresh.replace(file)
    return file
