"""`graphtide shell`, in a terminal and without one; and what else a terminal changes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphtide.cli.command import GlobalOptions, Invocation
from graphtide.cli.shell import Shell
from tests.scenario.commands import graphtide, objects
from tests.scenario.terminal import END, Terminal

PROMPT, MORE = "graphtide> ", "...> "


def test_a_conversation(data: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "--data", data) as shell:
        assert "'help' helps" in shell.wait_for(PROMPT)
        shell.type("show\n")
        shell.wait_for(MORE)
        shell.type("  graphs -- ; all of them\n;\n")
        assert "2 graphs" in shell.wait_for(PROMPT)

        shell.type("create view v on Calls\n")
        shell.wait_for(MORE)
        shell.type("edges where yeer = 1;\n")
        said = shell.wait_for(PROMPT)
        assert "    2 | edges where yeer = 1;\n      |             ^^^^\n" in said
        assert "did you mean `year`?" in said

        shell.type("show gra")
        shell.wait_for("show gra")
        shell.interrupt()
        shell.wait_for(PROMPT)
        shell.type("show\n")
        shell.wait_for(MORE)
        shell.interrupt()
        shell.wait_for(PROMPT)

        shell.type("sho\tcollection ye\t;\n")
        assert "collection 'years' on Calls: 30 views" in shell.wait_for("... and 10 more rows")
        shell.wait_for(PROMPT)
        shell.type("help windows\n")
        assert "tumbling windows over ts" in shell.wait_for(PROMPT)
        shell.type(END)
        code, rest = shell.ended()
    assert code == 0
    assert "rror" not in rest
    assert "show collection years" in (tmp_path / "graphtide" / "history").read_text()


@pytest.mark.parametrize("word", ["quit", "exit;", " QUIT "])
def test_words_that_leave(data: Path, word: str) -> None:
    result = graphtide("shell", "--data", data, typed=f"show graphs;\n{word}\nshow views;\n")
    assert result.exit_code == 0
    assert result.stdout.startswith("2 graphs\n")
    assert "1 view" not in result.stdout


def test_a_pipe_goes_on_after_an_error_and_tells_at_the_end(data: Path) -> None:
    typed = "show graph x; show graphs;\nshaw;\nshow\nviews"
    result = graphtide("shell", "--data", data, "--json", typed=typed)
    assert result.exit_code == 1
    assert PROMPT not in result.stdout
    first, second, third = objects(result)
    assert first["error"]["what"] == "there is no graph named 'x'"
    assert second["error"]["where"].startswith("line 1, column 1")
    assert third["text"] == "1 view"


def test_an_interrupt_stops_the_statement_and_not_the_shell(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["show graphs;", "show views;", "quit"])

    def interrupted(*ignored: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("graphtide.run.statements.execute.execute_statement", interrupted)
    invocation = Invocation(GlobalOptions(data=data))
    Shell(invocation, lambda prompt: next(lines), interactive=True).run()
    out, err = capsys.readouterr()
    assert err == "interrupted\n"
    assert "1 view" in out
    assert "graphs" not in out


def test_a_mistake_of_ours_does_not_end_the_shell(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*ignored: object) -> None:
        monkeypatch.undo()
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("graphtide.run.statements.execute.execute_statement", broken)
    result = graphtide("shell", "--data", data, typed="show graphs;\nshow views;\n")
    assert result.exit_code == 1
    assert "Graphtide has made a mistake: ZeroDivisionError: oops" in result.stderr
    assert "1 view" in result.stdout


def test_ctrl_c_ends_a_command_with_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "graphtide.cli.main", "--data", str(tmp_path), "shell"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"help\n")
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert (running.returncode, said) == (130, b"interrupted\n")


def test_a_terminal_gets_the_first_rows_within_its_width(data: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, "show", "years", "--data", data, columns=50) as first:
        code, text = first.ended()
    assert code == 0
    assert "... and 10 more rows" in text
    table = text[text.index("view  ") :].splitlines()
    assert len(table) == 1 + 20 + 1
    assert max(map(len, table)) <= 50
    with Terminal(tmp_path, "show", "years", "--all", "--data", data) as everything:
        _, text = everything.ended()
    assert "upto-2039" in text
    assert "more rows" not in text


def test_colours_where_they_are_wanted(data: Path, tmp_path: Path) -> None:
    arguments = ("show", "nothing", "--data", data)
    with Terminal(tmp_path, *arguments, TERM="xterm-256color") as coloured:
        code, text = coloured.ended()
    assert code == 1
    assert "\x1b[31merror: there is no graph" in text
    with Terminal(tmp_path, *arguments, TERM="xterm-256color", NO_COLOR="1") as plain:
        _, text = plain.ended()
    assert "\x1b[31m" not in text


def test_delete_asks_in_a_terminal(data: Path, tmp_path: Path) -> None:
    arguments = ("delete", "graph", "Empty", "--data", data)
    for answer, expected in (("n\n", 1), ("y\n", 0)):
        with Terminal(tmp_path, *arguments) as asking:
            asking.wait_for("delete graph 'Empty' of 3 vertices and 0 edges? [y/N]:")
            asking.type(answer)
            code, _ = asking.ended()
        assert code == expected
    assert [item.name for item in (data / "graphs").iterdir() if (item / "CURRENT").exists()] == [
        "Calls"
    ]
