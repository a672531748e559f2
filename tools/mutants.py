"""Break a rule of the engine on purpose, one at a time, and see that the tests notice.

    python tools/mutants.py                     all of tools/mutants.toml
    python tools/mutants.py --only undo         those whose name has the word in it
    python tools/mutants.py --list              what there is to break

A mutant is a line of the product replaced by another that is wrong: a visit that is not scheduled,
a condition of a proof that is not asked for, a state that is not put back. Each is made in a copy
of the sources, with interpreted kernels unless it says otherwise, and the tests that are named
beside it are run until the first failure. A mutant that no test notices *survives*, and the command
fails: then a test is missing. The tests are run without a mutant first, because one that fails
anyway tells nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutants.toml"
PASSED, FAILED = 0, 1
"""What pytest exits with; everything else is a run that told nothing."""


@dataclass(frozen=True)
class Mutant:
    """One rule broken: `before` becomes `after` in a file, which `tests` should notice."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    compiled: bool = False


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """All mutants, in the order of the file; tests that a group shares stand at its head."""
    found = []
    for group in tomllib.loads(path.read_text("utf-8"))["group"]:
        for item in group["mutant"]:
            tests = tuple(item.pop("tests", group["tests"]))
            compiled = item.pop("compiled", group.get("compiled", False))
            found.append(Mutant(tests=tests, compiled=compiled, **item))
    return found


def mutated(text: str, mutant: Mutant) -> str:
    """The text with the rule broken; ValueError unless the place is there exactly once."""
    if text.count(mutant.before) != 1:
        raise ValueError(
            f"{mutant.name}: {mutant.file} has its text {text.count(mutant.before)} times"
        )
    return text.replace(mutant.before, mutant.after)


def outcome(mutant: Mutant | None, tests: Sequence[str], compiled: bool, seconds: float) -> str:
    """What the tests say of a copy of the sources with the mutant in it, or with none."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            path = sources / mutant.file
            path.write_text(mutated(path.read_text("utf-8"), mutant), "utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            ended = subprocess.run(
                command,
                cwd=ROOT,
                env=_environment(folder, compiled),
                capture_output=True,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return "noticed, by taking too long" if mutant is not None else "took too long"
    if ended.returncode == PASSED:
        return "survived" if mutant is not None else "passed"
    if ended.returncode == FAILED:
        return f"noticed by {_first_failure(ended.stdout)}"
    return f"told nothing: {ended.stdout[-500:]}{ended.stderr[-500:]}"


def _environment(folder: str, compiled: bool) -> dict[str, str]:
    found = dict(os.environ)
    found["PYTHONPATH"] = os.pathsep.join([f"{folder}/src", str(ROOT)])
    found["GRAPHTIDE_CACHE"] = f"{folder}/cache"
    found["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
    return found


def _first_failure(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0].removeprefix("FAILED ") if lines else "a failure"


def _check_tests(mutants: Sequence[Mutant], seconds: float) -> bool:
    """True where all tests pass on sources that nobody has broken."""
    good = True
    for tests, compiled in dict.fromkeys((item.tests, item.compiled) for item in mutants):
        told = outcome(None, tests, compiled, seconds)
        good = good and told == "passed"
        print(f"{told:10} without a mutant: {' '.join(tests)}", flush=True)
    return good


def main() -> int:
    """Run what is asked for; 1 if a mutant survives or the tests fail without one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="those whose name has this word in it")
    parser.add_argument("--without", default="\n", help="not those whose name has this word in it")
    parser.add_argument("--list", action="store_true", help="print them and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=900, help="the most that tests may take")
    given = parser.parse_args()
    named = [item for item in read_mutants() if given.only in item.name]
    mutants = [item for item in named if given.without not in item.name]
    if given.list:
        print("\n".join(f"{item.name}  ({item.file})" for item in mutants))
        return 0
    if not _check_tests(mutants, given.seconds):
        return 1
    began, survived = time.monotonic(), 0
    with ThreadPoolExecutor(given.jobs) as pool:
        told = pool.map(
            lambda item: outcome(item, item.tests, item.compiled, given.seconds), mutants
        )
        for mutant, said in zip(mutants, told, strict=True):
            survived += not said.startswith("noticed")
            print(f"{mutant.name}: {said}", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(f"{len(mutants) - survived} of {len(mutants)} noticed, in {minutes:.1f} minutes")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
