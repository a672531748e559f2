"""How tests start Java: as fast as it goes, since none of them runs long enough for more.

Half of what a small session of Spark takes is to load classes. Java can keep those of one session
in an archive for the next ones: `python -m tests.java FILE` makes it, in 20 seconds of a processor,
and every JVM of a test then takes 4 of 11 less. Java leaves an archive alone that does not fit it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(__file__).parent.parent / "build" / "spark.jsa"

# Java's second compiler pays later than any test ends: without it a test takes a third less of a
# processor; and a tenth less where Java takes Spark's classes as they are.
OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote "
    "-Xlog:cds=off -Xlog:cds+dynamic=off"
)


def options() -> str:
    """What a JVM of a test is started with."""
    return f"{OPTIONS} -XX:SharedArchiveFile={ARCHIVE}" if ARCHIVE.exists() else OPTIONS


def make_archive(path: Path) -> None:
    """Load a graph and make views of it; the JVM keeps its classes when it ends."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{OPTIONS} -XX:ArchiveClassesAtExit={unfinished}"
    import graphtide as gt
    from graphtide.spark.session import open_session

    spark = open_session("local[2]", memory="1g")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "calls.csv"
        table.write_text("src,dst,year,kind\n1,2,2017,a\n2,3,2018,b\n")
        graph = gt.session(Path(folder) / "store", spark=spark).load("Calls", edges=table)
        graph.collection("years", "for y in 2017..2018 [upto-{y}: year <= y]")
        edges = graph.edges_to_spark()
        edges.mapInArrow(lambda rows: rows, edges.schema).toPandas()
    java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    java.stdin.close()
    java.wait()
    unfinished.rename(path)


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
