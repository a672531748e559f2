"""`graphtide` in a terminal of its own: type, wait for what it prints, press Ctrl-C."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

# Makes the terminal the controlling one, so that Ctrl-C is a signal and not a letter.
_LAUNCH = (
    "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)

INTERRUPT, END = "\x03", "\x04"

PATIENCE = 1800
"""Seconds after which something hangs; a busy machine may need minutes."""


class Terminal:
    """A running command; `wait_for` returns all that was printed since the last wait."""

    def __init__(self, home: Path, *arguments: object, columns: int = 100, **env: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        words = [sys.executable, "-c", _LAUNCH, "-m", "graphtide.cli.main", *map(str, arguments)]
        settings = {**os.environ, "TERM": "dumb", "XDG_STATE_HOME": str(home), **env}
        settings.pop("COLUMNS", None)
        self._process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, env=settings, close_fds=True
        )
        os.close(slave)
        self._unread = ""

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def interrupt(self, patience: int = 3, seconds: float = PATIENCE) -> None:
        """Press Ctrl-C until the command says that it was interrupted, and read up to there.

        Once is not always enough: a signal that comes just before readline begins to wait for a
        key is seen only after the next key. `patience` are the seconds between two presses.
        """
        until = time.monotonic() + seconds
        while "interrupted" not in self._unread:
            assert time.monotonic() < until, f"not interrupted: {self._unread!r}"
            self.type(INTERRUPT)
            for _ in range(patience):
                if "interrupted" not in self._unread:
                    self._read()
        self.wait_for("interrupted")

    def wait_for(self, text: str, seconds: float = PATIENCE) -> str:
        """Read until the text appears; what comes behind it is left for the next wait."""
        until = time.monotonic() + seconds
        while text not in self._unread:
            assert time.monotonic() < until, f"no {text!r} in {self._unread!r}"
            if not self._read():
                break
        found, _, rest = self._unread.partition(text)
        assert text in self._unread, f"ended without {text!r}: {self._unread!r}"
        self._unread = rest
        return found + text

    def runs(self) -> bool:
        """True while the command has not ended."""
        return self._process.poll() is None

    def ended(self, seconds: float = PATIENCE) -> tuple[int, str]:
        """Wait for the end: the exit code, and what had not been read."""
        while self._read():
            pass
        return self._process.wait(seconds), self._unread

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 1)
        if not ready:
            return True
        try:
            found = os.read(self._master, 65536)
        except OSError:
            return False
        self._unread += found.decode(errors="replace").replace("\r\n", "\n")
        return bool(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        os.close(self._master)
