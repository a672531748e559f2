"""Who may ask the page's server, and how much: strangers get nothing, whatever they send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import graphtide as gt
from graphtide.store.catalog import Catalog
from graphtide.web import answers, guard
from graphtide.web import guard as connections
from graphtide.web import server as threads
from graphtide.web.opening import Page, open_page
from tests.graphs import write_graph
from tests.scenario.stored import SCHEMA
from tests.web.asking import MOST_SECONDS, Visitor, owner_of, path_of, port_of, token_of, wait_for
from tests.web.memory import ODD, run_in_memory

PATHS = ("/", "/api/catalog", "/static/app.js", "/api/jobs", "/api/download/run/x/table", "/nix")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with run_in_memory().open(browser=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def owner(page: Page) -> Visitor:
    return owner_of(page)


@pytest.fixture
def stranger(page: Page) -> Visitor:
    return Visitor(port_of(page))


@pytest.fixture
def connected(page: Page) -> connections.Connections:
    return page._server._guard.connections


def test_the_owner_is_let_in(owner: Visitor) -> None:
    assert owner.get("/").status == 200
    names = [item["name"] for item in owner.get("/api/catalog").json["items"]]
    assert "years-WCC" in names
    assert owner.get("/static/app.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("path", PATHS)
def test_a_stranger_gets_nothing(stranger: Visitor, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        heard = stranger.ask(method, path, b"{}" if method == "POST" else None)
        assert heard.status == 403
        assert b"years" not in heard.body
        assert "set-cookie" not in heard.headers
        assert heard.headers["connection"] == "close"


def test_the_token_is_swapped_for_a_cookie(page: Page, stranger: Visitor) -> None:
    heard = stranger.get(f"/?token={token_of(page)}")
    assert heard.status == 303
    home, cookie = heard.headers["location"], heard.headers["set-cookie"]
    assert len(home) > 20
    assert f"Path={home};" in cookie, "other servers of this machine are not sent it"
    assert cookie.startswith(f"graphtide-{stranger.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert token_of(page) not in cookie


def test_from_another_site_the_page_itself_goes_on(page: Page, stranger: Visitor) -> None:
    """Browsers do not send a strict cookie along a redirect from another site."""
    heard = stranger.get(f"/?token={token_of(page)}", sec_fetch_site="cross-site")
    assert heard.status == 200
    assert heard.headers["set-cookie"]
    assert token_of(page).encode() not in heard.body
    assert "sha256-" in heard.headers["content-security-policy"]


@pytest.mark.parametrize("change", [str.lower, str.upper, lambda t: t[:-1], lambda t: t + "x"])
def test_wrong_tokens(page: Page, stranger: Visitor, change: Callable[[str], str]) -> None:
    assert stranger.get(f"/?token={change(token_of(page))}").status == 403


@pytest.mark.parametrize("query", ["?token=", "?token", "?token=%00", "?token=%ff%fe", "?&=&"])
def test_odd_tokens(stranger: Visitor, query: str) -> None:
    assert stranger.get("/" + query).status == 403


def test_the_token_opens_the_first_address_alone(page: Page, stranger: Visitor) -> None:
    for path in ("/api/catalog", "/static/app.js", "/index.html", "//"):
        assert stranger.get(f"{path}?token={token_of(page)}").status == 403
    heard = stranger.ask("POST", f"/?token={token_of(page)}", b"{}")
    assert heard.status == 403


def foreign_hosts(port: int) -> list[str]:
    return [
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"localhost.evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        f"127.0.0.2:{port}",
        f"evil@127.0.0.1:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"127.0.0.1:{port}, evil.example",
        f"0x7f000001:{port}",
        f":{port}",
        f"[::]:{port}",
        "",
    ]


@pytest.mark.parametrize("at", range(len(foreign_hosts(0))))
def test_foreign_hosts(page: Page, owner: Visitor, at: int) -> None:
    """A name of somebody else that leads here (DNS rebinding) gets nothing, whatever it has."""
    host = foreign_hosts(owner.port)[at]
    for path in (*PATHS, f"/?token={token_of(page)}"):
        heard = owner.get(path, host=host)
        assert heard.status in (400, 403), path
        assert "set-cookie" not in heard.headers
        assert b"years" not in heard.body


def test_own_hosts(owner: Visitor) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert owner.get("/api/catalog", host=f"{name}:{owner.port}").status == 200


def test_no_host_and_two(owner: Visitor) -> None:
    for head in (
        f"GET /api/catalog HTTP/1.0\r\nCookie: {owner.cookie}\r\n\r\n",
        f"GET /api/catalog HTTP/1.1\r\nHost: 127.0.0.1:{owner.port}\r\nHost: evil.example\r\n"
        f"Cookie: {owner.cookie}\r\n\r\n",
    ):
        with owner.line() as line:
            line.sendall(head.encode())
            assert line.recv(100).split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://evil.example:{port}",
        "http://127.0.0.1.evil.example:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "null",
        "",
    ],
)
def test_foreign_origins(owner: Visitor, origin: str) -> None:
    sent = origin.format(port=owner.port)
    for path in PATHS:
        assert owner.get(path, origin=sent).status == 403
    assert owner.post("/api/gvdl/check", {"text": ""}, origin=sent).status == 403


def test_own_origin(owner: Visitor) -> None:
    assert owner.get("/api/catalog", origin=f"http://127.0.0.1:{owner.port}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_and_ports_load_nothing(owner: Visitor, site: str) -> None:
    """A page of another port of this machine is of the same site: browsers send it the cookie."""
    for path in ("/api/catalog", "/static/app.js"):
        assert owner.get(path, sec_fetch_site=site).status == 403
        assert owner.get(path, sec_fetch_site="same-origin").status == 200


def test_cookies_of_other_servers(owner: Visitor) -> None:
    assert owner.cookie is not None
    name, _, value = owner.cookie.partition("=")
    for wrong in (
        f"graphtide-{owner.port + 1}={value}",
        f"graphtide={value}",
        f"{name}={value[:-1]}",
        f"{name}={value}x",
        f"{name}=",
        f"x{name}={value}",
        f'{name}="{value}"',
        "é=é",
    ):
        assert owner.get("/api/catalog", cookie=wrong).status == 403, wrong
    many = f"{name}=wrong; a b c; _xsrf=1|2; graphtide-1=x; {name}={value}; =; ;;"
    assert owner.get("/api/catalog", cookie=many).status == 200


def test_a_second_server_has_a_cookie_of_its_own(owner: Visitor) -> None:
    with open_page(browser=False, allow_changes=True) as other:
        assert port_of(other) != owner.port
        visitor = Visitor(port_of(other), owner.cookie)
        visitor.home = owner.home
        assert visitor.get("/api/catalog").status == 403
        assert owner_of(other).get("/api/catalog").json["items"] == []


def test_posts_need_the_second_token_and_json(owner: Visitor) -> None:
    path, body = "/api/gvdl/check", {"text": "show graphs;"}
    assert owner.post(path, body).status == 200
    for token in (None, "", "x", owner.cookie):
        assert owner.post(path, body, x_graphtide=token).status == 403
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert owner.post(path, body, content_type=kind).status == 415
    assert owner.post(path, body, content_type="application/json; charset=utf-8").status == 200
    for wrong in (b"", b"{", b"[]", b"1", b"\xff", b"null"):
        assert owner.post(path, wrong).status == 400


def test_changes_are_refused(owner: Visitor) -> None:
    for path, body in (("/api/jobs", {"statement": "delete graph x;"}), ("/api/jobs/1/cancel", {})):
        heard = owner.post(path, body)
        assert heard.status == 403
        assert "reading only" in heard.json["what"]


def test_other_methods(owner: Visitor) -> None:
    assert owner.ask("HEAD", "/api/catalog").status == 200
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert owner.ask(method, "/api/catalog").status == 405
    assert owner.post("/static/app.js", {}).status == 404


def test_headers_of_every_answer(owner: Visitor, stranger: Visitor) -> None:
    for heard in (
        *(owner.get(path) for path in PATHS),
        *(stranger.get(path) for path in PATHS),
        owner.get(path_of("run", "years-WCC", "summary")),
        owner.get("/api/download/run/years-WCC/summary"),
    ):
        policy = heard.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert heard.headers["x-content-type-options"] == "nosniff"
        assert heard.headers["referrer-policy"] == "no-referrer"
        assert heard.headers["cross-origin-resource-policy"] == "same-origin"


BODY = 100_000_000


def test_large_bodies_are_refused_unread(owner: Visitor, stranger: Visitor) -> None:
    more = [f"Content-Length: {BODY}", "Content-Type: application/json"]
    for who, method in ((owner, "POST"), (owner, "GET"), (stranger, "POST")):
        with who.line() as line:
            line.sendall(who.head(method, "/api/gvdl/check", *more, f"x-graphtide: {who.token}"))
            assert line.recv(4096).split()[1] in (b"413", b"403")


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "9" * 40, "1, 2"])
def test_odd_lengths(owner: Visitor, length: str) -> None:
    with owner.line() as line:
        line.sendall(owner.head("POST", "/api/gvdl/check", f"Content-Length: {length}"))
        assert line.recv(4096).split()[1] in (b"400", b"413")


def test_large_bodies_without_a_length(owner: Visitor) -> None:
    more = ["Transfer-Encoding: chunked", "Content-Type: application/json"]
    piece, sent = b"10000\r\n" + b" " * 0x10000 + b"\r\n", 0
    with owner.line() as line:
        line.sendall(owner.head("POST", "/api/gvdl/check", *more, f"x-graphtide: {owner.token}"))
        line.settimeout(MOST_SECONDS)
        try:
            while sent < BODY:
                line.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
    assert sent < BODY / 4, "what a socket holds, and no more"


def test_slow_bodies(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS_TO_SEND", 0.05)
    more = ["Content-Length: 10", "Content-Type: application/json"]
    with owner.line() as line:
        line.sendall(owner.head("POST", "/api/gvdl/check", *more, f"x-graphtide: {owner.token}"))
        line.sendall(b"{")
        assert line.recv(4096).split()[1] == b"408"


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0"])
def test_slow_headers(stranger: Visitor, begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_ASK", 0.05)
    with stranger.line() as line:
        line.sendall(begun)
        assert _ends(line)


def test_a_slow_second_request(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    with owner.line() as line:
        line.sendall(owner.head("HEAD", "/api/catalog"))
        assert line.recv(4096).split()[1] == b"200"
        monkeypatch.setattr(connections, "SECONDS_TO_ASK", 0.05)
        line.sendall(b"GET /api")
        assert _ends(line)


def test_large_headers(owner: Visitor) -> None:
    with owner.line() as line:
        line.sendall(owner.head("GET", "/api/catalog", "X: " + "x" * 20_000))
        assert line.recv(4096).split()[1] in (b"400", b"431")
    assert owner.get("/api/catalog?x=" + "x" * 20_000).status in (400, 431)


def test_what_is_no_http(stranger: Visitor, capfd: pytest.CaptureFixture[str]) -> None:
    for sent in (b"\x16\x03\x01\x02\x00\x01", b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"\xff" * 1000):
        with stranger.line() as line:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
            while line.recv(4096):
                pass
    assert capfd.readouterr() == ("", "")


def _ends(line: socket.socket) -> bool:
    try:
        return line.recv(4096) == b""
    except ConnectionResetError:
        return True


def test_a_client_that_does_not_read(
    owner: Visitor, connected: connections.Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_READ", 0.05)
    monkeypatch.setitem(answers.ROUTES, "test/large", lambda shelf, options: "x" * 20_000_000)
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", owner.port))
        line.sendall(owner.head("GET", "/api/test/large"))
        assert line.recv(10)
        wait_for(lambda: len(connected) == 0)


def test_a_thousand_idle_connections(owner: Visitor, connected: connections.Connections) -> None:
    with owner.line() as own:
        own.sendall(owner.head("GET", "/api/catalog"))
        assert own.recv(20).split()[1] == b"200"
        idle = []
        try:
            while len(idle) < 1_000:
                idle.append(owner.line())
            idle[-1].sendall(b"GET / HTTP/1.1\r\n")
            assert owner.get("/api/catalog").status == 200
            assert owner.get("/").status == 200
            wait_for(lambda: len(connected) <= connections.MOST_STRANGERS + 1)
        finally:
            for line in idle:
                line.close()
        own.sendall(owner.head("GET", "/api/catalog"))
        assert own.recv(20), "a connection of the owner's outlives them"
    wait_for(lambda: len(connected) == 0)


MARK = "what nobody may see"
DOTS = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "..\\", "%252e%252e%252f", "....//"]
DOTS += ["..%c0%af", "%uff0e%uff0e/", "..;/", "%00../", ".%2e/", "..%00/", "/", "%2f", "//"]
AIMS = ["etc/passwd", "answers.py", "secret", "other/graphs/hidden", "hidden"]


def climbing() -> Iterator[str]:
    for dots in DOTS:
        for aim in AIMS:
            for deep in (1, 2, 4, 8):
                yield dots * deep + aim


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """The owner of a page on a store, beside which another one has what must not be seen."""
    folder = tmp_path_factory.mktemp("stores")
    folder.joinpath("secret").write_text(MARK)
    row = {"src": 0, "dst": 0, "year": 2010}
    write_graph(Catalog(folder / "other"), "hidden", SCHEMA, [{"id": MARK}], [row])
    write_graph(Catalog(folder / "store"), "seen", SCHEMA, [{"id": "seen"}], [row])
    session = gt.session(folder / "store", progress=False)
    with session.open(browser=False, allow_changes=True) as page:
        yield owner_of(page)


def _is_refused(heard: Any, path: str) -> bool:
    assert MARK.encode() not in heard.body, path
    assert b"root:" not in heard.body, path
    assert b"Traceback" not in heard.body, path
    return bool(heard.status >= 400)


def test_the_store_beside_is_there_to_be_found(store: Visitor) -> None:
    assert store.get("/api/graph/seen").json["edges"] == 1


def test_no_path_leads_out_of_the_files(store: Visitor) -> None:
    for climb in climbing():
        for path in (f"/static/{climb}", f"/{climb}", f"/static/vendor/{climb}"):
            assert _is_refused(store.get(path), path), path


NAMED = [pattern for pattern in answers.ROUTES if "*" in pattern]


@pytest.mark.parametrize(
    "pattern", [*NAMED, *answers.EVENTS, *(f"download/{pattern}" for pattern in NAMED)]
)
def test_no_name_leads_out_of_the_store(store: Visitor, pattern: str) -> None:
    climbs = [climb for climb in climbing() if climb.endswith(("hidden", "secret"))]
    for climb in [*climbs[::7], "..", ".", "", "%00", "graphs", "a" * 3_000, "%ff%fe", "con", "-"]:
        for name in {climb, quote(climb, safe="")}:
            path = "/api/" + pattern.replace("*", name)
            assert _is_refused(store.get(path), path), path


OPTIONS = ["view", "against", "vertex", "to", "field", "around", "run", "other", "other_view"]
OPTIONS += ["search", "sort", "start", "count", "most", "hops", "program", "order", "format"]


@pytest.mark.parametrize("pattern", answers.ROUTES)
def test_no_option_leads_out_of_the_store(owner: Visitor, store: Visitor, pattern: str) -> None:
    kinds = {"collection": "years", "run": "years-WCC", "live": "graph", "graph": "seen"}
    name = kinds.get(pattern.split("/")[0], "1")
    for climb in ("../../secret", "..%2f..%2fsecret", "%2fetc%2fpasswd", "%00", quote(ODD)):
        query = "&".join(f"{option}={climb}" for option in OPTIONS)
        for who in (owner, store):
            for path in ("/api/", "/api/download/"):
                asked = path + pattern.replace("*", name) + "?" + query
                _is_refused(who.get(asked), asked)


@pytest.mark.parametrize("pattern", answers.POSTS)
def test_no_post_leads_out_of_the_store(store: Visitor, pattern: str) -> None:
    for climb in ("../../secret", "/etc/passwd", "\x00", "..", ODD):
        path = "/api/" + pattern.replace("*", quote(climb, safe=""))
        for name in ("text", "resume", "statement"):
            heard = store.post(path, {name: climb})
            _is_refused(heard, path)
            assert heard.status < 500, heard.body


def test_unknown_paths(owner: Visitor) -> None:
    for path in ("/nix", "/api", "/api/", "/api/nix", "/api/events", "/api/download/", "/static/"):
        heard = owner.get(path)
        assert heard.status == 404, path
        assert heard.json["what"]
    assert owner.post("/api/nix", {}).status == 404
    own = f"127.0.0.1:{owner.port}"
    assert owner.get("http://evil.example/api/catalog").status == 403
    assert owner.get("http://evil.example/api/catalog", host=own).status == 403
    assert owner.get("*").status == 403


def test_paths_outside_of_the_folder(owner: Visitor, stranger: Visitor) -> None:
    """Nothing is there, not even for the owner's cookie."""
    for path in (*PATHS, owner.home[:-1], f"/x{owner.home}", f"/{owner.home}api/catalog"):
        assert stranger.get(path, cookie=owner.cookie).status == 403, path
    assert stranger.get(f"{owner.home}api/catalog").status == 403, "nor in it without"


def test_mistakes_have_no_traceback(
    owner: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: Any) -> Any:
        raise ZeroDivisionError(f"in {Path(__file__)}, of a secret")

    monkeypatch.setitem(answers.ROUTES, "test/wrong", wrong)
    monkeypatch.setitem(answers.EVENTS, "test/wrong/events", wrong)
    monkeypatch.setitem(answers.POSTS, "test/wrong", (wrong, False))
    monkeypatch.setitem(answers.ROUTES, "test/no-json", lambda shelf, options: {"x": object()})
    heard = [
        *(owner.get(f"/api/{path}") for path in ("test/wrong", "test/wrong/events")),
        owner.get("/api/test/no-json"),
        owner.get("/api/download/test/wrong"),
        owner.post("/api/test/wrong", {}),
    ]
    for one in heard:
        assert one.status == 500
        assert set(one.json) == {"what", "where", "hint"}
        assert b"secret" not in one.body
        assert b"Traceback" not in one.body
        assert b".py" not in one.body
    assert capfd.readouterr() == ("", "")


def test_slow_answers(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are given up, and those that are still being made leave no room for more of them."""
    go_on = threading.Event()
    monkeypatch.setattr(threads, "SECONDS", 0.05)
    monkeypatch.setitem(answers.ROUTES, "test/slow", lambda shelf, options: go_on.wait(60))
    try:
        for _ in range(threads.MOST_BUSY + 2):
            heard = owner.get("/api/test/slow")
            assert heard.status == 400
            assert "given up" in heard.json["what"]
        assert owner.get("/static/app.js").status == 200, "files need no place"
    finally:
        go_on.set()
    monkeypatch.undo()
    assert owner.get("/api/catalog").status == 200


def test_large_answers(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(answers.ROUTES, "test/large", lambda shelf, options: "x" * 40_000_000)
    heard = owner.get("/api/test/large")
    assert heard.status == 400
    assert "larger than 32 MB" in heard.json["what"]


def test_too_many_options(owner: Visitor) -> None:
    query = "&".join(f"a{at}=1" for at in range(60))
    assert owner.get(f"/api/catalog?{query}").status == 400
