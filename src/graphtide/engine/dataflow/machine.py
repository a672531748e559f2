"""The machine as Python sees it: feed it, run it, read what it has put down.

All state is in one array, whose blocks `blocks` builds and knows; what is fed goes in as letters,
which the run itself sends.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.blocks import Blocks
from graphtide.engine.dataflow.feeding import Unread
from graphtide.engine.dataflow.limits import limit_of, stranded
from graphtide.engine.dataflow.pages import PART_KEPT, WORTH_GIVING_BACK, give_back
from graphtide.kernels.dataflow import layout, summing
from graphtide.kernels.dataflow.exchange import take_mail, take_own, turn_mail
from graphtide.kernels.dataflow.memory import allocate
from graphtide.kernels.dataflow.ports import room_for, take_bucket
from graphtide.kernels.dataflow.run import run
from graphtide.kernels.dataflow.times import shape_of

Int64 = NDArray[np.int64]
Handler = Callable[[int, int], None]
"""Carries out an operator of Python's: its address, and the position."""

DEFAULT_MEMORY = 1 << 36
DEFAULT_FUEL = 1 << 20
PART_SENT = 1 << 14
"""Rows of columns of Arrow that are written and sent together: a megabyte of ten columns."""


class Machine(Blocks):
    """One memory, its operators, and the schedule that runs them.

    Of several `workers`, each has a machine; see `crew`.
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
        super().__init__(memory)
        self.handlers: dict[int, Handler] = {}
        self._to_send: list[tuple[int, Int64 | Unread]] = []
        self._last_letter = 0
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
        sums = summing.TABLE + layout.CHUNK + layout.CHUNK * layout.MOST_SUMS
        words[layout.SUMMING] = allocate(words, sums)
        words[layout.RECORD] = allocate(words, layout.MOST_COLUMNS)
        frame = layout.FRAME_VALUES + layout.MOST_COLUMNS * layout.FIELD_WORDS
        words[layout.FRAME] = allocate(words, frame)
        self._schedule = self.store([layout.STOP, 0, 0, 0])
        self._idle = self.store([layout.STOP, 0, 0, 0])

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

    def send_later(self, operator: int, rows: Int64 | Unread) -> None:
        """Let rows go along the edges of an input, outside of loops, when the next run begins."""
        self._to_send.append((operator, rows))

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
        for operator, rows in self._to_send:
            self.words[operator + layout.OP_IN] += len(rows)
            if isinstance(rows, Unread):
                self._send_parts(operator, rows)
            else:
                self.send(operator, rows, 0)
        self._to_send.clear()

    def _send_parts(self, operator: int, unread: Unread) -> None:
        """Send columns of Arrow at once, part by part.

        Each part is sent while the caches of the processor hold what was just written, and the next
        one is written over it: a million rows in one piece took half as long again.
        """
        for columns in unread.parts(PART_SENT):
            self._write_letter(operator, columns, 0)
            run(self.words, self._idle)

    def drop_letters(self) -> None:
        """Forget all that was to be taken or sent when the run begins or goes on."""
        self._to_take.clear()
        self._to_send.clear()
        letter = int(self.words[layout.OUTGOING])
        self.words[layout.OUTGOING] = 0
        while letter:
            following = self.field(letter, layout.LETTER_NEXT)
            self.release(letter)
            letter = following

    def send(self, operator: int, rows: Int64, position: int) -> None:
        """Send rows along the edges of an operator, as soon as the run goes on."""
        if len(rows) > 0:
            self._write_letter(operator, rows.T, position)

    def _write_letter(
        self, operator: int, columns: Int64 | list[NDArray[Any]], position: int
    ) -> None:
        """Write columns for the run to send, the last two versions and diffs.

        They stand column by column, which is how programs take them.
        """
        words = self.words
        width, count = len(columns), len(columns[0])
        letter = allocate(words, layout.LETTER_BODY + count * width)
        # Word by word: to make a tuple of them an array takes longer.
        words[letter + layout.LETTER_NEXT] = 0
        words[letter + layout.LETTER_OPERATOR] = operator
        words[letter + layout.LETTER_POSITION] = position
        words[letter + layout.LETTER_ROWS] = count
        words[letter + layout.LETTER_COLUMNS] = width - 2
        body = letter + layout.LETTER_BODY
        target = words[body : body + count * width].reshape(width, count)
        if isinstance(columns, list):
            for place, column in enumerate(columns):
                target[place] = column
        else:
            target[:] = columns
        behind = self._last_letter + layout.LETTER_NEXT if words[layout.OUTGOING] else None
        words[layout.OUTGOING if behind is None else behind] = letter
        self._last_letter = letter

    def take(self, port: int, position: int = 0) -> Int64:
        """The rows that wait at the least position of a port if it is this one, taken out."""
        width = int(self.words[port + layout.PORT_WIDTH])
        bucket = take_bucket(self.words, port, position)
        if bucket == 0:
            return np.empty((0, width), np.int64)
        rows = self._rows(bucket, width)
        self.release(bucket)
        self.give_back()
        return rows

    def peek(self, port: int) -> Int64:
        """A copy of the rows that wait at the least position of a port."""
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
        """Replace the table of labels that texts are ordered by."""
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
        """Run until nothing waits, carrying out what is Python's on the way."""
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
        """Carry out the operator of Python's before which the run stopped."""
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
        """Bytes in use by operators, traces and queues."""
        return int(self.words[layout.HELD_WORDS]) * 8

    def give_back(self) -> None:
        """Return the pages of free blocks to the system, once much has been freed."""
        words = self.words
        freed = words[layout.FREED_WORDS]
        if freed >= WORTH_GIVING_BACK and freed >= words[layout.HELD_WORDS] // PART_KEPT:
            give_back(words, self._mapped)


def _nothing() -> None:
    """The machine needs nothing before it runs."""
