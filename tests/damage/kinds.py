"""Ways to damage a file of a store: bytes in, bytes out, or None where the file is to be gone."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

Change = Callable[[bytes], bytes | None]


@dataclass(frozen=True)
class Damaging:
    """One damage: which file, told in words, and what is done to a copy of the store."""

    file: str
    kind: str
    do: Callable[[Path], None]

    def __str__(self) -> str:
        return f"{self.kind}: {self.file}"


KINDS: dict[str, Change] = {
    "lost": lambda data: None,
    "emptied": lambda data: b"",
    "cut in half": lambda data: data[: len(data) // 2],
    "cut by a byte": lambda data: data[:-1],
    "appended to": lambda data: data + b"x" * 16,
    "doubled": lambda data: data + data,
    "zeros": lambda data: bytes(len(data)),
    "not utf-8": lambda data: b"\xff" + data[1:],
}


def files_in_force(root: Path) -> list[str]:
    """Every file that a reader may meet: pointers, and what the newest generations hold."""
    found = []
    for item in sorted(root.glob("*/*")):
        newest = sorted(item.glob("g-*"))[-1]
        below = [path for path in newest.rglob("*") if path.is_file()]
        found += [item / "CURRENT", *below]
    return sorted(path.relative_to(root).as_posix() for path in found)


def file_damages(root: Path) -> Iterator[Damaging]:
    """Every kind of damage to every file, and what concerns more than one file."""
    files = files_in_force(root)
    for file in files:
        for kind, change in KINDS.items():
            yield Damaging(file, kind, _changing(file, change))
        yield Damaging(file, "a folder in its place", _folder_in_place(file))
        older = _older(root, file)
        if older is not None:
            yield Damaging(file, "replaced by that of the older generation", _copying(older, file))
        if file.endswith(".parquet"):
            stray = str(Path(file).with_name("part-999999999999.parquet"))
            yield Damaging(stray, "added beside", _copying(file, stray))
    for one, other in _pairs(files):
        yield Damaging(f"{one} and {other}", "swapped", _swapping(one, other))
    for folder in sorted({str(Path(file).parent) for file in files if Path(file).parts[2:-1]}):
        yield Damaging(folder, "a folder lost", _losing_folder(folder))


def flipped_bits(root: Path, seed: int) -> Iterator[Damaging]:
    """A single bit of each file."""
    pick = random.Random(seed)
    for file in files_in_force(root):
        bit = pick.randrange(8 * (root / file).stat().st_size)
        yield Damaging(file, f"bit {bit} flipped", _changing(file, partial(flipped, bit=bit)))


def flipped(data: bytes, bit: int) -> bytes:
    """The bytes with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _changing(file: str, change: Change) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        found = change((root / file).read_bytes())
        if found is None:
            (root / file).unlink()
        else:
            (root / file).write_bytes(found)

    return do


def _copying(source: str, target: str) -> Callable[[Path], None]:
    return lambda root: shutil.copy(root / source, root / target) and None


def _swapping(one: str, other: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        first, second = (root / one).read_bytes(), (root / other).read_bytes()
        (root / one).write_bytes(second)
        (root / other).write_bytes(first)

    return do


def _losing_folder(folder: str) -> Callable[[Path], None]:
    return lambda root: shutil.rmtree(root / folder)


def _folder_in_place(file: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / file).unlink()
        (root / file).mkdir()

    return do


def _pairs(files: list[str]) -> Iterator[tuple[str, str]]:
    """Files of one name or of one table: those that could be taken for each other."""
    for at, one in enumerate(files):
        for other in files[at + 1 :]:
            same_name = Path(one).name == Path(other).name
            if same_name or Path(one).parent == Path(other).parent:
                yield one, other


def _older(root: Path, file: str) -> str | None:
    parts = Path(file).parts
    generations = sorted((root / parts[0] / parts[1]).glob("g-*"))
    if len(parts) < 4 or len(generations) < 2:
        return None
    older = Path(*parts[:2], generations[-2].name, *parts[3:])
    return older.as_posix() if (root / older).is_file() else None
