"""The machine as Python sees it: its memory, the blocks in it, how it is fed and run.

All state is one int64 array: address space that is reserved once, and backed by memory only where
it has been touched; pages of large free blocks go back to the system. Ports, traces, operators and
edges are blocks, known by their addresses (see `kernels.dataflow.layout`). Python gets copies of
what they hold, never views that a later run would change.

What is fed goes in as messages, which the run itself sends along the edges of an input. What a
kernel raises (memory that is full, a number beyond 64 bits, a loop that does not come to rest)
becomes an error that says what to do.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.records import InputBatch
from graphtide.kernels.dataflow import layout, sending
from graphtide.kernels.dataflow.distinct import new_seen
from graphtide.kernels.dataflow.exchange import take_mail, take_own, turn_mail
from graphtide.kernels.dataflow.memory import allocate, allocate_zeros, class_words, free
from graphtide.kernels.dataflow.numbers import TOO_OFTEN, shape_of
from graphtide.kernels.dataflow.ports import drop_port, new_port, room_for, take_bucket
from graphtide.kernels.dataflow.run import run
from graphtide.kernels.dataflow.traces import add_reader, new_trace
from graphtide.model.errors import GraphtideError, InputError, LimitError

LEAST_GIVEN_BACK = 1 << 20
"""Words of free blocks whose pages are kept in any case."""
TIMES_THE_NEED, TIMES_HELD = 4, 2
"""Pages of free blocks go back when they are so many times what the last runs worked in, or what
is held.

A batch of a million rows that had its pages back from the system, empty, took a fifth longer: now
one in four does. A first run, which loads, says nothing of later ones, so its pages go back.
"""
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_GIVEN_BACK = -0x5EED_0DD5_0F_F8EE
"""Marks a free block whose pages the system has; chance contents only cost a page more."""


def reserve(size: int) -> mmap.mmap:
    """Address space for so many bytes, zeros, backed by memory only where it is touched."""
    if size < 1 << 20:
        raise InputError(
            f"A dataflow cannot work in {size:,} bytes", hint="give `memory` at least a megabyte"
        )
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        mapped = mmap.mmap(-1, size - size % mmap.PAGESIZE, flags=flags)
    except OSError as error:
        raise LimitError(
            f"The system does not let a dataflow reserve {size:,} bytes of address space",
            hint="give the dataflow a smaller `memory`",
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        mapped.madvise(mmap.MADV_HUGEPAGE)
    return mapped


def give_back_pages(words: NDArray[np.int64], mapped: mmap.mmap) -> None:
    """Return the pages of all free blocks that are large."""
    words[layout.FREED_WORDS] = 0
    for size_class in range(layout.LARGE_CLASS, layout.END_OF_FREE_LISTS - layout.FREE_LISTS):
        block = int(words[layout.FREE_LISTS + size_class])
        size = int(class_words(size_class))
        while block:
            if words[block + 1] != _GIVEN_BACK:
                _release_pages(mapped, block + 2, block + size)
                words[block + 1] = _GIVEN_BACK
            block = int(words[block])


_trim_heap: Callable[[int], object] = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)
"""Returns what the C library keeps of freed arrays: 45 MB of 121 behind a load of 3.8M edges."""


def _release_pages(mapped: mmap.mmap, first: int, last: int) -> None:
    """Forget the pages that lie wholly between two words."""
    page = mmap.PAGESIZE
    start = -(-first * 8 // page) * page
    end = last * 8 // page * page
    if end > start:
        mapped.madvise(mmap.MADV_DONTNEED, start, end - start)


Int64 = NDArray[np.int64]


def limit_of(error: Exception, size: int) -> LimitError:
    """What a kernel raised, as an error that says what to do; `size` is how many bytes it has."""
    if isinstance(error, MemoryError):
        return LimitError(
            "The dataflow needs more memory than it was given",
            where=f"{size:,} bytes are full",
            hint="give the dataflow a larger `memory`, or feed it smaller batches",
        )
    if isinstance(error, OverflowError):
        return LimitError(
            "A loop of the dataflow went round too often: it does not seem to come to rest",
            hint="a loop that does not come to rest needs a filter, or a bound on its rounds, "
            "as in variable.set(..., rounds=10); for one that does, give the dataflow a larger "
            "`most_rounds`, or nest its loops less deeply, which lets them count further",
        )
    if str(error) == TOO_OFTEN:
        return LimitError(
            "Records of the dataflow are there too often: a multiplicity, or one times a number "
            "that is added up, would be 2^62 or more",
            hint="joins multiply multiplicities: call distinct() before those that do not need "
            "them, or count records first",
        )
    return LimitError(
        f"A number of the dataflow does not fit into 64 bits: {error}",
        hint="sums of ints and decimals, and decimals themselves, are exact or an error: "
        "convert what is so large with as_float()",
    )


def stranded() -> GraphtideError:
    """The error for rows that arrive after their operator has run: the schedule is wrong."""
    return GraphtideError(
        "Rows wait for an operator that has run already: its results would be late",
        hint="this is a mistake in Graphtide: please report it with the dataflow",
    )


Handler = Callable[[int, int], None]
"""Carries out an operator of Python's: its address, and the position."""

DEFAULT_MEMORY = 1 << 36
DEFAULT_FUEL = 1 << 20
PART_SENT = 1 << 14
"""Rows of columns of Arrow that are written and sent together: a megabyte of ten columns."""


class Machine:
    """One memory, its operators, and the schedule that runs them.

    Of several `workers`, each has a machine; see `pool`.
    """

    _loaded: ClassVar[bool] = False
    """Whether the kernel has run in this process."""

    def __init__(
        self,
        *,
        memory: int = DEFAULT_MEMORY,
        version_coordinates: int = 1,
        effort: int = 4,
        fuel: int = DEFAULT_FUEL,
        workers: int = 1,
        worker: int = 0,
    ) -> None:
        self._mapped = reserve(memory)
        self.words: Int64 = np.frombuffer(self._mapped, np.int64)
        self.words[layout.NEXT_FREE] = layout.HEADER_WORDS
        self.words[layout.END_OF_MEMORY] = len(self.words)
        self.handlers: dict[int, Handler] = {}
        self._to_send: list[tuple[int, InputBatch]] = []
        self._last_message = 0
        self._freed = self._need = 0
        self._to_take: list[tuple[int, Int64, int]] = []
        self.before_run: Callable[[], None] = _nothing
        """Called before the machine runs, and before it goes on behind an operator of Python's."""
        self.workers = workers
        self.stopping = False
        """Set by another thread to end a step at its next pause."""
        self.failed_at = 0
        """The operator that ran when a number was too large, or 0."""
        self.seconds = 0.0
        """How long the kernel has run in all."""
        words = self.words
        words[layout.VERSION_SHAPE] = shape_of(version_coordinates)
        words[layout.EFFORT] = effort
        words[layout.FUEL] = fuel
        words[layout.SKIPPING] = 2
        words[layout.WORKERS] = workers
        words[layout.WORKER] = worker
        words[layout.AGREED] = layout.UNKNOWN
        words[layout.STAGE] = allocate(words, layout.REGISTERS * layout.CHUNK)
        words[layout.CURSORS] = allocate(words, layout.MOST_CURSORS * layout.CURSOR_WORDS)
        sums = sending.TABLE + layout.CHUNK + layout.CHUNK * layout.MOST_SUMS
        words[layout.SUMMING] = allocate(words, sums)
        words[layout.RECORD] = allocate(words, layout.MOST_COLUMNS)
        frame = layout.FRAME_VALUES + layout.MOST_COLUMNS * layout.FIELD_WORDS
        words[layout.FRAME] = allocate(words, frame)
        self._schedule = self.store([layout.STOP, 0, 0, 0])
        self._idle = self.store([layout.STOP, 0, 0, 0])

    def store(self, numbers: Sequence[int] | Int64) -> int:
        """Put numbers into a block of their own; its address."""
        block = int(allocate(self.words, max(len(numbers), 1)))
        self.words[block : block + len(numbers)] = numbers
        return block

    def release(self, block: int) -> None:
        free(self.words, block)

    def new_port(self, data_words: int) -> int:
        return int(new_port(self.words, data_words))

    def drop_port(self, port: int) -> None:
        drop_port(self.words, port)

    def new_trace(self, key_words: int, value_words: int, by_time: bool = False) -> int:
        if key_words + value_words > layout.MOST_COLUMNS:
            raise LimitError(
                f"A record of {key_words + value_words} columns is to be kept; "
                f"{layout.MOST_COLUMNS} is the most",
                hint="select those that are needed before what keeps records: "
                "distinct, reductions, joins",
            )
        return int(new_trace(self.words, key_words, value_words, by_time))

    def new_seen(self, words: int) -> int:
        """An empty table of distinct records of so many words."""
        return int(new_seen(self.words, words))

    def new_operator(self, kind: int, shape: int, fields: dict[int, int]) -> int:
        operator = int(allocate_zeros(self.words, layout.OP_WORDS))
        self.words[operator + layout.OP_KIND] = kind
        self.words[operator + layout.OP_SHAPE] = shape
        for field, value in fields.items():
            self.words[operator + field] = value
        return operator

    def read_trace(self, operator: int, trace: int, side: int) -> None:
        """Tell an operator of fresh batches of a trace, which is one of its inputs."""
        add_reader(self.words, trace, operator, side)

    def add_edge(self, operator: int, edge: dict[int, int]) -> int:
        block = int(allocate_zeros(self.words, layout.EDGE_WORDS))
        for field, value in edge.items():
            self.words[block + field] = value
        self.words[block + layout.EDGE_NEXT] = self.words[operator + layout.OP_EDGES]
        self.words[operator + layout.OP_EDGES] = block
        return block

    def edges(self, operator: int) -> list[int]:
        """All ways out of an operator, the last one first."""
        found, edge = [], self.field(operator, layout.OP_EDGES)
        while edge:
            found.append(edge)
            edge = self.field(edge, layout.EDGE_NEXT)
        return found

    def field(self, block: int, field: int) -> int:
        return int(self.words[block + field])

    def set_field(self, block: int, field: int, value: int) -> None:
        self.words[block + field] = value

    def read_list(self, place: int, width: int) -> Int64:
        return self._rows(int(self.words[place]), width)

    def _rows(self, bucket: int, width: int) -> Int64:
        count = int(self.words[bucket + layout.BUCKET_COUNT])
        start = bucket + layout.BUCKET_ROWS
        return self.words[start : start + count * width].reshape(count, width).copy()

    def set_schedule(self, instructions: Sequence[Sequence[int]]) -> None:
        """Replace the schedule; between runs only."""
        self.release(self._schedule)
        flat = [number for instruction in instructions for number in instruction]
        self._schedule = self.store([*flat, layout.STOP, 0, 0, 0])
        if self.workers > 1:
            exchanges = sum(1 for code, *_ in instructions if code == layout.EXCHANGE)
            self._set_boxes(1 + exchanges * (self.workers + 1))

    def _set_boxes(self, words: int) -> None:
        """Empty boxes for what workers post, of so many words; both are empty between runs."""
        for box in (layout.POSTED, layout.TAKEN):
            self.release(int(self.words[box]))
            self.words[box] = self.store([0] * words)

    def feed(self, port: int, rows: Int64, position: int = 0) -> None:
        """Append rows of data words, version and diff to a port."""
        if len(rows) == 0:
            return
        width = int(self.words[port + layout.PORT_WIDTH])
        address = int(room_for(self.words, port, position, len(rows)))
        self.words[address : address + len(rows) * width].reshape(-1, width)[:] = rows

    def send_later(self, operator: int, batch: InputBatch) -> None:
        """Let rows go along the edges of an input, outside of loops, when the next run begins."""
        self._to_send.append((operator, batch))

    def take_later(self, port: int, columns: Int64, keys: int) -> None:
        """Let a port have those of all rows that are this worker's, when its next run begins.

        Rows stand column by column, and the first so many columns are their key.
        """
        self._to_take.append((port, columns, keys))

    def take_fed(self) -> None:
        """Take and send what was put off until the run begins; by the thread of this worker."""
        while self._to_take:
            take_own(self.words, *self._to_take.pop(0))
        self._send_all()

    def _send_all(self) -> None:
        """Send the batches of inputs, those of many columns of Arrow at once, part by part.

        Each part is sent while the caches of the processor hold what was just written, and the next
        one is written over it: a million rows in one piece took half as long again.
        """
        for operator, batch in self._to_send:
            self.words[operator + layout.OP_IN] += len(batch)
            for columns in batch.parts(PART_SENT):
                self._write_message(operator, columns, 0)
                if len(batch) > PART_SENT:
                    run(self.words, self._idle)
        self._to_send.clear()

    def drop_messages(self) -> None:
        """Forget all that was to be taken or sent when the run begins or goes on."""
        self._to_take.clear()
        self._to_send.clear()
        message = int(self.words[layout.OUTGOING])
        self.words[layout.OUTGOING] = 0
        while message:
            following = self.field(message, layout.MESSAGE_NEXT)
            self.release(message)
            message = following

    def send(self, operator: int, rows: Int64, position: int) -> None:
        """Send rows along the edges of an operator, as soon as the run goes on."""
        if len(rows) > 0:
            self._write_message(operator, rows.T, position)

    def _write_message(
        self, operator: int, columns: Int64 | list[NDArray[Any]], position: int
    ) -> None:
        """Write columns for the run to send, the last two versions and diffs.

        They stand column by column, which is how programs take them.
        """
        words = self.words
        width, count = len(columns), len(columns[0])
        message = allocate(words, layout.MESSAGE_BODY + count * width)
        # Word by word: to make a tuple of them an array takes longer.
        words[message + layout.MESSAGE_NEXT] = 0
        words[message + layout.MESSAGE_OPERATOR] = operator
        words[message + layout.MESSAGE_POSITION] = position
        words[message + layout.MESSAGE_ROWS] = count
        words[message + layout.MESSAGE_COLUMNS] = width - 2
        body = message + layout.MESSAGE_BODY
        target = words[body : body + count * width].reshape(width, count)
        for place, column in enumerate(columns):
            target[place] = column
        behind = self._last_message + layout.MESSAGE_NEXT if words[layout.OUTGOING] else None
        words[layout.OUTGOING if behind is None else behind] = message
        self._last_message = message

    def take(self, port: int, position: int = 0) -> Int64:
        """The rows that wait at the least position of a port if it is this one, taken out."""
        width = int(self.words[port + layout.PORT_WIDTH])
        bucket = take_bucket(self.words, port, position)
        if bucket == 0:
            return np.empty((0, width), np.int64)
        rows = self._rows(bucket, width)
        self.release(bucket)
        return rows

    def peek(self, port: int) -> Int64:
        width = int(self.words[port + layout.PORT_WIDTH])
        if self.field(port, layout.PORT_COUNT) == 0:
            return np.empty((0, width), np.int64)
        return self._rows(self.field(self.field(port, layout.PORT_LIST), 1), width)

    def new_outboxes(self, operator: int) -> int:
        """A port for every worker, for rows that wait for an operator there; its own for this one.

        The address of the table of ports; it is made once.
        """
        port = self.field(operator, layout.OP_PORT)
        width = self.field(port, layout.PORT_WIDTH) - 2
        here = int(self.words[layout.WORKER])
        ports = [port if w == here else self.new_port(width) for w in range(self.workers)]
        self.set_field(operator, layout.OP_OUTBOXES, self.store(ports))
        return self.field(operator, layout.OP_OUTBOXES)

    def set_labels(self, labels: Int64) -> None:
        self.release(int(self.words[layout.LABELS]))
        block = int(allocate(self.words, max(len(labels), 1)))
        self.words[block : block + len(labels)] = labels
        self.words[layout.LABELS] = block

    def set_frontier(self, place: int, versions: Sequence[int]) -> None:
        """Replace the frontier whose address stands at a place; none at all for no versions."""
        block = int(self.words[place])
        if block and self.words[block] == len(versions):
            for place, version in enumerate(versions, block + 1):
                self.words[place] = version
            return
        self.release(block)
        self.words[place] = self.store([len(versions), *versions]) if versions else 0

    def run(self) -> None:
        """Run until nothing waits, calling the handlers of Python's operators on the way."""
        words, schedule = self.words, self._schedule
        words[layout.COUNTER] = 0
        words[layout.POSITION] = 0
        try:
            self._send_all()
            self.before_run()
            while (ended := self._ran(words, schedule)) != layout.DONE:
                if ended == layout.PAUSED:
                    continue
                if ended == layout.STRANDED:
                    raise stranded()
                self.answer()
                self.before_run()
        except (MemoryError, ArithmeticError) as error:
            self._note_failure(error)
            raise limit_of(error, len(words) * 8) from error
        self.give_back()

    def begin(self) -> None:
        """Stand before the first instruction of the schedule."""
        self.stopping = False
        self.words[layout.COUNTER] = 0
        self.words[layout.POSITION] = 0

    def step(self) -> int:
        """Run until nothing waits, or Python or the other workers are wanted; how it ended."""
        words, schedule = self.words, self._schedule
        try:
            while (ended := self._ran(words, schedule)) == layout.PAUSED:
                if self.stopping:
                    break
        except ArithmeticError as error:
            self._note_failure(error)
            raise
        return ended

    def _ran(self, words: Int64, schedule: int) -> int:
        """Run the kernel once; how it ended.

        Its first run in a process loads or compiles it, which is no time of any operator.
        """
        if not Machine._loaded:
            run(words, self._idle)
            Machine._loaded = True
        began = perf_counter()
        try:
            return int(run(words, schedule))
        finally:
            self.seconds += perf_counter() - began

    def _note_failure(self, error: Exception) -> None:
        """Note which operator ran when an error came that is about numbers."""
        if isinstance(error, ArithmeticError):
            self.failed_at = int(self.words[layout.RUNNING])

    def answer(self) -> None:
        """Call the handler of the operator before which the run stopped."""
        words = self.words
        at = self._schedule + int(words[layout.COUNTER]) * layout.SCHEDULE_WORDS
        operator = int(words[at + 1])
        self.handlers[operator](operator, int(words[layout.POSITION]))

    def take_mail(self, others: Iterable[Machine]) -> None:
        """Take what other workers have posted for this one at the last exchange."""
        for other in others:
            take_mail(self.words, other.words, self._schedule)

    def turn_mail(self) -> None:
        """Let others take what was posted, and free what they have taken."""
        turn_mail(self.words)

    def end(self) -> None:
        """Give all memory back to the system at once; nothing is to be read or run any more."""
        self.handlers.clear()
        self.words = np.empty(0, np.int64)
        try:
            self._mapped.close()
        except BufferError:
            # The frames of an error in flight still name the array: it is empty for them.
            self._mapped.madvise(mmap.MADV_DONTNEED)

    @property
    def held_bytes(self) -> int:
        return int(self.words[layout.HELD_WORDS]) * 8

    def give_back(self) -> None:
        """Return pages of free blocks, after a run, where they are far more than runs work in."""
        words = self.words
        freed = int(words[layout.FREED_WORDS])
        worked_in = freed - self._freed
        self._need = max(worked_in, self._need * 3 // 4) if self._need else worked_in // 4
        held = int(words[layout.HELD_WORDS])
        limit = min(TIMES_THE_NEED * self._need, TIMES_HELD * held)
        if freed >= max(LEAST_GIVEN_BACK, limit):
            give_back_pages(words, self._mapped)
            _trim_heap(0)
        self._freed = int(words[layout.FREED_WORDS])


def _nothing() -> None:
    """The machine needs nothing before it runs."""
