"""Programs in Rust that are built beside us: once for each state of their sources, by cargo.

The sources lie in folders of their own here; what is built lies in the cache folder of the user.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from bench.peers import AbsentError
from graphtide.model.machine import cache_root

BUILD_SECONDS = 1_800


def built(project: Path, who: str, *, borrows: Path | None = None, build: bool = True) -> Path:
    """The program of a project, built where `build` lets it be; AbsentError with the reason.

    Another state of its sources, or of those that it `borrows` from another project, is another
    program.
    """
    folders = [project] if borrows is None else [project, borrows]
    target = cache_root() / "peers" / f"{project.name}-{_fingerprint(folders)}"
    program = target / "release" / project.name
    if program.is_file():
        return program
    if not build:
        raise AbsentError(f"skipped: {who} is not built; a full run builds it")
    cargo = shutil.which("cargo")
    if cargo is None:
        raise AbsentError(f"skipped: no cargo on the path to build {who} with")
    print(f"building {who}, once: about two minutes", flush=True)
    command = [cargo, "build", "--release", "--target-dir", str(target)]
    done = run_program(command, BUILD_SECONDS, "cargo", project)
    if done.returncode != 0:
        raise AbsentError(f"skipped: cargo did not build {who}: {last_line(done.stderr)}")
    return program


def run_program(
    command: list[str], seconds: float, who: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; AbsentError where that takes too long."""
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as reason:
        raise AbsentError(f"skipped: {who} took longer than {seconds} s") from reason


def last_line(text: str) -> str:
    """The last line of what a program said that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def _fingerprint(projects: list[Path]) -> str:
    digest = hashlib.sha256()
    for project in projects:
        for path in [project / "Cargo.toml", *sorted((project / "src").glob("*.rs"))]:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
