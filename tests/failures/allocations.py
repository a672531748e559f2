"""Memory that ends at a chosen allocation, whoever asks for it: Python, NumPy or a kernel.

The allocators of Python, which kernels use as well, and that of NumPy's arrays are replaced by
machine code that counts, and then asks those that were there. Arrow's own memory is not seen.
Nothing is put back: only for processes that end soon.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import platform
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numpy._core import multiarray

ARMED, SEEN, FIRST, LAST, LEAST, FAILED = range(6)
STATE = np.zeros(6, np.int64)
"""Whether to count; how many allocations there were; which fail, from which size on; how many."""

_DOMAINS = 3
_SET_HANDLER = 304
"""The place of `PyDataMem_SetHandler` in NumPy's table of functions."""
_kept: list[Any] = []

_SA_SIGINFO, _SA_NODEFER = 4, 0x40000000
_FAULT, _INSTRUCTION = 16, 168
"""Where `siginfo_t` has the address that was not there, and `ucontext_t` that of the instruction
(x86-64).
"""
_NEAR_ZERO = 1 << 16
_LIBRARIES = ("/numpy/", "/pyarrow/", "/numba/", "/llvmlite/", "/bin/python", "/libpython")
"""What the paths of machine code are known by that is not ours."""


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("own", "malloc", "calloc", "realloc", "free")]


class _Handler(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("all", _Allocator)]


@njit
def _fails(state: Any, size: Any) -> Any:
    """Count an allocation, and say whether it is one that fails."""
    if state[ARMED] == 0 or size < state[LEAST]:
        return False
    state[SEEN] += 1
    if state[SEEN] < state[FIRST] or state[SEEN] > state[LAST]:
        return False
    state[FAILED] += 1
    return True


def _failing(there: _Allocator) -> _Allocator:
    """An allocator that fails where it is told to, and else is the one that was there."""
    two = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
    three = ctypes.CFUNCTYPE(ctypes.c_size_t, *[ctypes.c_size_t] * 3)
    allocate, zeroed, moved = two(there.malloc), three(there.calloc), three(there.realloc)
    word, own = types.uintp, types.CPointer(types.int64)  # type: ignore[no-untyped-call]

    @cfunc(word(own, word))
    def malloc(state: Any, size: Any) -> Any:
        return 0 if _fails(state, size) else allocate(0, size)

    @cfunc(word(own, word, word))
    def calloc(state: Any, count: Any, size: Any) -> Any:
        return 0 if _fails(state, count * size) else zeroed(0, count, size)

    @cfunc(word(own, word, word))
    def realloc(state: Any, place: Any, size: Any) -> Any:
        return 0 if _fails(state, size) else moved(0, place, size)

    _kept.extend([malloc, calloc, realloc])
    places = malloc.address, calloc.address, realloc.address
    return _Allocator(STATE.ctypes.data, *places, there.free)


def replace_allocators() -> None:
    """Have all allocations of this process counted in `call_failing`."""
    calls = ctypes.pythonapi
    made = []
    for domain in range(_DOMAINS):
        there = _Allocator()
        calls.PyMem_GetAllocator(domain, ctypes.byref(there))
        assert not there.own
        made.append(_failing(there))
        calls.PyMem_SetAllocator(domain, ctypes.byref(made[-1]))
    # NumPy's are like Python's raw ones, but for the size that they are told when memory is freed.
    handler = _Handler(b"failing", 1, made[0])
    calls.PyCapsule_New.restype = ctypes.py_object
    calls.PyCapsule_GetPointer.restype = ctypes.POINTER(ctypes.c_void_p)
    table = calls.PyCapsule_GetPointer(ctypes.py_object(multiarray._ARRAY_API), None)
    put = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
    put(calls.PyCapsule_New(ctypes.byref(handler), b"mem_handler", None))
    _kept.extend([made, handler])


def call_failing(work: Callable[[], None], first: int, last: int, least: int) -> Any:
    """Do something while the allocations of at least so many bytes fail from the first to the last,
    counted from 1; the error that it ended with, or None.
    """
    ended: BaseException | None = None
    STATE[:] = 0, 0, first, last, least, 0
    try:
        STATE[ARMED] = 1
        work()
    except BaseException as error:
        ended = error
    while True:
        try:
            STATE[ARMED] = 0
            return ended
        except MemoryError:
            continue


class _Action(ctypes.Structure):
    """What glibc's `sigaction` takes, on machines of 64 bits."""

    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_char * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


class Deaths:
    """Notes where processes that are forked from now on meet with a segmentation fault.

    Behind `faulthandler`, whose own note comes next.
    """

    def __init__(self) -> None:
        self._note = np.frombuffer(mmap.mmap(-1, 16), np.int64)
        faulthandler.enable()
        address = self._note.ctypes.data
        before, own, library = _Action(), _Action(), ctypes.CDLL(None)
        library.sigaction(signal.SIGSEGV, None, ctypes.byref(before))
        go_on = ctypes.CFUNCTYPE(None, ctypes.c_int)(before.handler)
        copy = ctypes.CFUNCTYPE(ctypes.c_size_t, *[ctypes.c_size_t] * 3)(("memcpy", library))
        word = types.uintp

        @cfunc(types.void(types.int32, word, word))
        def note(number: Any, fault: Any, context: Any) -> None:
            copy(address, fault + _FAULT, 8)
            copy(address + 8, context + _INSTRUCTION, 8)
            go_on(number)

        own.handler, own.flags = note.address, _SA_SIGINFO | _SA_NODEFER
        library.sigaction(signal.SIGSEGV, ctypes.byref(own), None)
        _kept.extend([note, go_on, copy])

    def is_of_libraries(self) -> bool:
        """Whether machine code of a library used memory that it had not been given, without a
        look, or gave an object of Python back twice; forgets it. That of our kernels lies in no
        file and counts no references, and the C library serves all.

        What is given back twice becomes -1 where a list of free memory ends: 0, counted down.
        """
        fault, instruction = self._note.tolist()
        self._note[:] = 0
        if platform.machine() != "x86_64":
            return False
        for line in Path("/proc/self/maps").read_text().splitlines():
            first, _, last = line.split()[0].partition("-")
            if int(first, 16) <= instruction < int(last, 16):
                print(f"address {fault:#x} in {line.split()[-1]}", flush=True)
                named = any(name in line.split()[-1] for name in _LIBRARIES)
                return named and -1 <= fault < _NEAR_ZERO
        return False
