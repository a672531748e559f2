"""Random texts and random damage to files: `python -m tests.failures.fuzz --minutes 60 --seed 7`.

Texts are those of the documentation and the golden files, with tokens and characters dropped,
doubled, swapped and replaced by hostile ones. Every parser reads every one of them, and what it
reads goes on through resolving, lowering and writing back. Files are those of a live graph, of its
consumers, of a catalog and of tables that users load: bits flipped, parts cut, doubled, moved, and
numbers made huge. Half of the time all checksums are made right again, as an attacker would.

Whatever happens must be an answer or an error of ours; where the checksums were left wrong, the
answer must be that of the untouched files, or of an earlier state where the end of a log was lost.
No other exception, no crash, no case above its seconds of a processor or its memory. Each case of
files runs in a forked process. A seed repeats a failure. With `--atheris`, that library chooses the
mutations of texts by what they reach (`pip install atheris` first).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from graphtide.lang.datalog import lower_datalog, parse_datalog, unparse_datalog
from graphtide.lang.gvdl import parse_predicate, parse_script, resolve_predicate, unparse
from graphtide.lang.nga import nga
from graphtide.lang.paths import parse_path, unparse_path
from graphtide.model.errors import GraphtideError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan.regular_paths import automaton_of
from tests.damage import small_store
from tests.failures import kills

ROOT = Path(__file__).parents[2]
SECONDS = 20
"""Of a processor, for one case: what takes longer hangs."""
BYTES = 2 << 30
"""More than this, above what a process has imported, no case may take."""
SCHEMA = GraphSchema(
    PropertyType.INT,
    vertex=(Property("state", PropertyType.STRING), Property("age", PropertyType.INT)),
    edge=(Property("year", PropertyType.INT), Property("duration", PropertyType.FLOAT)),
)
HOSTILE = [
    *("not ", "(", ")", "[", "]", "{", "}", "'", '"', "`", "/*", "--", "//", "\\", "\0", "\ud800"),
    *("9" * 30, "9" * 700, "1e999", "-1", "0x", "1..9", "2020-13-45", "\u2028", "é" * 50, "$x"),
    *("- " * 120, "( " * 120, "If (1 > 0) " * 90, "a.b.c", "*0..", "{1,99999999}", ":- ", "!", "?"),
]
HOSTILE_NUMBERS = (b"-1", b"0", b"9" * 19, b"1e400", b"9" * 5000, b"null")
Act = Callable[[], Any]


class OutOfTimeError(BaseException):
    """A case that took too long; no handler of the product takes it for an error of its own."""


# ---- texts


def _predicate(text: str) -> None:
    tree = parse_predicate(text)
    assert parse_predicate(unparse(tree)) == tree
    str(resolve_predicate(tree, SCHEMA))


def _script(text: str) -> None:
    for statement in parse_script(text):
        unparse(statement)


def _datalog(text: str) -> None:
    tree = parse_datalog(text)
    assert parse_datalog(unparse_datalog(tree)) == tree
    lower_datalog(tree)


def _path(text: str) -> None:
    tree = parse_path(text)
    assert parse_path(unparse_path(tree)) == tree
    automaton_of(tree)


READERS: dict[str, Callable[[str], None]] = {
    "predicate": _predicate,
    "script": _script,
    "L_NGA": lambda text: str(nga(text + "\n").explain()),
    "datalog": _datalog,
    "path": _path,
}


SAMPLES = {
    "predicate": "year > 2010 and not (src.state = 'CA' or duration between 1 and 2.5)",
    "script": "create view v on Calls edges where year in (2019, 2020);",
    "L_NGA": "Vertex (d: double, best: Accm<double, MIN>)\n"
    "Traverse (u):\n  For v in u.nbrs\n    v.best.Accumulate(u.d + 1.0)\n"
    "Update (u): u.d = u.best\n",
    "datalog": '.decl a(x: number, y: symbol)\na(1, "x").\n'
    '.decl b(x: number)\nb(x + 1) :- a(x, _), x < 3; a(x, "y").\n.output b\n',
    "path": "(knows|^likes)/(a{2,4})*/!(b|^c)",
}


def corpus(every: int = 1) -> dict[str, list[str]]:
    """For each reader, the texts of the documentation and of the golden files that it takes.

    One in `every` of them: to read all takes half a minute.
    """
    texts: set[str] = set()
    for page in sorted(ROOT.glob("docs/reference/*.md")):
        written = page.read_text()
        texts.update(re.findall(r"```\w*\n(.*?)```", written, re.DOTALL))
        texts.update(re.findall(r"`([^`\n]+)`", written))
        texts.update(re.findall(r'"""(.*?)"""', written, re.DOTALL))
    for file in sorted(ROOT.glob("tests/golden/**/*")):
        if file.is_file() and file.suffix not in (".py", ".pyc"):
            texts.add(file.read_text())
            texts.update(file.read_text().split("\n\n"))
    return {
        name: [SAMPLES[name]]
        + [text for text in sorted(texts)[::every] if len(text) < 2_000 and _reads(read, text)]
        for name, read in READERS.items()
    }


def _reads(read: Callable[[str], None], text: str) -> bool:
    try:
        read(text)
    except GraphtideError:
        return False
    return True


def mutated(pick: random.Random, text: str, others: list[str]) -> str:
    """The text with a few tokens or characters changed."""
    parts = re.findall(r"\w+|\s+|.", text, re.DOTALL) if pick.random() < 0.8 else list(text)
    for _ in range(pick.choice((1, 1, 2, 3, 8))):
        at = pick.randrange(len(parts) + 1)
        to = min(len(parts), at + pick.choice((1, 1, 2, 5, 20)))
        match pick.randrange(7):
            case 0:
                del parts[at:to]
            case 1:
                parts[at:at] = parts[at:to] * pick.choice((1, 2, 30, 150))
            case 2:
                parts[at:to] = [pick.choice(HOSTILE)]
            case 3:
                other = pick.choice(others)
                begin = pick.randrange(len(other) + 1)
                parts[at:to] = re.findall(r"\w+|\s+|.", other[begin : begin + 60], re.DOTALL)
            case 4:
                parts[at:to] = reversed(parts[at:to])
            case 5:
                parts[at:to] = [pick.choice(parts)] if parts else []
            case 6:
                parts[at:to] = [chr(pick.choice((0, 9, 34, 39, 127, 955, 8232, 65279, 128512)))]
    return "".join(parts)[:50_000]


def text_case(pick: random.Random, texts: dict[str, list[str]]) -> None:
    """One text, read by the reader it was for, and sometimes by another."""
    name = pick.choice(list(READERS))
    text = mutated(pick, pick.choice(texts[name]), texts[name])
    reader = pick.choice(list(READERS)) if pick.random() < 0.1 else name
    _ours_or_nothing(lambda: READERS[reader](text), f"{reader}: {text!r}")


def _ours_or_nothing(act: Act, what: str) -> Any:
    """What an act gives; None where it ends in an error of ours."""
    began = time.process_time()
    previous = signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return act()
    except GraphtideError as error:
        if len(str(error)) > 20_000:
            raise AssertionError(f"{what[:2000]}\nan error of 20,000 characters") from error
        return None
    except BaseException as error:
        seconds = time.process_time() - began
        raise AssertionError(f"{what[:20_000]}\n{seconds:.1f} s, then {error!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _out_of_time(*_: object) -> None:
    raise OutOfTimeError


# ---- files


class Files:
    """Folders of every kind, as they were written, and what can be asked of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.states: list[Any] = []
        (folder / "live").mkdir(parents=True)
        self._write_live(folder / "live")
        small_store.write_store(folder / "catalog")
        (folder / "tables").mkdir()
        rows = "".join(f"{at % 7},{at % 5},{at}.5,2020-01-0{1 + at % 9}\n" for at in range(40))
        (folder / "tables" / "edges.csv").write_text("src,dst,weight,day\n" + rows)
        table = {"src": [at % 7 for at in range(40)], "dst": [at % 5 for at in range(40)]}
        pq.write_table(pa.table(table), folder / "tables" / "edges.parquet")
        (folder / "tables" / "a.facts").write_text("".join(f"{at}\tx{at}\n" for at in range(30)))
        self.readers: dict[str, Callable[[Path], Any]] = {
            "live": _read_live,
            "catalog": _read_catalog,
            "tables": _read_tables,
        }
        self.answers = {name: read(folder / name) for name, read in self.readers.items()}

    def _write_live(self, folder: Path) -> None:
        """A few batches in the log, all states of which are answers that may be given."""
        kills.begin(folder)
        with gt.live(folder / "graph") as graph:
            graph.deliver("near", folder / "out", consumer="files")
            self.states.append(sorted(kills._rows_of(graph)))
            for at in range(6):
                graph.advance(insert=[{"src": at, "dst": at + 1, "weight": 0.5, "kind": f"k{at}"}])
                self.states.append(sorted(kills._rows_of(graph)))


def _read_live(folder: Path) -> Any:
    with gt.live(folder / "graph") as graph:
        rows = sorted(kills._rows_of(graph))
        graph.queries["near"].table()
        graph.deliver("near", folder / "out", consumer="files")
        graph.advance(insert=[{"src": 1, "dst": 3, "weight": 0.5, "kind": "new"}])
        graph.rollback()
    return rows


def _read_catalog(folder: Path) -> Any:
    session = gt.session(folder, progress=False)
    answers = []
    for ask in small_store.readings().values():
        try:
            answers.append(ask(session))
        except GraphtideError:
            answers.append(None)
    return answers


def _read_tables(folder: Path) -> None:
    text = ".decl a(x: number, y: symbol)\n.input a\n.output a\n"
    session = gt.session(folder / "store", progress=False)
    csv, parquet = folder / "edges.csv", folder / "edges.parquet"
    for ask in (
        lambda: gt.datalog(text, facts=folder).facts("a"),
        lambda: session.execute(f"create live graph pay with edges from '{csv}';"),
        lambda: session.execute(f"create live graph more with edges from '{parquet}';"),
    ):
        try:
            ask()
        except GraphtideError:
            continue


def damaged(pick: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them changed, cut, doubled, moved or made huge numbers."""
    changed = bytearray(data)
    for _ in range(pick.choice((1, 1, 2, 5))):
        at, length = pick.randrange(len(changed) + 1), pick.choice((1, 4, 8, 50))
        match pick.randrange(7):
            case 0 if at < len(changed):
                changed[at] ^= 1 << pick.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                changed[at:at] = changed[at : at + length]
            case 3:
                huge = pick.choice((-1, 1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 40, 0))
                changed[at : at + 8] = struct.pack("<q", huge)
            case 4:
                del changed[at : at + length]
            case 5:
                changed[at : at + 4] = pick.randbytes(4)
            case 6:
                numbers = list(re.finditer(rb"\d+", bytes(changed)))
                if numbers:
                    number = pick.choice(numbers)
                    huge_text = pick.choice(
                        (b"-1", b"0", b"9" * 19, b"1e400", b"9" * 5000, b"null")
                    )
                    changed[number.start() : number.end()] = huge_text
    return bytes(changed)


def _summed_again(store: Path) -> None:
    """Make all checksums of a store right again, from the inside out."""
    for log in store.rglob("log-*"):
        log.write_bytes(_log_summed(log.read_bytes()))
    for manifest in store.rglob("manifest.json"):
        text = manifest.read_bytes()
        for file in manifest.parent.rglob("*.parquet"):
            name = file.relative_to(manifest.parent).as_posix()
            facts = rb'("%s": \[\s*)\d+(,\s*[^,]*,\s*)"[0-9a-f]*"' % re.escape(name).encode()
            right = rb'\g<1>%d\g<2>"%08x"' % (file.stat().st_size, zlib.crc32(file.read_bytes()))
            text = re.sub(facts, right, text)
        body, tail, _ = text.rpartition(b',\n "checksum": "')
        manifest.write_bytes(body + tail + b'%08x"\n}\n' % zlib.crc32(body))
        pointer = manifest.parents[1] / "CURRENT"
        if pointer.exists() and manifest.parent.name.encode() in pointer.read_bytes():
            pointer.write_bytes(b"%s %08x\n" % (manifest.parent.name.encode(), zlib.crc32(body)))
    for position in store.rglob("consumers/*"):
        body, tail, _ = position.read_bytes().rpartition(b',\n "checksum": "')
        position.write_bytes(body + tail + b'%08x"\n}\n' % zlib.crc32(body))


def _log_summed(data: bytes) -> bytes:
    """A log whose frames say what is in them; what is no frame stays as it is."""
    changed, at = bytearray(data), data.find(b"\xf5frm")
    while at >= 0 and at + 24 <= len(changed):
        magic, length, sequence, _ = struct.unpack_from("<4sQQI", changed, at)
        if length > len(changed):
            break
        payload = zlib.crc32(changed[at + 28 : at + 28 + length])
        struct.pack_into("<4sQQI", changed, at, magic, length, sequence, payload)
        struct.pack_into("<I", changed, at + 24, zlib.crc32(changed[at : at + 24]))
        at = bytes(changed).find(magic, at + 28 + length)
    return bytes(changed)


def file_case(pick: random.Random, files: Files) -> None:
    """One file damaged in a copy of its folder, which a process of its own then reads."""
    kind = pick.choice(list(files.readers))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / kind
        shutil.copytree(files.folder / kind, copy)
        paths = sorted(item for item in copy.rglob("*") if item.is_file() and item.stat().st_size)
        path = pick.choice(paths)
        path.write_bytes(damaged(pick, path.read_bytes()))
        again = pick.random() < 0.5
        if again:
            _summed_again(copy)
        what = f"{path.relative_to(copy)} of {kind}, checksums {'right' if again else 'wrong'}"
        _in_a_process(lambda: _judge(files, kind, copy, what, again=again), what)


def _judge(files: Files, kind: str, copy: Path, what: str, *, again: bool) -> None:
    answer = _ours_or_nothing(lambda: files.readers[kind](copy), what)
    if again or answer is None or kind == "tables":
        return
    if kind == "live":
        assert answer in files.states, f"{what}: {answer}"
        return
    graphs, views, collections, runs = files.answers[kind][0]
    allowed = [(graphs, views, collections, runs)]
    if what.startswith("collections/early/"):
        # Nothing says any more that it was a view. It is listed so that users can delete it.
        allowed.append((graphs, [], sorted([*collections, *views]), runs))
    assert answer[0] in allowed, f"{what}: {answer[0]}"
    for one, right in zip(answer[1:], files.answers[kind][1:], strict=True):
        assert one is None or one == right, f"{what}: {one}\nis not {right}"


def _in_a_process(act: Callable[[], None], what: str) -> None:
    """A crash, a hang and a lack of memory end a process of their own, and fail the case."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * 2, SECONDS * 2))
        resource.setrlimit(resource.RLIMIT_DATA, (_data() + BYTES,) * 2)
        try:
            act()
            os._exit(0)
        except BaseException:
            os.write(write, traceback.format_exc()[-20_000:].encode(errors="replace"))
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        message = said.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{what}: ended with {status}\n{message}"


def _data() -> int:
    """What this process has allocated, as RLIMIT_DATA counts it."""
    found = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found.group(1)) << 10 if found else 0


def guided(texts: dict[str, list[str]], minutes: float) -> None:
    """Let atheris choose the texts; it ends with the first that fails."""
    import atheris  # type: ignore[import-not-found, unused-ignore]

    def one(data: bytes) -> None:
        text = data[1:].decode("utf-8", "replace")
        reader = list(READERS)[data[0] % len(READERS)] if data else "path"
        _ours_or_nothing(lambda: READERS[reader](text), f"{reader}: {text!r}")

    with tempfile.TemporaryDirectory() as seeds:
        for at, (number, text) in enumerate(
            (number, text) for number, name in enumerate(READERS) for text in texts[name]
        ):
            (Path(seeds) / str(at)).write_bytes(bytes([number]) + text.encode())
        atheris.instrument_all()
        atheris.Setup([sys.argv[0], seeds, f"-max_total_time={int(minutes * 60)}"], one)
        atheris.Fuzz()


def main() -> None:
    """One case in fifty is files, which take longer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="so many, instead of so long")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--case", type=int, help="this one alone; beside --cases if it was")
    parser.add_argument("--atheris", action="store_true")
    given = parser.parse_args()
    texts = corpus(10 if given.cases else 1)
    if given.atheris:
        guided(texts, given.minutes)
        return
    ends, counts = time.monotonic() + given.minutes * 60, [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder))
        first = given.case or 0
        if given.case is not None:
            ends, given.cases = 0.0, 1
        while sum(counts) < given.cases if given.cases else time.monotonic() < ends:
            number = first + sum(counts)
            pick = random.Random(f"{given.seed}-{number}")
            of_files = number % 50 == 0
            try:
                file_case(pick, files) if of_files else text_case(pick, texts)
            except AssertionError:
                traceback.print_exc()
                sys.exit(f"seed {given.seed}, case {number}")
            counts[of_files] += 1
    print(
        f"{counts[0]:,} texts and {counts[1]:,} files, seed {given.seed}: all answered or refused"
    )


if __name__ == "__main__":
    main()
