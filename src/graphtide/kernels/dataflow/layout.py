"""The words of the dataflow machine: what stands where in its memory, and the codes it obeys.

The machine is one int64 array. Operators, traces, batches, queues and programs are blocks in it,
known by their address, which is the index of their first word; a field is a constant to add to
that address. Address 0 is the header, so 0 also says "none". Nothing here is executed.

| block | what it holds |
|---|---|
| header | the allocator's state, the current position of the run, the staging chunk, the mail |
| port | rows that wait for an operator, in one bucket a position |
| message | rows that Python sends along the edges of an operator, when the run goes on |
| edge | how rows go from an operator to a port: program, sign, change of the position |
| batch | sorted rows, packed: distinct keys with an index, their rows, the times of the rows |
| trace | the batches of one arrangement: a spine of slots, and the fresh batch |
| operator | its kind, ports, traces, edges, and counters |

A time is two words. The *version* word says which states of the inputs; the *position* word holds
the rounds of all loops around, outermost in the highest field. See `dataflow_times`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Memory = NDArray[np.int64]

# Header: the allocator
NEXT_FREE = 1
END_OF_MEMORY = 2
HELD_WORDS = 3
# Header: the run
COUNTER = 4
POSITION = 5
VERSION_SHAPE = 7
"""How version words are divided; 0 where versions are plain numbers."""
ONE_VERSION = 8
"""The only version of this physical batch, or -1 where there are several."""
SINCE = 9
"""Address of the frontier that operators still read at: a count, then version words."""
EFFORT = 10
"""Rows of merging that each new row pays for."""
SKIPPING = 11
"""1 where reduce may skip what cannot change (see `dataflow_reduce`), 2 by counting, too."""
STAGE = 12
STAGED = 13
FREED_WORDS = 15
"""Words of large blocks that were freed since pages were last given back to the system."""
FRAME = 14
"""Scratch: the frame of the batch that is made next (see `dataflow_frames`)."""
CURSORS = 16
"""Scratch of seeks: a cursor over the rows of one key in each batch of a trace."""
TIMES = 17
"""Lists that reduce works with, here and below: the versions to look at, why each,"""
HELD = 18
"""what is in the output for the key,"""
STANDING = 19
"""what that adds up to at one time,"""
WANTED = 20
"""what it should add up to,"""
GATHERED = 21
"""the input rows of the key in order of version,"""
REPLAYED = 22
"""and those of them up to the version that is looked at, in order of value."""
GROUPS = 23
ASKED = 24
LATER_POSITION = 25
LATER_VERSION = 26
LOOK_KEY = 29
"""The key (its address), position and version that reduce looks at."""
LOOK_POSITION = 30
LOOK_VERSION = 31
SUMS = 32
REPLAYING = 33
"""1 where the cursors are over REPLAYED, values first, and not over the batches."""
REPLAY_AT = 27
"""The first row of GATHERED whose version has not come."""
RECORD = 28
"""Scratch: the values of the record that `next_record` found."""
FOUND = 34
"""Not 0 where `next_record` found a record."""
LOOK_FLOOR = 36
"""No look to come at this key and position is before this version,"""
FLOOR_AGE = 37
"""which was found so many looks ago."""
ROWS_TOLD_APART = 38
"""Rows that all looks at several versions have gone through, of input and output."""
SINCE_PAUSE = 35
"""Operators run since the run last came back to Python."""
FUEL = 39
"""Rows that a join sends before it pauses, and that wait in a bucket before they are added up."""
FUEL_LEFT = 6
"""Rows that the join that runs may still send before it pauses."""
FREE_LISTS = 40
END_OF_FREE_LISTS = 256
LABELS = 257
"""Where the labels of texts stand, by code: they order the way the texts do."""
RUNS = 256
"""Where the runs of REPLAYED begin, each sorted for itself."""
SUMMING = 258
"""Scratch of `summing`: a table of groups, the first row of each, and their sums."""
# Header: the other workers (see `exchange`)
WORKERS = 259
WORKER = 260
"""Which of them this machine is, from 0."""
LEAST = 261
"""The least position that anything here waits for, when workers agree on the next round,"""
AGREED = 262
"""and the one that they have agreed on, or UNKNOWN."""
POSTED = 263
"""The box of what others are to take at the next meeting,"""
TAKEN = 264
"""and of what they take since the last one: how many entries; for each, which instruction, and a
bucket for every worker."""
OUTGOING = 265
"""The first of the messages that are sent when the run goes on, 0 for none."""
RUNNING = 266
"""The operator that has run, or sent what Python gave it, last."""
FAULTS = 267
"""How many records wait at edges that have no word for what they compute of them."""
HEADER_WORDS = 272
UNKNOWN = -1
LARGE_CLASS = 44
"""Free blocks of this size class and larger, from 20 kilobytes, hold pages to give back."""

CHUNK = 256
"""Rows that are staged before a program runs over them."""
REGISTERS = 256
"""Columns of the staging chunk: inputs first, then what programs compute."""
MOST_SUMS = 64
"""Sums of one program, at most."""
MOST_COLUMNS = 96
"""Words of a record, at most: it has to fit into the staging chunk."""

# Port
PORT_WIDTH = 0
"""Words of a row in a bucket: data, version, diff. The position is the bucket's."""
PORT_COUNT = 1
PORT_ROOM = 2
PORT_LIST = 3
"""Address of pairs (position, bucket), ascending by position."""
PORT_LAST = 4
PORT_RECEIVED = 5
PORT_WORDS = 8

# Message: rows that Python sends along the edges of an operator
MESSAGE_NEXT = 0
MESSAGE_OPERATOR = 1
MESSAGE_POSITION = 2
MESSAGE_ROWS = 3
MESSAGE_COLUMNS = 4
"""Words of a record."""
MESSAGE_BODY = 5
"""The columns of the records one after the other, then those of the version and the diff."""

# Bucket
BUCKET_COUNT = 0
BUCKET_ROOM = 1
BUCKET_ROWS = 2

# Edge
EDGE_NEXT = 0
EDGE_PORT = 1
EDGE_PROGRAM = 2
EDGE_SIGN = 3
EDGE_KEEP = 4
"""Bits of the position that stay: leaving a loop clears its field."""
EDGE_ADD = 5
"""Added to the position: one more round."""
EDGE_BEYOND = 6
"""Bits that no position has: those of a loop that has gone round too often."""
EDGE_PASSED = 7
EDGE_LAST_ROUND = 8
"""Rows of later rounds are dropped; a mask of 0 makes every round the first."""
EDGE_ROUND_SHIFT = 9
EDGE_ROUND_MASK = 10
EDGE_KEYS = 11
"""The first so many words of a row say which worker it goes to,"""
EDGE_OWNERS = 12
"""as the place of a port in this table; 0 where rows stay with the worker that has them."""
EDGE_FAULTS = 13
"""Port of the records for which the program has no word; 0 where it has one for all."""
EDGE_WORDS = 14

# Program: constants, instructions and output columns
PROGRAM_STEPS = 0
PROGRAM_OUTPUTS = 1
PROGRAM_FILTER = 2
"""The register whose rows pass where it is not 0, or -1."""
PROGRAM_WEIGHT = 3
"""The register that multiplies the diff, or -1."""
PROGRAM_DELAY = 4
"""The register that is added to the position, or -1."""
PROGRAM_FAULT = 5
"""The register that tells which records a step has no word for, or -1."""
PROGRAM_SUMS = 6
"""How many sums rows are added up to before they are sent (see `summing`); 0 where none are."""
PROGRAM_BODY = 7
"""Five words a step (operation, result, operands), then one word an output column, then for each
sum its tag and the register of its weight, or -1."""

# Batch
BATCH_KEYS = 0
BATCH_ROWS = 1
BATCH_KEYS_AT = 2
BATCH_STARTS_AT = 3
BATCH_ROWS_AT = 4
BATCH_INDEX_AT = 5
BATCH_INDEX_SHIFT = 6
BATCH_INDEX_BASE = 7
BATCH_INDEX_SIZE = 8
BATCH_TIMES = 9
BATCH_TIMES_AT = 10
"""The distinct times of the rows, ascending: pairs of position and version."""
BATCH_LEAST_DIFF = 11
BATCH_MOST_DIFF = 12
BATCH_FRAME = 13
"""How rows are packed; what comes after depends on how many values there are."""

# Frame: how the rows of a batch are packed
FRAME_WIDTH = 0
"""Words of a row."""
FRAME_ORDER = 1
"""The bits of the last word of a row that order it: all but those of the diff."""
FRAME_TIME = 2
"""The field of the time, as its number among the times of the batch; then that of the diff."""
FRAME_DIFF = 7
FRAME_VALUES = 12
"""The first of the fields of the values."""

# Field: where a part of a row stands
FIELD_WORD = 0
FIELD_SHIFT = 1
FIELD_MASK = 2
FIELD_LEAST = 3
"""What is added to the bits that are stored."""
FIELD_MOST = 4
FIELD_WORDS = 5

# Cursor
CURSOR_ROW = 0
CURSOR_END = 1
CURSOR_BATCH = 2
"""The batch that rows are packed in, or 0 where they are plain words: values, time, diff."""
CURSOR_RECORD = 3
"""The row that the cursor is at, as plain words; valid once it was loaded."""
CURSOR_WORDS = MOST_COLUMNS + 6
MOST_CURSORS = 130

# Trace
TRACE_KEY_WORDS = 0
TRACE_VALUE_WORDS = 1
TRACE_BY_TIME = 2
"""1 where the rows of a key are sorted by time and then by value, 0 the other way round."""
TRACE_BODY_WORDS = 4
"""Words of a row where it is not packed: values, position, version, diff."""
TRACE_SLOTS = 5
TRACE_SLOT_COUNT = 6
TRACE_FRESH = 7
TRACE_READERS = 8
"""First of the operators that are told of a fresh batch: blocks of next, operator, side."""
TRACE_SINCE = 9
"""Address of the frontier of the handles that users hold, 0 where there is none."""
TRACE_OWNER = 10
TRACE_MERGED = 11
TRACE_FORGETS = 12
"""1 where nobody reads a batch once it is not fresh any more: it is dropped then."""
TRACE_WORDS = 13

# Slot of a spine
SLOT_OLDER = 0
SLOT_NEWER = 1
SLOT_RESULT = 2
SLOT_OLDER_AT = 3
SLOT_NEWER_AT = 4
SLOT_SIZE = 5
SLOT_CODES = 6
"""Address of the numbers that the times of both batches have in the result."""
SLOT_WORDS = 7
MOST_SLOTS = 64
SMALL_SLOT = 64
"""A slot of no more rows is merged at once: to remember a merge would cost more."""

# Operator
OP_KIND = 0
OP_EDGES = 1
OP_PORT = 2
OP_LEFT = 3
OP_RIGHT = 4
OP_LEFT_NEWS = 5
"""1 where the left trace has a fresh batch unread, 2 where all of it is news, 0 for none."""
OP_LEFT_AT = 6
OP_RIGHT_NEWS = 7
OP_RIGHT_AT = 8
OP_OUTPUT = 9
"""The trace that the operator makes; 0 where it makes none."""
OP_RESULTS = 10
"""Port in which reduce collects its result before it becomes a batch."""
OP_SHAPE = 11
"""How position words are divided in this dataflow."""
OP_REDUCER = 12
OP_ARGUMENT = 13
OP_ARGUMENTS = 14
OP_PHASE = 15
OP_FLOOR = 16
"""News of an import are no earlier than this version."""
OP_IN = 17
OP_OUT = 18
OP_RECOMPUTED = 19
OP_EMPTY = 20
OP_SKIPPED = 21
OP_ACTIVATIONS = 22
OP_TODO = 23
"""The layout, as a trace, of the keys that reduce has to look at again."""
OP_ANSWER = 24
"""Address of the rows that Python wants the groups to have: group, values, multiplicity."""
OP_ANSWERS = 25
OP_NEW_LEFT = 26
"""What a join that has paused took as news, as in OP_LEFT_NEWS and OP_RIGHT_NEWS,"""
OP_NEW_RIGHT = 27
OP_AT_LEFT = 28
"""and where it goes on: batches of both traces, the key of the one with fewer, its left row."""
OP_AT_RIGHT = 29
OP_AT_KEY = 30
OP_AT_ROW = 31
OP_TEXTS = 32
"""Of FIRST and LAST: 0, or which values are texts (see `dataflow_text_ends`)."""
OP_SEEN = 33
"""Of DISTINCT: the table of what it has seen."""
OP_OUTBOXES = 34
"""A port for every worker: rows that wait for this operator there; its own OP_PORT for this one."""
OP_CYCLES = 35
"""What activations took by the processor's counter: shares of the time that the machine ran."""
OP_WORDS = 36

# Kinds of operators
ARRANGE = 1
JOIN = 2
REDUCE = 3
FOREIGN = 4
"""An operator that Python carries out: the machine stops before it."""
CONSOLIDATE = 5
IMPORT = 6
PASS = 7
"""Sends on what is put into its port, as it is: an input."""

DISTINCT = 8
"""Sends each record once, of those that only ever come (see `dataflow_seen`)."""
SUM = 9
"""Sums of weights outside of loops, where versions are plain numbers (see `sums`)."""

# A table of records that have been seen
SEEN_COUNT = 0
SEEN_ROOM = 1
"""Records that there is room for,"""
SEEN_RECORDS = 2
"""and where they stand, one behind the other."""
SEEN_TABLE = 3
"""A word for each place: 0, or half a hash above the number of its record, from 1."""
SEEN_PLACES = 4
"""How many places the table has, a power of two,"""
SEEN_SHIFT = 5
"""and by how many bits a hash is shifted to find its place."""
SEEN_WORDS = 6

# Reducers
FIRST = 1
"""The first `argument` records in ascending order: min, and the least k."""
LAST = 2
LINEAR = 3
"""Sums of weights: count, sum, and several of them at once."""
THRESHOLD = 4
ASK = 6
"""A function of Python, given all records of the group."""

# What LINEAR makes of its sums: kinds of outputs
PLAIN_SUM = 0
"""The weights of one tag."""
WHOLE_SUM = 1
"""Ints, from the weights of a tag and, times 2^32, of the next."""
FLOAT_SUM = 2
"""Floats, from their limbs (see `dataflow_wide`)."""

# Instructions of the schedule: code, operand, jump
DO = 1
LOOP = 2
AGAIN = 3
STOP = 4
EXCHANGE = 5
"""Workers hand each other what waits for an operator; the last of several one by one stops."""
SCHEDULE_WORDS = 4

RUN_LENGTH = 500
"""Operators that run before a pause."""

# How a run ended
DONE = 0
WANTS_PYTHON = 1
PAUSED = 2
"""After a while, so that Python can see whether the user has interrupted."""
STRANDED = 3
"""With rows that wait at a position which the run has passed."""
EXCHANGING = 4
"""Until all workers have posted what others are to take."""
AGREEING = 5
"""Until all workers know the least position that anything waits for anywhere."""
