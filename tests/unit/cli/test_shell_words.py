"""Help and completion of the shell: examples parse, and Tab knows what may come."""

from __future__ import annotations

import re

import pytest

from graphtide.cli.shell import TOPICS, candidates, help_text, keywords
from graphtide.lang.gvdl.parse import parse_script
from graphtide.model.errors import StoreError


class Names:
    """As much of a session as completion looks at."""

    def __init__(self) -> None:
        self.catalog = self

    def graphs(self) -> list[str]:
        return ["Calls", "Cars", "my graph"]

    def views(self) -> list[str]:
        return ["CA-calls"]

    def collections(self) -> list[str]:
        return ["CA-calls", "years"]

    def runs(self) -> list[str]:
        return ["years-BFS", "years-WCC"]


def completed(line: str) -> list[str]:
    word = re.split(r"[ \t;,()]", line)[-1]
    return candidates(line, word, Names())  # type: ignore[arg-type]


@pytest.mark.parametrize("topic", TOPICS)
def test_every_example_is_a_statement(topic: str) -> None:
    indented = [line for line in help_text(topic).splitlines() if line.startswith("  ")]
    assert parse_script("\n".join(indented))


def test_help_lists_its_topics_and_forgives_a_slip() -> None:
    assert all(topic in help_text("") for topic in TOPICS)
    assert help_text("window") == help_text("windows")
    assert "no help on 'xyzzy'" in help_text("xyzzy")


def test_keywords_come_from_the_grammar() -> None:
    assert {"create", "view", "sliding", "tumbling", "without", "src", "quarantine"} <= keywords()
    assert all(re.fullmatch("[a-z_]+", word) for word in keywords())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cre", ["create"]),
        ("qui", ["quit"]),
        ("show qui", []),
        ("create view v on Ca", ["CA-calls", "Calls", "Cars"]),
        ("use graph `m", ["`my graph`"]),
        ("show collection y", ["years"]),
        ("delete graph y", []),
        ("help win", ["windows"]),
        ("run wc", ["wcc"]),
        ("explain run differential page", ["page_rank"]),
        ("show wc", []),
        ("run wcc on y", ["years"]),
        ("run bfs(source='a') on C", ["CA-calls"]),
        ("show run years-W", ["years-WCC"]),
        ("delete run y", ["years-BFS", "years-WCC"]),
        ("create view collection c on Calls sl", ["sliding"]),
    ],
)
def test_completion(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_a_damaged_catalog_completes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(self: Names) -> list[str]:
        raise StoreError("damaged")

    monkeypatch.setattr(Names, "graphs", damaged)
    assert completed("use graph C") == ["CA-calls"]
