"""Answers, events and downloads by HTTP, to several at once, and a server that comes back."""

from __future__ import annotations

import gzip
import io
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from graphtide.web import answers, server
from graphtide.web.opening import Page, open_page
from tests.web.asking import Visitor, owner_of, path_of, port_of, wait_for
from tests.web.memory import ODD, collection_in_memory, run_in_memory

RUN = path_of("run", "years-WCC")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    collection_in_memory().open(browser=False)
    with run_in_memory().open(browser=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def owner(page: Page) -> Visitor:
    return owner_of(page)


def columns(heard: Any) -> dict[str, list[Any]]:
    return {column["name"]: column["values"] for column in heard.json["columns"]}


def test_a_table(owner: Visitor) -> None:
    heard = owner.get(f"{RUN}/table?view=upto-2018&sort=id&down=1&count=2")
    own = run_in_memory().table("upto-2018").to_pylist()
    first = sorted(own, key=lambda row: row["id"], reverse=True)[:2]
    assert columns(heard)["id"] == [row["id"] for row in first]
    assert heard.json["rows"] == len(own)
    assert heard.headers["cache-control"] == "no-store"


def test_names_are_taken_as_they_are(page: Page, owner: Visitor) -> None:
    for name in (ODD, "a/b", "..", "%2e%2e", "a b?c#d&e=f", "مرحبا", "🦊", "a\nb"):
        kind, held = page._server.shelf.put(run_in_memory_again(), name)
        assert (kind, held) == ("run", name)
        assert owner.get(path_of("run", name)).json["name"] == name


def run_in_memory_again() -> Any:
    return type(run_in_memory())(run_in_memory()._contents)


def test_files_of_the_page(owner: Visitor) -> None:
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for file in server.STATIC.rglob("*"):
        kind = kinds.get(file.suffix)
        if kind is None:
            continue
        path = f"/static/{file.relative_to(server.STATIC).as_posix()}"
        heard = owner.get(path)
        assert heard.body == file.read_bytes()
        assert heard.headers["content-type"].startswith(kind)
        assert ("max-age" in heard.headers["cache-control"]) == ("/vendor/" in path)
        again = owner.get(path, if_none_match=heard.headers["etag"])
        assert (again.status, again.body) == (304, b"")


def test_the_index(owner: Visitor) -> None:
    first, second = owner.get("/"), owner.get("/")
    policies = [heard.headers["content-security-policy"] for heard in (first, second)]
    assert policies[0] != policies[1], "each has a nonce of its own"
    assert all("'sha256-" in policy for policy in policies)
    assert first.headers["cache-control"] == "no-store"
    nonce = first.body.decode().partition('graphtide-nonce" content="')[2].partition('"')[0]
    assert f"'nonce-{nonce}'" in policies[0]


def test_answers_are_packed(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(answers.ROUTES, "test/long", lambda shelf, options: ["è"] * 10_000)
    packed = owner.get("/api/test/long", accept_encoding="br, gzip;q=0.8")
    assert packed.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.body)) == ["è"] * 10_000
    assert "content-encoding" not in owner.get("/api/test/long").headers
    assert "content-encoding" not in owner.get("/api/jobs", accept_encoding="gzip").headers


def test_ten_at_once(owner: Visitor) -> None:
    """Each gets its own answer, though the cursor of the run is one."""
    paths = [f"{RUN}/table?view={view}" for view in run_in_memory().views]
    paths += [f"{RUN}/summary", "/api/catalog", f"{RUN}/history?vertex=ann", "/static/app.js", "/"]
    wanted = {path: len(owner.get(path).body) for path in paths}
    together = threading.Barrier(10)

    def ask(at: int) -> list[tuple[str, int, int]]:
        together.wait(60)
        heard = []
        for _ in range(5):
            for path in paths[at % len(paths) :] + paths[: at % len(paths)]:
                one = owner.get(path)
                heard.append((path, one.status, len(one.body)))
        return heard

    with ThreadPoolExecutor(10) as pool:
        for heard in pool.map(ask, range(10)):
            for path, status, size in heard:
                assert status == 200
                assert size == wanted[path]


@pytest.mark.parametrize("table", ["summary", "record", "table", "history", "components"])
def test_downloads_are_the_tables_of_the_run(owner: Visitor, table: str, tmp_path: Path) -> None:
    asked = {"table": "upto-2018", "components": "upto-2018", "history": "ann"}
    name = "vertex" if table == "history" else "view"
    query = f"{name}={asked[table]}&" if table in asked else ""
    own = getattr(run_in_memory(), table)(*[asked[table]] if table in asked else [])
    heard = owner.get(f"/api/download{RUN.removeprefix('/api')}/{table}?{query}format=csv")
    assert heard.body == own.to_csv(tmp_path / "own.csv").read_bytes()
    assert heard.headers["content-type"].startswith("text/csv")
    assert heard.headers["content-disposition"].startswith("attachment; filename=")
    heard = owner.get(f"/api/download{RUN.removeprefix('/api')}/{table}?{query}format=parquet")
    saved = pa_parquet.read_table(io.BytesIO(heard.body))
    assert saved.schema == own.to_arrow().schema
    assert repr(saved.to_pylist()) == repr(own.to_arrow().to_pylist()), "with values that are nan"


def test_downloads_are_searched_and_sorted_and_whole(owner: Visitor) -> None:
    base = "/api/download/run/years-WCC/table?view=upto-2018&format=csv"
    lines = owner.get(f"{base}&sort=id&down=1&start=3&count=1").body.decode().splitlines()
    assert len(lines) == 1 + len(run_in_memory().table("upto-2018"))
    assert lines[1:] == sorted(lines[1:], reverse=True)
    assert len(owner.get(f"{base}&search=script").body.decode().splitlines()) == 2


def test_downloads_of_many_rows_come_in_parts(
    owner: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_ROWS_AT_ONCE", 100)
    wide = pa.array([[at, 1] for at in range(1_050)], pa.list_(pa.int64(), 2))
    loose = pa.array([[at] * (at % 3) for at in range(1_050)])
    table = pa.table({"id": [f"a,{at}" for at in range(1_050)], "wide": wide, "loose": loose})
    monkeypatch.setitem(answers.ROUTES, "test/many", lambda shelf, options: table)
    heard = owner.get("/api/download/test/many?format=parquet")
    assert pa_parquet.read_table(io.BytesIO(heard.body)).equals(table)
    lines = owner.get("/api/download/test/many?format=csv").body.decode().splitlines()
    assert lines[0] == '"id","wide_0","wide_1","loose"'
    assert len(lines) == 1_051
    assert lines[1_050] == '"a,1049",1049,1,"[1049, 1049]"'
    empty = table.slice(0, 0)
    monkeypatch.setitem(answers.ROUTES, "test/none", lambda shelf, options: empty)
    assert owner.get("/api/download/test/none").body.count(b"\n") == 1


def test_what_cannot_be_downloaded(owner: Visitor) -> None:
    assert owner.get("/api/download/catalog").status == 404
    assert owner.get("/api/download/run/years-WCC/summary?format=xlsx").status == 400
    assert owner.get("/api/download/run/nix/summary").status == 404


def test_problems(owner: Visitor) -> None:
    heard = owner.get(f"{RUN}/table?view=upto-2081")
    assert heard.status == 404
    assert "upto-2018" in heard.json["hint"]
    assert owner.get(f"{RUN}/table?view=upto-2018&sort=x").status == 400
    assert owner.get(path_of("run", "years-WC")).status == 404


class Told:
    """A source of events that says whether somebody still listens."""

    def __init__(self, last: int | None = None) -> None:
        self.ended = threading.Event()
        self.begun = 0
        self._last = last

    def __call__(self, shelf: Any, *names: str) -> Iterator[dict[str, Any] | None]:
        self.begun += 1
        try:
            at = 0
            while at != self._last:
                yield {"at": at, "names": names}
                yield None
                at += 1
                if self._last is None:
                    self.ended.wait(0.005)
        finally:
            self.ended.set()


def messages(body: bytes) -> list[Any]:
    lines = body.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def test_events(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(last=5)
    monkeypatch.setitem(answers.EVENTS, "test/*/events", told)
    heard = owner.get("/api/test/a%2Fb/events")
    assert heard.headers["content-type"].startswith("text/event-stream")
    # Whoever listens slowly hears the latest alone; the last one always.
    assert messages(heard.body)[-1] == {"at": 4, "names": ["a/b"]}
    assert told.ended.wait(60)


def test_events_end_when_the_client_goes(
    page: Page, owner: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    monkeypatch.setitem(answers.EVENTS, "test/events", told)
    lines = [owner.line() for _ in range(3)]
    for line in lines:
        line.sendall(owner.head("GET", "/api/test/events"))
        heard = b""
        while b"data: " not in heard:
            heard += line.recv(4096)
    served = page._server._guard._app.threads
    assert served.followed == 3
    for line in lines:
        line.close()
    wait_for(lambda: served.followed == 0)
    assert told.ended.wait(60)


def test_too_many_events(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphtide.web.server.MOST_FOLLOWED", 0)
    monkeypatch.setitem(answers.EVENTS, "test/events", Told())
    heard = owner.get("/api/test/events")
    assert heard.status == 400
    assert "kept current" in heard.json["what"]


def test_events_of_nothing(owner: Visitor) -> None:
    assert owner.get("/api/nix/events").status == 404
    assert owner.get("/api/jobs/1/events").status >= 400


def test_a_mistake_among_events_ends_them(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(shelf: Any) -> Iterator[Any]:
        yield {"at": 1}
        raise ZeroDivisionError("a secret")

    monkeypatch.setitem(answers.EVENTS, "test/events", wrong)
    with owner.line() as line:
        line.sendall(owner.head("GET", "/api/test/events"))
        heard = b""
        while part := line.recv(4096):
            heard += part
    assert b"200 OK" in heard
    assert b"secret" not in heard


def test_closed_and_started_again() -> None:
    """A page that is open goes on, on the same port, with the cookie that it has."""
    first = run_in_memory().open(browser=False, allow_changes=True)
    owner = owner_of(first)
    assert owner.get("/api/catalog").status == 200
    first.close()
    first.close()
    assert "closed" in repr(first)
    with pytest.raises(ConnectionRefusedError):
        owner.get("/api/catalog")
    with run_in_memory().open(browser=False, allow_changes=True, port=owner.port) as second:
        assert port_of(second) == owner.port
        assert owner.get("/api/catalog").status == 200
        assert owner.post("/api/gvdl/check", {"text": "show"}).status == 200


def test_closing_ends_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    told, go_on = Told(), threading.Event()
    monkeypatch.setitem(answers.EVENTS, "test/events", told)
    monkeypatch.setitem(answers.ROUTES, "test/slow", lambda shelf, options: go_on.wait(60))
    page = run_in_memory().open(browser=False, allow_changes=True)
    owner = owner_of(page)
    with owner.line() as listening, owner.line() as waiting:
        listening.sendall(owner.head("GET", "/api/test/events"))
        assert listening.recv(4096)
        waiting.sendall(owner.head("GET", "/api/test/slow"))
        wait_for(lambda: len(page._server._guard.connections) == 2)
        page.close()
        assert not page.running
        assert _to_end(listening)
        assert _to_end(waiting)
    go_on.set()
    assert told.ended.wait(60)


def _to_end(line: Any) -> bool:
    try:
        while line.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def test_mistakes_are_printed_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: Any) -> Any:
        raise ZeroDivisionError("of ours")

    monkeypatch.setitem(answers.ROUTES, "test/wrong", wrong)
    with open_page(browser=False, debug=True) as page:
        assert owner_of(page).get("/api/test/wrong").status == 500
    assert "ZeroDivisionError: of ours" in capfd.readouterr().err
