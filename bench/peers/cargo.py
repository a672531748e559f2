"""Programs of ours in Rust, built by cargo once for each state of their sources."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from bench.peers import AbsentError
from graphtide.model.cache import cache_root

BUILD_SECONDS = 1_800


def built(name: str, sources: list[Path], *, build: bool = True) -> Path:
    """The program of the project `bench/peers/NAME`; AbsentError with the reason where it is not.

    `sources` are all files that it is made of: another state of them is another program.
    """
    target = cache_root() / "peers" / f"{name}-{_fingerprint(sources)}"
    program = target / "release" / name
    if program.is_file():
        return program
    if not build:
        raise AbsentError(f"skipped: the peer {name} is not built; a full run builds it")
    cargo = shutil.which("cargo")
    if cargo is None:
        raise AbsentError(f"skipped: no cargo on the path to build the peer {name} with")
    print(f"building the peer {name}, once: a few minutes", flush=True)
    command = [cargo, "build", "--release", "--target-dir", str(target)]
    done = ran(command, BUILD_SECONDS, "cargo", Path(__file__).parent / name)
    if done.returncode != 0:
        raise AbsentError(f"skipped: cargo did not build the peer {name}: {last_line(done.stderr)}")
    return program


def ran(
    command: list[str], seconds: float, who: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program run to its end, or AbsentError where it takes longer."""
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as reason:
        raise AbsentError(f"skipped: {who} took longer than {seconds} s") from reason


def last_line(text: str) -> str:
    """What a program said last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def _fingerprint(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
