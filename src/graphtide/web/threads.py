"""Work of the server that takes a while, in threads of its own.

Threads are daemons: a process that ends does not wait for an answer that nobody hears any more. An
answer that takes too long is given up by who asked; its thread keeps its place among those that
may be busy until it ends, so that slow answers cannot pile up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, TypeVar

from graphtide.model.errors import LimitError

Value = TypeVar("Value")

MOST_BUSY, MOST_FOLLOWED = 8, 64
SECONDS = 60.0


class Threads:
    """Places for answers in the making, and for streams of events."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(MOST_BUSY)
        self._followed: set[Following] = set()

    async def answer(self, make: Callable[[], Value]) -> Value:
        """What a function returns, if it does so in time."""
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
        """What an iterator yields, the latest alone for who listens slowly. None is passed on."""
        if len(self._followed) >= MOST_FOLLOWED:
            raise LimitError(
                f"{MOST_FOLLOWED} pages are being kept current", hint="close some of them"
            )
        following = Following(begin)
        self._followed.add(following)
        try:
            async for item in following.items():
                yield item
        finally:
            following.gone.set()
            self._followed.discard(following)

    @property
    def followed(self) -> int:
        """How many streams of events somebody listens to."""
        return len(self._followed)


class Following:
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
        """Each item that comes in time, until the iterator ends."""
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
    """Have the loop call a function; False where the server has ended."""
    try:
        loop.call_soon_threadsafe(function, *values)
    except RuntimeError:
        return False
    return True
