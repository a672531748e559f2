"""What is printed for programs, and how a command ends."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Iterator

import pyarrow as pa
import pytest
import typer

from graphtide.cli.command import (
    FailedStatement,
    GlobalOptions,
    Invocation,
    JsonPrinter,
    TextPrinter,
    as_json,
    reported,
)
from graphtide.model.errors import InputError
from graphtide.run.statements.answers import Answer


def ends_with(options: GlobalOptions, error: BaseException) -> int:
    with pytest.raises(typer.Exit) as ending, reported(Invocation(options)):
        raise error
    return ending.value.exit_code


def test_json_knows_dates_and_numbers_that_are_none() -> None:
    value = {"day": dt.date(2020, 1, 2), "x": [float("nan"), 0.5], "t": dt.datetime(2020, 1, 2, 3)}
    expected = {"day": "2020-01-02", "x": ["nan", 0.5], "t": "2020-01-02T03:00:00"}
    assert as_json(value) == expected


def test_an_answer_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"day": [dt.date(2020, 1, 2)], "name": ["Zoë\n"]})
    JsonPrinter().answer(Answer("two\nlines", table, notes=("n",)))
    (line,) = capsys.readouterr().out.splitlines()
    rows = [{"day": "2020-01-02", "name": "Zoë\n"}]
    assert json.loads(line) == {"text": "two\nlines", "table": rows, "notes": ["n"]}


def test_an_error_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    error = InputError("it is [bold]wrong[/bold]", where="line 1\n    x\n    ^", hint="do better")
    assert ends_with(GlobalOptions(), error) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {error}\n")


def test_an_error_of_ours_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends_with(GlobalOptions(json=True), InputError("wrong", hint="better")) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": {"what": "wrong", "where": None, "hint": "better"}}
    assert err == ""


def test_a_bug_is_told_in_a_few_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends_with(GlobalOptions(), ZeroDivisionError("first\nsecond")) == 1
    err = capsys.readouterr().err
    assert "mistake: ZeroDivisionError: first\n" in err
    assert "--debug" in err
    assert "Traceback" not in err


def test_an_error_of_the_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends_with(GlobalOptions(), PermissionError(13, "Permission denied", "/some/file")) == 1
    assert capsys.readouterr().err == "error: Permission denied\n  at: /some/file\n"


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends_with(GlobalOptions(debug=True), ZeroDivisionError("x")) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends_with(GlobalOptions(), KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_options_behind_the_command_win() -> None:
    before = GlobalOptions(memory="1g", quiet=True, master="local[1]")
    both = GlobalOptions(memory="2g", json=True).over(before)
    assert both == GlobalOptions(memory="2g", quiet=True, json=True, master="local[1]")


def test_the_folder_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTIDE_DATA", "elsewhere")
    assert str(GlobalOptions().folder) == "elsewhere"
    monkeypatch.delenv("GRAPHTIDE_DATA")
    assert str(GlobalOptions().folder) == "graphtide-data"


@pytest.mark.parametrize(
    ("failed", "expected"),
    [
        (FailedStatement(1, 3, 1), "the statement on line 3 failed"),
        (FailedStatement(1, 3, 2), "statement 1 of 2 (line 3) failed; nothing has been done"),
        (FailedStatement(2, 3, 2), "statement 2 of 2 (line 3) failed; the one before it is done"),
        (
            FailedStatement(9, 30, 12),
            "statement 9 of 12 (line 30) failed; the 8 before it are done",
        ),
    ],
)
def test_which_statement_failed(failed: FailedStatement, expected: str) -> None:
    assert str(failed) == expected


@pytest.fixture(autouse=True)
def _same_handlers() -> Iterator[None]:
    before = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = before


ODD = "a\x1b[31mred\x9b2J[bold]x[/bold]\r\x07"


def test_no_name_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by control characters nor by markup, in any part of an answer or error."""
    table = pa.table({ODD: [ODD]})
    TextPrinter().answer(Answer(f"first\n{ODD}", table, notes=(ODD,)))
    TextPrinter().error(InputError(ODD, where=f"{ODD}\n   ^", hint=ODD))
    stop = KeyboardInterrupt()
    stop.add_note(ODD)
    TextPrinter().interrupted(stop)
    out, err = capsys.readouterr()
    for text in (out, err):
        assert not any(character in text for character in "\x1b\x9b\r\x07")
        assert "\\x1b[31mred\\x9b2J[bold]x[/bold]\\r\\x07" in text
    assert out.count("\n") == 5


def test_no_name_steers_a_terminal_through_json(capsys: pytest.CaptureFixture[str]) -> None:
    JsonPrinter().answer(Answer(ODD, None))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert json.loads(line)["text"] == ODD
