"""The source of SQLite to analyse, as the crate `libsqlite3-sys` has it: cargo brings it.

    path = source("facts", "0.30.1")        # facts/libsqlite3-sys-0.30.1/sqlite3.c
    table = sqlite_facts(path)

Every release of the crate has another release of SQLite, in one file of 250,000 lines.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa

from examples.analysis.extract import ALLOCATORS, extract
from graphtide.model.errors import InputError

CRATE = "libsqlite3-sys"
RELEASES = {
    "0.26.0": "3.41.2",
    "0.28.0": "3.45.0",
    "0.30.1": "3.46.0",
}
"""Releases of the crate, and of SQLite in them."""
OWN_ALLOCATORS = (
    "sqlite3Malloc",
    "sqlite3MallocZero",
    "sqlite3_malloc",
    "sqlite3_malloc64",
    "sqlite3Realloc",
    "sqlite3_realloc",
    "sqlite3_realloc64",
    "sqlite3DbMallocRaw",
    "sqlite3DbMallocRawNN",
    "sqlite3DbMallocZero",
    "sqlite3DbRealloc",
    "sqlite3DbReallocOrFree",
    "sqlite3DbStrDup",
    "sqlite3DbStrNDup",
    "sqlite3PageMalloc",
    "sqlite3_mprintf",
    "sqlite3MPrintf",
    "sqlite3VMPrintf",
)
"""Functions of SQLite that return new memory; taken as such, callers are told apart by them."""


def source(folder: str | Path, release: str) -> Path:
    """The file sqlite3.c of a release of the crate, brought into a folder where it is not yet."""
    kept = Path(folder, f"{CRATE}-{release}", "sqlite3.c")
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            found = _vendored(Path(work), release)
            for name in ("sqlite3.h", "sqlite3.c"):
                shutil.copyfile(found / name, kept.parent / name)
    return kept


def sqlite_facts(path: str | Path) -> pa.Table:
    """The facts of SQLite; its allocators are known as such."""
    return extract([path], allocators=(*ALLOCATORS, *OWN_ALLOCATORS))


def _vendored(work: Path, release: str) -> Path:
    """Where cargo has unpacked the crate, below a folder."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise InputError(
            f"There is no cargo on the path to bring {CRATE} with",
            hint="install Rust, or give the path of a sqlite3.c",
        )
    package = '[package]\nname = "bring"\nversion = "0.0.0"\nedition = "2021"\n'
    (work / "Cargo.toml").write_text(f'{package}[dependencies]\n{CRATE} = "={release}"\n')
    (work / "src").mkdir()
    (work / "src" / "lib.rs").touch()
    done = subprocess.run([cargo, "vendor", "--quiet"], cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        raise InputError(
            f"cargo does not bring {CRATE} {release}: {done.stderr.strip().splitlines()[-1:]}",
            hint="it needs a registry of crates; or give the path of a sqlite3.c",
        )
    return work / "vendor" / CRATE / "sqlite3"
