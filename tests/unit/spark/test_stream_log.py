"""A stream that ends with an error of ours leaves no stack in the log of somebody's session."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from graphtide.spark import streams


class Log:
    """What is asked of Log4j, with a configuration that names loggers of its own."""

    def __init__(self, own: bool) -> None:
        self.asked: list[Any] = []
        self.restored = threading.Event()
        loggers = SimpleNamespace(containsKey=lambda name: own)
        configuration = SimpleNamespace(getLoggers=lambda: loggers, removeLogger=self.removed)
        context = SimpleNamespace(
            getConfiguration=lambda: configuration, updateLoggers=self.restored.set
        )
        manager = SimpleNamespace(
            getContext=lambda current: context,
            getLogger=lambda name: SimpleNamespace(getLevel=lambda: "WARN"),
        )
        configurator = SimpleNamespace(setLevel=self.levelled)
        core = SimpleNamespace(config=SimpleNamespace(Configurator=configurator))
        level = SimpleNamespace(OFF="OFF")
        log4j = SimpleNamespace(LogManager=manager, core=core, Level=level)
        self.java = SimpleNamespace(
            org=SimpleNamespace(apache=SimpleNamespace(logging=SimpleNamespace(log4j=log4j)))
        )

    def levelled(self, name: str, level: str) -> None:
        self.asked.append((name, level))
        if len(self.asked) == 2:
            self.restored.set()

    def removed(self, name: str) -> None:
        self.asked.append((name, None))


@pytest.mark.parametrize("own", [False, True])
def test_loggers_of_streams_are_silent_while_a_query_ends(
    monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.setattr(streams, "_UNLOGGED_SECONDS", 0.01)
    log = Log(own)
    query = SimpleNamespace(isActive=True, id="1")
    handed: list[Any] = []
    writer = SimpleNamespace(
        foreachBatch=lambda function: (
            handed.append(function) or SimpleNamespace(start=lambda: query)
        )
    )
    monkeypatch.setattr(streams, "_writer", lambda *_: writer)
    stream: Any = SimpleNamespace(sparkSession=SimpleNamespace(_jvm=log.java))

    def refuse(batch: int, load: Any) -> None:
        raise ValueError

    streams.start_batches(stream, refuse, "checkpoint", None)
    with pytest.raises(ValueError):
        handed[0](None, 3)
    assert log.restored.wait(60)
    name = "org.apache.spark.sql.execution.streaming"
    assert log.asked == [(name, "OFF"), (name, "WARN" if own else None)]


def test_a_session_without_java_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    streams._leave_unlogged(SimpleNamespace(sparkSession=SimpleNamespace()))  # type: ignore[arg-type]
