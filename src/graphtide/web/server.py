"""The page's server: answers, events, downloads and the page's own files, by HTTP.

It looks at paths as they came, still encoded, since names may have slashes. Whatever goes wrong
is a `Problem`; the traceback goes to standard error where that was asked for, and nowhere else.
Who may ask at all is the guard's to say (`guard.py`).

Answers are made in threads, and are limited in time and size. Threads are daemons: a process that
ends does not wait for an answer that nobody hears any more. An answer that takes too long is
given up by who asked; its thread keeps its place among those that may be busy until it ends, so
that slow answers cannot pile up.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import secrets
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from graphtide.model.errors import InputError, LimitError, NotFoundError
from graphtide.run.table import flat_table
from graphtide.web.answers import Answers
from graphtide.web.guard import Secrets, policy, script_hash
from graphtide.web.json_values import problem_of, status_of, text_lists

Value = TypeVar("Value")

MOST_BUSY, MOST_FOLLOWED = 8, 64
SECONDS = 60.0


class Threads:
    """Places for answers in the making, and for streams of events."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(MOST_BUSY)
        self._followed: set[EventStream] = set()

    async def answer(self, make: Callable[[], Value]) -> Value:
        """Call a function in a thread; LimitError if it takes too long."""
        try:
            async with asyncio.timeout(SECONDS):
                await self._places.acquire()
                return await asyncio.shield(self._begun(make))
        except TimeoutError:
            raise LimitError(
                f"this took more than {SECONDS:.0f} seconds, and was given up",
                hint="ask for less at once: fewer rows or edges, or a part of the graph",
            ) from None

    def _begun(self, make: Callable[[], Value]) -> asyncio.Future[Value]:
        loop = asyncio.get_running_loop()
        made: asyncio.Future[Value] = loop.create_future()
        # Nobody may be left to look at the error of an answer that was given up.
        made.add_done_callback(lambda done: done.cancelled() or done.exception())

        def hand_over(value: Any, error: BaseException | None) -> None:
            self._places.release()
            if made.cancelled():
                return
            if error is None:
                made.set_result(value)
            else:
                made.set_exception(error)

        def work() -> None:
            value, error = None, None
            try:
                value = make()
            except BaseException as raised:
                # A future takes any error but this one.
                error = RuntimeError("stopped") if isinstance(raised, StopIteration) else raised
            _tell(loop, hand_over, value, error)

        threading.Thread(target=work, name="graphtide page", daemon=True).start()
        return made

    async def follow(self, begin: Callable[[], Iterator[Any]]) -> AsyncGenerator[Any, None]:
        """Yield what an iterator yields, None too; slow listeners get the latest item only."""
        if len(self._followed) >= MOST_FOLLOWED:
            raise LimitError(
                f"{MOST_FOLLOWED} pages are being kept current", hint="close some of them"
            )
        following = EventStream(begin)
        self._followed.add(following)
        try:
            async for item in following.items():
                yield item
        finally:
            following.gone.set()
            self._followed.discard(following)

    @property
    def followed(self) -> int:
        return len(self._followed)


class EventStream:
    """One stream of events: a thread that reads an iterator until nobody listens."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self._begin = begin
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._latest: list[Any] = []
        self._error: BaseException | None = None
        self._ended = False
        self.gone = threading.Event()

    async def items(self) -> AsyncGenerator[Any, None]:
        """The items until the iterator ends; items that come too fast are skipped."""
        threading.Thread(target=self._read, name="graphtide events", daemon=True).start()
        while True:
            await self._news.wait()
            self._news.clear()
            while self._latest:
                yield self._latest.pop()
            if self._error is not None:
                raise self._error
            if self._ended:
                return

    def _read(self) -> None:
        error, iterator = None, None
        try:
            iterator = self._begin()
            for item in iterator:
                if self.gone.is_set() or not _tell(self._loop, self._put, item):
                    break
        except BaseException as raised:
            error = raised
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()
            _tell(self._loop, self._end, error)

    def _put(self, item: Any) -> None:
        # Nothing new never stands before something new.
        if item is not None or not self._latest:
            self._latest = [item]
        self._news.set()

    def _end(self, error: BaseException | None) -> None:
        self._error, self._ended = error, True
        self._news.set()


def _tell(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *values: Any) -> bool:
    """Have the loop call a function; False if the server has ended."""
    try:
        loop.call_soon_threadsafe(function, *values)
    except RuntimeError:
        return False
    return True


STATIC = Path(__file__).parent / "static"
MOST_ANSWER = 32_000_000
_PACKED_FROM = 4_000
_ROWS_AT_ONCE = 50_000
_INLINE = re.compile(r"<script type=\"importmap\">(.*?)</script>", re.DOTALL)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_DOWNLOADS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


class PageServer:
    """An ASGI application. `debug` prints the tracebacks of mistakes."""

    def __init__(self, answers: Answers, secrets: Secrets, *, debug: bool = False) -> None:
        self._answers = answers
        self._secrets = secrets
        self._debug = debug
        self._files = _static_files()
        self._threads: Threads | None = None

    @property
    def threads(self) -> Threads:
        """The threads, made within the loop that first needs them."""
        if self._threads is None:
            self._threads = Threads()
        return self._threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._response(Request(scope, receive))
        except Exception as error:
            self._log(error)
            response = _json_response(_json_bytes(problem_of(error)), status=status_of(error))
        try:
            await response(scope, receive, send)
        except Exception as error:
            # Its beginning is on the way; the connection ends, so that nobody takes it for all.
            self._log(error)
            raise

    def _log(self, error: Exception) -> None:
        if self._debug:
            traceback.print_exception(error, file=sys.stderr)

    async def _response(self, request: Request) -> Response:
        path = request.scope["raw_path"].decode("ascii")
        if path.startswith("/api/"):
            path = path.removeprefix("/api/")
            if request.method == "POST":
                return await self._post(path, request)
            if path.endswith("/events"):
                return await self._events(path)
            if path.startswith("download/"):
                return await self._download(path.removeprefix("download/"), _options(request))
            return await self._get(path, request)
        if request.method == "POST":
            raise NotFoundError("nothing is posted here", hint="post to a path of /api/")
        if path in ("/", "/index.html"):
            return self._index()
        return self._file(unquote(path), request)

    async def _get(self, path: str, request: Request) -> Response:
        options, packed = _options(request), _takes_gzip(request)

        def make() -> tuple[bytes, bool]:
            return _packed(_json_bytes(self._answers.get(path, options)), packed)

        return _json_response(*await self.threads.answer(make))

    async def _post(self, path: str, request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except ValueError:
            raise InputError("the request is no JSON") from None
        if not isinstance(body, dict):
            raise InputError("the request is no JSON object", hint='send one: {"text": "..."}')
        made = await self.threads.answer(lambda: _json_bytes(self._answers.post(path, body)))
        return _json_response(made)

    async def _events(self, path: str) -> Response:
        """Server-sent events. The first item is awaited, so that a problem gets its HTTP status."""
        items = self.threads.follow(lambda: self._answers.events(path))
        first = await anext(items, None)

        async def lines() -> AsyncGenerator[bytes, None]:
            async with aclosing(items):
                yield _event(first)
                async for item in items:
                    yield _event(item)

        headers = {"cache-control": "no-store"}
        return StreamingResponse(lines(), headers=headers, media_type="text/event-stream")

    async def _download(self, path: str, options: dict[str, str]) -> Response:
        form = options.pop("format", "csv")
        if form not in _DOWNLOADS:
            raise InputError(f"there is no format '{form[:40]}'", hint="csv or parquet")
        table = await self.threads.answer(lambda: self._answers.table(path, options))
        parts = csv_parts(table) if form == "csv" else parquet_parts(table)
        headers = {
            "cache-control": "no-store",
            "content-disposition": _attachment(f"{_file_name(path)}.{form}"),
        }
        body = self._in_threads(parts)
        return StreamingResponse(body, headers=headers, media_type=_DOWNLOADS[form])

    async def _in_threads(self, parts: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
        while part := await self.threads.answer(lambda: next(parts, b"")):
            yield part

    def _index(self) -> Response:
        """The page, with the token for posts and the nonce for styles of the editor."""
        page = self._files["/static/index.html"].read_text(encoding="utf-8")
        nonce = secrets.token_urlsafe(16)
        metas = (
            f'<meta name="graphtide-token" content="{self._secrets.page}">\n'
            f'<meta name="graphtide-nonce" content="{nonce}">\n'
        )
        scripts = [script_hash(text) for text in _INLINE.findall(page)]
        headers = {
            "cache-control": "no-store",
            "content-security-policy": policy(scripts, nonce),
        }
        page = page.replace("<title>", f"{metas}<title>", 1)
        return Response(page, headers=headers, media_type=_TYPES[".html"])

    def _file(self, path: str, request: Request) -> Response:
        """One of the files that existed when the server was made; no other path is looked up."""
        file = self._files.get(path)
        if file is None or path.endswith(".html"):
            raise NotFoundError("there is no such file", hint="begin at the address itself: /")
        content = file.read_bytes()
        tag = f'"{sha256(content).hexdigest()[:32]}"'
        # Files of libraries change with the package alone; ours are asked for anew each time.
        kept = "max-age=3600" if "/vendor/" in path else "no-cache"
        headers = {"cache-control": f"private, {kept}", "etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        kind = _TYPES.get(file.suffix, "application/octet-stream")
        return Response(content, headers=headers, media_type=kind)


def csv_parts(table: pa.Table) -> Iterator[bytes]:
    """A table as CSV with a header, in parts; arrays become several columns."""
    flat = flat_table(text_lists(table))
    for start in range(0, max(len(flat), 1), _ROWS_AT_ONCE):
        sink = pa.BufferOutputStream()
        options = pa_csv.WriteOptions(include_header=start == 0)
        pa_csv.write_csv(flat.slice(start, _ROWS_AT_ONCE), sink, options)
        yield sink.getvalue().to_pybytes()


def parquet_parts(table: pa.Table) -> Iterator[bytes]:
    """A table as Parquet, one row group at a time."""
    sink = _Drained()
    with pa_parquet.ParquetWriter(sink, table.schema) as writer:
        for start in range(0, len(table), _ROWS_AT_ONCE):
            writer.write_table(table.slice(start, _ROWS_AT_ONCE))
            yield sink.drain()
    yield sink.drain()


class _Drained:
    """A file to write to, which is emptied as it fills."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._written += len(data)
        return len(data)

    def drain(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def _static_files() -> dict[str, Path]:
    return {
        f"/static/{file.relative_to(STATIC).as_posix()}": file
        for file in STATIC.rglob("*")
        if file.is_file()
    }


def _options(request: Request) -> dict[str, str]:
    text = request.scope["query_string"].decode("latin-1")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise InputError("there are too many options", hint="50 at most") from None


def _json_bytes(answer: Any) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text) > MOST_ANSWER:
        raise LimitError(
            f"the answer is larger than {MOST_ANSWER // 1_000_000} MB",
            hint="ask for less at once: fewer rows or edges; or save the table",
        )
    # A lone surrogate, which JSON of other programs may have brought, has no bytes.
    return text.encode(errors="replace")


def _packed(content: bytes, wanted: bool) -> tuple[bytes, bool]:
    if not wanted or len(content) < _PACKED_FROM:
        return content, False
    # Level 1: the way is short, and packing well would take longer than sending more.
    return gzip.compress(content, 1, mtime=0), True


def _json_response(content: bytes, packed: bool = False, *, status: int = 200) -> Response:
    headers = {"cache-control": "no-store", "vary": "accept-encoding"}
    if packed:
        headers["content-encoding"] = "gzip"
    return Response(content, status, headers, media_type="application/json")


def _takes_gzip(request: Request) -> bool:
    taken = request.headers.get("accept-encoding", "")
    return any(item.strip().partition(";")[0] == "gzip" for item in taken.split(","))


def _event(item: Any) -> bytes:
    """One server-sent event. Without news, a comment keeps the connection open."""
    return b": \n\n" if item is None else b"data: " + _json_bytes(item) + b"\n\n"


def _file_name(path: str) -> str:
    """A file name for a path: letters, digits and a few signs."""
    name = re.sub(r"[^\w.-]+", "-", unquote(path)).strip("-.")
    return name[:80] or "table"


def _attachment(name: str) -> str:
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
