"""Write constraints-hashes.txt: `python tools/hashes.py`, or `make hashes`.

Every file of every pinned version is in it, for all platforms, with its SHA-256, so that
`pip install --require-hashes -r constraints-hashes.txt` takes what the tests ran with and nothing
else. The hashes are those of the index that pip asks, by its pages (PEP 503); the file names no
index.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pip._internal.commands import create_command

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([\w.-]+)==([\w.!+]+)$", re.MULTILINE)
LINK = re.compile(r"<a [^>]*#sha256=([0-9a-f]{64})[^>]*>\s*([^<\s]+)\s*</a>")
HEAD = """\
# Every file of the versions in constraints.txt, by `make hashes`. Used as:
# pip install --require-hashes -r constraints-hashes.txt, then pip install --no-deps graphtide
"""


def main() -> None:
    """Ask the index for each pin, some at a time."""
    pins = PIN.findall((ROOT / "constraints.txt").read_text())
    index = _index()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pin: hashes(index, *pin), pins))
    lines = [
        " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{item}" for item in items)])
        for (name, version), items in zip(pins, found, strict=True)
    ]
    (ROOT / "constraints-hashes.txt").write_text(HEAD + "\n".join(lines) + "\n")
    print(f"{sum(map(len, found)):,} files of {len(pins)} packages")


def _index() -> str:
    """The index that pip asks: of its settings, its environment, or its own."""
    asked, _ = create_command("download").parse_args([])
    return str(asked.index_url)


def hashes(index: str, name: str, version: str) -> list[str]:
    """The SHA-256 of all files of one version."""
    plain = re.sub(r"[-_.]+", "-", name).lower()
    request = urllib.request.Request(
        f"{index.rstrip('/')}/{plain}/", headers={"Accept": "text/html"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        page = answer.read().decode()
    found = {digest for digest, file in LINK.findall(page) if _version_of(file, plain) == version}
    if not found:
        sys.exit(f"the index has no files of {name} {version}")
    return sorted(found)


def _version_of(file: str, plain: str) -> str | None:
    """The version in the name of a wheel or of a source archive."""
    stem = re.sub(r"\.(whl|tar\.gz|zip|tar\.bz2)$", "", file)
    if stem == file:
        return None
    if file.endswith(".whl"):
        return stem.split("-")[1]
    name, _, version = stem.rpartition("-")
    return version if re.sub(r"[-_.]+", "-", name).lower() == plain else None


if __name__ == "__main__":
    main()
