"""Folders that somebody else made: `python -m tests.failures.hostile --minutes 10 --seed 7`.

Each case takes a copy of a store, changes it as somebody would who wants to do harm and knows the
formats (checksums and pointers are made to fit), and then does with it what users do. What must
hold, whatever was changed:

- nothing that the folder holds is carried out or imported, and no process or socket is made;
- nothing is written, removed or renamed outside of the store and of what the user names;
- nothing hangs, and nothing takes memory by what a number in a file says;
- what goes wrong is an error of ours.

The first two are watched by an audit hook of Python, which sees every call. It cannot be removed,
so cases run in a process of their own. A seed and the number of a case repeat it.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

from graphtide.kernels import jit
from tests.indices import with_checked_indices


def look_at_indices() -> None:
    """Have kernels end where machine code would read or write beside an array.

    Before they are imported: so the modules that import them are imported here behind it.
    """
    compiled = jit._compiled

    def looking(function: Callable[..., Any], more: dict[str, Any]) -> Callable[..., Any]:
        made = compiled(with_checked_indices(function), more)

        @functools.wraps(function)
        def entering(*arguments: Any) -> Any:
            try:
                return made(*arguments)
            except IndexError as error:
                raise AssertionError(f"a kernel reads beside an array: {error}") from error

        return entering

    vars(jit)["_compiled"] = looking


SECONDS = 60
"""No case takes so long; one that does hangs."""
ROOM = 3 << 30
"""Bytes that the process may take besides those that it has; no case needs so many."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.utime"}
_DESCRIPTORS = {"os.remove", "os.rmdir", "os.mkdir"}
_TWO_PATHS = {"os.rename", "os.link", "os.symlink"}
_NEVER = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system")
_NEVER += ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")
_NEVER += ("ctypes.dlopen", "pickle.", "marshal.", "code.__new__", "webbrowser.", "os.startfile")


class Watch:
    """The hook: while it is armed, it notes what nobody may do."""

    def __init__(self, below: Path) -> None:
        self.armed = False
        self.noted: list[str] = []
        self._below = os.path.realpath(below)
        home = Path(jit.__file__).parents[1]
        self._code = (str(home), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))
        self._cache = os.path.realpath(os.environ["GRAPHTIDE_CACHE"])
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        self.armed = False
        try:
            problem = self._problem(event, given)
            if problem:
                stack = "".join(traceback.format_stack(sys._getframe(1), limit=6))
                self.noted.append(f"{event}: {problem}\n{stack}")
        finally:
            self.armed = True

    def _problem(self, event: str, given: tuple[Any, ...]) -> str | None:
        if event == "exec":
            return self._foreign_code(given[0])
        if event == "import":
            name = str(given[0]).partition(".")[0]
            return f"the module {name}" if name.startswith("planted") else None
        if event == "open":
            path, mode, flags = given
            writes = (flags or 0) & _WRITES or (isinstance(mode, str) and set(mode) & set("wax+"))
            return self._outside(path) if writes else None
        if event in _CHANGES:
            return self._outside(given[0], given[-1] if event in _DESCRIPTORS else -1)
        if event in _TWO_PATHS:
            return self._outside(given[0]) or self._outside(given[1])
        return repr(given)[:200] if event.startswith(_NEVER) else None

    def _foreign_code(self, code: Any) -> str | None:
        """Code may come from what is installed, and from what we generate into the cache."""
        name = getattr(code, "co_filename", "")
        if name.startswith((*self._code, "<frozen", self._cache)):
            return None
        frame: FrameType | None = sys._getframe(3)
        caller = frame.f_code.co_filename if frame else ""
        library = caller.startswith(self._code[1:]) and not caller.startswith(self._code[0])
        return None if library else f"{name} by {caller}"

    def _outside(self, path: Any, folder: int = -1) -> str | None:
        if isinstance(path, int):
            return None
        if folder >= 0:
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))
        real = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
        allowed = real.startswith((self._below + "/work", self._cache)) or real == "/dev"
        return None if allowed else f"{os.fsdecode(path)}"


class Cases:
    """Stores to take copies of, and cases to try on them."""

    def __init__(self, root: Path, seed: int) -> None:
        look_at_indices()
        from tests.failures import hostile_changes, hostile_stores, hostile_uses

        self.root, self.seed, self.uses = root, seed, hostile_uses
        self.canary = root / hostile_changes.CANARY
        self.stores, self.outside = root / "stores", root / hostile_changes.OUTSIDE
        hostile_stores.write_stores(self.stores)
        self.outside.mkdir()
        (self.outside / "secret").write_text("secret\n")
        (root / "planted.py").write_text(f"open({self.canary.name!r}, 'w')\n")
        (root / "planted_module.py").write_text(f"open({self.canary.name!r}, 'w')\n")
        os.chdir(root)
        sys.path.insert(0, str(root))
        self.watch = Watch(root)
        for use in dict.fromkeys(
            item[2] for item in hostile_uses.CASES
        ):  # Imports and generates what it needs.
            self._fresh()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(root / "work")
        hostile_uses.refused.clear()

    def _fresh(self) -> Path:
        work = self.root / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.stores, work)
        for name in ("moved", "PLANTED"):
            path = self.outside / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return work

    def run(self, number: int) -> str | None:
        """What is wrong with a case; None where nothing is."""
        pick = random.Random(f"{self.seed} {number}")
        cases = self.uses.CASES
        name, change, use, _ = pick.choices(cases, [item[3] for item in cases])[0]
        work = self._fresh()
        changed = change(pick, work / name)
        before = _tree(self.outside)
        problem = None
        signal.alarm(SECONDS)
        self.watch.noted.clear()
        self.watch.armed = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(work)
        except Exception:
            problem = traceback.format_exc()
        finally:
            self.watch.armed = False
            signal.alarm(0)
        problem = problem or next(iter(self.watch.noted), None)
        if self.canary.exists():
            self.canary.unlink()
            problem = f"carried out\n{problem}"
        if _tree(self.outside) != before:
            problem = f"changed outside\n{problem}"
        if problem is None:
            return None
        return (
            f"--seed {self.seed} --case {number}: {change.__name__} of {changed[:3000]}\n{problem}"
        )


def _tree(folder: Path) -> list[tuple[str, bytes]]:
    files = sorted(item for item in folder.rglob("*") if item.is_file() and not item.is_symlink())
    return [(str(item), item.read_bytes()) for item in files]


def _hangs(*_: object) -> None:
    raise TimeoutError(f"it takes more than {SECONDS} s")


def campaign(seed: int, cases: int, minutes: float | None, only: int | None) -> int:
    """Try cases, print what is wrong; how many are."""
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _hangs)
    with tempfile.TemporaryDirectory() as name:
        os.environ["GRAPHTIDE_CACHE"] = f"{name}/cache"
        tried = Cases(Path(name), seed)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, -1))
        wrong, until, number = 0, time.monotonic() + 60 * (minutes or 0), 0
        numbers = (
            iter(range(cases if minutes is None else 1 << 60)) if only is None else iter([only])
        )
        for number in numbers:
            if minutes is not None and time.monotonic() > until:
                break
            problem = tried.run(number)
            if problem:
                wrong += 1
                print(problem, flush=True)
        print(
            f"{number + 1:,} cases, {wrong} wrong; refused: {dict(tried.uses.refused)}", flush=True
        )
        os.chdir("/")
    return wrong


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    sys.exit(1 if campaign(given.seed, given.cases, given.minutes, given.case) else 0)


if __name__ == "__main__":
    main()
