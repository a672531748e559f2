"""Opening the page: from Python, from the command line, with and without a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import graphtide as gt
from graphtide.cli.main import app
from graphtide.model.errors import InputError, SetupError
from graphtide.store.catalog import Catalog
from graphtide.web import opening
from graphtide.web.opening import Page, open_page
from tests.graphs import write_graph
from tests.scenario.stored import SCHEMA, write_catalog
from tests.web.asking import Visitor, owner_of, port_of, token_of, wait_for
from tests.web.memory import collection_in_memory, graph_in_memory, run_in_memory


@pytest.fixture
def opened() -> Iterator[list[Page]]:
    """Pages that are closed at the end, whatever happened."""
    pages: list[Page] = []
    yield pages
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "store"
    write_catalog(folder)
    return folder


def place_of(page: Page) -> str:
    return page.address.partition("#/")[2]


def test_what_is_in_memory_shares_a_server(opened: list[Page]) -> None:
    things: list[Any] = [collection_in_memory(), run_in_memory(), graph_in_memory()]
    opened += [thing.open(browser=False) for thing in things]
    assert len({port_of(page) for page in opened}) == 1
    assert [place_of(page) for page in opened] == [
        "collection/years",
        "run/years-WCC",
        "live/graph",
    ]
    assert place_of(run_in_memory().open(browser=False)) == "run/years-WCC", "the same again"
    items = owner_of(opened[0]).get("/api/catalog").json["items"]
    assert {f"{item['kind']}/{item['name']}" for item in items} == set(map(place_of, opened))


def test_other_settings_have_other_servers(opened: list[Page]) -> None:
    opened.append(run_in_memory().open(browser=False))
    opened.append(run_in_memory().open(browser=False, allow_changes=True))
    assert port_of(opened[0]) != port_of(opened[1])
    assert [owner_of(page).get("/api/catalog").json["changes"] for page in opened] == [False, True]


def test_what_is_stored_is_opened_in_its_session(store: Path, opened: list[Page]) -> None:
    session = gt.session(store, progress=False)
    for thing, place in (
        (session, ""),
        (session.collection("years"), "collection/years"),
        (session.graph("Calls"), "graph/Calls"),
        (session.collection("early"), "collection/early"),
    ):
        page = thing.open(browser=False)
        opened.append(page)
        assert place_of(page) == place
        names = {item["name"] for item in owner_of(page).get("/api/catalog").json["items"]}
        assert {"Calls", "years", "early"} <= names
    assert len({port_of(page) for page in opened}) == 1


def test_stored_runs(store: Path, opened: list[Page]) -> None:
    session = gt.session(store, progress=False)
    opened.append(
        session.collection("years").run(gt.algorithms.WCC(), name="own").open(browser=False)
    )
    assert place_of(opened[0]) == "run/own"
    assert owner_of(opened[0]).get("/api/run/own").json["drawable"]


def test_live_graphs(tmp_path: Path, opened: list[Page]) -> None:
    with gt.live(tmp_path / "flights", gt.Graph([1, 2], [2, 3])) as live:
        opened.append(live.open(browser=False))
        assert place_of(opened[0]) == "live/flights"
        items = owner_of(opened[0]).get("/api/catalog").json["items"]
        assert [item["kind"] for item in items] == ["live"]


def test_names_in_addresses_are_encoded(opened: list[Page]) -> None:
    views = {"a": "year <= 2018"}
    opened.append(graph_in_memory().collection("a/b ?#é", views).open(browser=False))
    assert place_of(opened[0]) == "collection/a%2Fb%20%3F%23%C3%A9"


def test_the_address_is_printed_and_its_token_kept_out_of_notebooks(
    opened: list[Page], capsys: pytest.CaptureFixture[str]
) -> None:
    opened.append(run_in_memory().open(browser=False))
    assert capsys.readouterr().out == f"the page is at {opened[0].address}\n"
    assert token_of(opened[0]) not in repr(opened[0])
    assert repr(opened[0]) == f"<page at http://127.0.0.1:{port_of(opened[0])}/#/run/years-WCC>"


def test_it_listens_on_this_machine_alone(opened: list[Page]) -> None:
    opened.append(run_in_memory().open(browser=False))
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port_of(opened[0])), 5):
        pass


def test_other_machines(opened: list[Page], capsys: pytest.CaptureFixture[str]) -> None:
    opened.append(run_in_memory().open(browser=False, host="0.0.0.0"))
    assert "warning: other machines can reach" in capsys.readouterr().out
    owner, port = owner_of(opened[0]), port_of(opened[0])
    for host in ("127.0.0.2", "10.1.2.3", "localhost", socket.gethostname(), "[fe80::1]"):
        assert owner.get("/api/catalog", host=f"{host}:{port}").status == 200
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert owner.get("/api/catalog", host=f"{host}:{port}").status == 403
    assert Visitor(port).get("/api/catalog").status == 403


def test_a_port_of_your_own(opened: list[Page]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port} is taken"):
            run_in_memory().open(browser=False, port=port)
    opened.append(run_in_memory().open(browser=False, port=port))
    assert port_of(opened[0]) == port
    again = run_in_memory().open(browser=False, port=port)
    assert port_of(again) == port_of(run_in_memory().open(browser=False)) == port


@pytest.mark.parametrize("port", [0, -1, 65_536, "80", 1.5, True])
def test_ports_that_cannot_be(port: Any) -> None:
    with pytest.raises(InputError, match="port cannot be"):
        run_in_memory().open(browser=False, port=port)


@pytest.mark.parametrize("host", ["nowhere.invalid", "1.2.3.4", "a b", "\x00"])
def test_hosts_that_cannot_be(host: str) -> None:
    with pytest.raises((InputError, SetupError)):
        run_in_memory().open(browser=False, host=host)


def test_without_a_browser(
    opened: list[Page], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_browser", lambda: None)
    opened.append(run_in_memory().open())
    assert "there is no browser here" in capsys.readouterr().out


def test_no_browser_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert opening._browser() is None

    def none(*_: Any) -> Any:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "get", none)
    assert opening._browser() is None


class Browser:
    """What a browser is told, which all users of a machine can read."""

    def __init__(self, works: bool = True) -> None:
        self.told: list[str] = []
        self._works = works

    def open(self, address: str) -> bool:
        self.told.append(address)
        return self._works


def test_the_browser_is_led_by_a_file_of_the_owner(
    opened: list[Page], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    browser = Browser()
    monkeypatch.setattr(opening, "_browser", lambda: browser)
    monkeypatch.setenv("HOME", str(tmp_path))
    opened.append(run_in_memory().open(allow_changes=True))
    wait_for(lambda: bool(browser.told))
    assert token_of(opened[0]) not in browser.told[0]
    assert browser.told[0].startswith("file://")
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert f'url={opened[0].address}"' in file.read_text()
    owner_of(opened[0])
    wait_for(lambda: not file.exists())


def test_a_file_that_nobody_has_read_goes_with_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    browser, said = Browser(works=False), []
    monkeypatch.setattr(opening, "_browser", lambda: browser)
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_page(allow_changes=True, report=said.append):
        wait_for(lambda: "the browser did not open: open the address yourself" in said)
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr().out == ""


def test_save_html(tmp_path: Path) -> None:
    path = run_in_memory().save_html(tmp_path / "run.html")
    assert b"years-WCC" in path.read_bytes()
    with pytest.raises(InputError, match="megabytes"):
        run_in_memory().save_html(tmp_path / "run.html", most=0)


@contextmanager
def started(*words: str, **environment: str) -> Iterator[tuple[Any, str]]:
    """The command, and the first line that it prints."""
    command = [sys.executable, "-m", "graphtide", "open", "--no-browser", *words]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


def test_the_command_runs_until_it_is_interrupted(store: Path) -> None:
    with started(str(store), "years") as (process, line):
        address = re.fullmatch(r"the page is at (http://127.0.0.1:(\d+)/\?token=\S+)\n", line)
        assert address
        assert address[1].endswith("#/collection/years")
        visitor = Visitor(int(address[2]))
        visitor.enter(address[1][address[1].index("/?") :].partition("#")[0])
        with visitor.line() as listening:
            listening.sendall(visitor.head("GET", "/api/collection/years"))
            assert b"200 OK" in listening.recv(100)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")


def ran(*words: str) -> tuple[int, str]:
    """The exit code and what is printed, of a command that has nothing to wait for."""
    result = CliRunner().invoke(app, ["open", *words])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """With what the command opens the page; nothing is waited for."""
    asked: list[dict[str, Any]] = []

    def note(**given: Any) -> Page:
        asked.append(given)
        return open_page(**given)

    monkeypatch.setattr(opening, "open_page", note)
    monkeypatch.setattr(Page, "wait", lambda page: None)
    return asked


def test_options_of_the_command(store: Path, pages: list[dict[str, Any]]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, said = ran(str(store), "--allow-changes", "--port", str(port), "--no-browser")
    assert code == 0, said
    assert f"http://127.0.0.1:{port}/?token=" in said
    given = pages[0]
    assert (given["allow_changes"], given["browser"], given["place"]) == (True, False, [])
    assert given["session"].catalog.root == store.resolve()
    assert ran(str(store), "--no-browser", "--json")[1].startswith('{"text": "the page is at')
    assert "warning" in ran(str(store), "--no-browser", "--host", "0.0.0.0")[1]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("years", ["collection", "years"]),
        ("early", ["collection", "early"]),
        ("Calls", ["graph", "Calls"]),
        ("Flights", ["live", "Flights"]),
    ],
)
def test_names_of_the_command(
    tmp_path: Path, pages: list[dict[str, Any]], name: str, place: list[str]
) -> None:
    write_catalog(tmp_path)
    session = gt.session(tmp_path, progress=False)
    session.live("Flights", gt.Graph([1], [2])).close()
    code, said = ran("--no-browser", "--data", str(tmp_path), name)
    assert code == 0, said
    assert ran("--no-browser", str(tmp_path), name)[0] == 0
    assert [given["place"] for given in pages] == [place, place]


def test_mistakes_at_the_command(store: Path, tmp_path: Path, pages: list[Any]) -> None:
    assert ran(str(tmp_path / "nix"))[0] == 1
    code, said = ran(str(store), "yeras")
    assert code == 1
    assert "did you mean 'years'?" in said
    assert ran(str(store), "--data", str(store))[0] == 2
    assert ran(str(store), "--quiet", "--no-browser")[0] == 2
    assert ran(str(store), "--port", "0")[0] == 2
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        code, said = ran(str(store), "--no-browser", "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "is taken" in said
    assert pages[0]["browser"] is False


def test_a_damaged_store_is_opened(tmp_path: Path, pages: list[Any]) -> None:
    write_graph(Catalog(tmp_path), "g", SCHEMA, [{"id": "a"}], [])
    for file in tmp_path.rglob("*.parquet"):
        file.write_bytes(b"")
    assert ran(str(tmp_path), "--no-browser")[0] == 0
