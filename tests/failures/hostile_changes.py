"""What somebody changes in a store who wants to do harm: the seals of it are made to fit."""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from graphtide.model.disk import checksum, checksum_text
from graphtide.store.files import seal, unseal
from tests.failures.hostile_stores import Into

CANARY = "ran"
"""The file that everything writes which is carried out."""
OUTSIDE = "outside"

BAD_NAMES = (
    "../../outside/PLANTED", "/tmp/graphtide-planted", "..", ".", "", "a//b", "a/../../b", "a\0b",
    "a\nb", "a\\b", "ü" * 200, "\ud800", "edges/../../../../outside/secret", "-" * 300, "con:",
    "manifest.json", "../CURRENT", "~/x", "$HOME/x", "%2e%2e/x",
)  # fmt: skip
RUN = f"__import__('pathlib').Path({CANARY!r}).touch()"
PAYLOADS: tuple[Any, ...] = (
    f"{RUN}\n@gt.program\nclass P:\n    n: int\n",
    f"@gt.program\nclass P:\n    x = {RUN}\n    def update(self, v): v.x = 1\n",
    f"@{RUN}\nclass P: pass", f"class P({RUN}): pass", "planted", "planted_module", "os", "system",
    "os.system", "__main__", "tests.failures.hostile", "builtins", "eval", "Into.build", ".", "",
    "x.dl", "/etc/passwd.dl", "../outside/secret.nga", "module", "python", "nga", "datalog",
    "library", "text", "algorithms", "__doc__", "BFS", "SCC", None, True, -1, 0, 1, 10**15, 2**63,
    2**64, -(2**63), 1e308, float("inf"), float("nan"), [], {}, [[]], {"a": 1}, [1, 2], "\ud800",
    "a\0b", "x\nimport planted\n", "int", "date", "9" * 5000, "(" * 300, "v" * 5000,
    f".decl two(u: vertex)\n.input two(filename=\"../{OUTSIDE}/secret\")\n.output two\n",
    f"e[\"x\\n{RUN}\"]",
)  # fmt: skip


def mutated(pick: random.Random, value: Any, names: tuple[Any, ...] = PAYLOADS) -> Any:
    """A JSON value with one thing in it changed."""
    if isinstance(value, dict) and value and pick.random() < 0.9:
        key = pick.choice(list(value))
        act = pick.random()
        if act < 0.1:
            return {other: item for other, item in value.items() if other != key}
        if act < 0.2:
            return {**value, str(pick.choice(names)): value[key]}
        return {**value, key: mutated(pick, value[key], names)}
    if isinstance(value, list) and value and pick.random() < 0.9:
        at = pick.randrange(len(value))
        if pick.random() < 0.15:
            return value[:at] + value[at + 1 :] if pick.random() < 0.5 else [*value, value[at]]
        return [*value[:at], mutated(pick, value[at], names), *value[at + 1 :]]
    if isinstance(value, str) and value and pick.random() < 0.5:
        at = pick.randrange(len(value) + 1)
        piece = pick.choice([item for item in names if isinstance(item, str)])
        return value[:at] + piece + value[at + pick.randrange(4) :]
    if isinstance(value, int) and not isinstance(value, bool) and pick.random() < 0.5:
        return value + pick.choice((-1, 1, 7, -value, 10**15, 2**31, 2**40))
    return pick.choice(names)


def change_manifest(pick: random.Random, folder: Path) -> str:
    """One manifest, anything in it; its seal and the pointers to it are made to fit."""
    path = pick.choice(sorted(folder.rglob("manifest.json")))
    content, old = unseal(path.read_bytes())
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        content = mutated(pick, content)
        if not isinstance(content, dict):
            content = {}
    return _write_manifest(path, content, old)


def change_names(pick: random.Random, folder: Path) -> str:
    """One manifest that lists a file under a name which leads elsewhere."""
    path = pick.choice(sorted(folder.rglob("manifest.json")))
    content, old = unseal(path.read_bytes())
    files = content["files"]
    known, name = pick.choice(list(files)), pick.choice(BAD_NAMES)
    entry = files[known]
    if pick.random() < 0.5:
        del files[known]
    files[name] = entry
    for entry in content:  # Other names that a manifest holds.
        if isinstance(content[entry], str) and pick.random() < 0.05:
            content[entry] = name
    return _write_manifest(path, content, old)


def _write_manifest(path: Path, content: dict[str, Any], old: str) -> str:
    content.pop("checksum", None)
    try:
        data, new = seal(content)
    except (UnicodeEncodeError, ValueError):
        data, new = b"{}", "00000000"
    path.write_bytes(data)
    for pointer in (*path.parent.parent.rglob("CURRENT"), *path.parent.parent.rglob("LAST")):
        pointer.write_bytes(pointer.read_bytes().replace(old.encode(), new.encode()))
    return str(path)


def change_pointer(pick: random.Random, folder: Path) -> str:
    """A pointer that names something else."""
    path = pick.choice([*sorted(folder.rglob("CURRENT")), *sorted(folder.rglob("LAST"))])
    name = pick.choice(BAD_NAMES)
    checksum = path.read_bytes().partition(b" ")[2] or b"00000000\n"
    path.write_bytes(name.encode(errors="surrogatepass") + b" " + checksum)
    return str(path)


def put_link(pick: random.Random, folder: Path) -> str:
    """In place of a file or folder: a link, a pipe, or something else."""
    entries = sorted(item for item in folder.rglob("*") if not item.is_symlink())
    path = pick.choice([item for item in entries if item.is_file() or pick.random() < 0.3])
    away = folder.parent.parent / OUTSIDE / "moved"
    kind = pick.choice(("link", "link", "dangling", "pipe", "folder", "device", "file", "hard"))
    if kind in ("link", "hard") and path.is_file():
        shutil.copy(path, away)
    elif kind == "link":
        shutil.copytree(path, away, symlinks=True)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    match kind:
        case "link":
            path.symlink_to(away)
        case "hard":
            os.link(away, path) if away.exists() else path.touch()
        case "dangling":
            path.symlink_to(away.with_name("PLANTED"))
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.write_bytes(pick.randbytes(100))
    return f"{kind} for {path}"


def change_records(pick: random.Random, folder: Path) -> str:
    """Programs, queries and settings in the log, or in the checkpoint, as nobody registers them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = gt.live(folder, trust=Into)
    said = []
    with graph:
        for at in range(pick.randint(1, 3)):
            state = graph._state
            kind = pick.choice(("register", "register", "register", "ask", "set"))
            if kind == "set":
                facts: dict[str, Any] = {"settings": mutated(pick, dict(state.settings))}
            else:
                known = state.registered if kind == "register" else state.queries
                stored = json.loads(json.dumps(known[pick.choice(list(known))]))
                for _ in range(pick.choice((1, 1, 2))):
                    stored = mutated(pick, stored)
                name = pick.choice((f"evil{at}", "hops", "path"))
                facts = {"name": name, "program" if kind == "register" else "query": stored}
            said.append(repr((kind, facts)))
            try:
                graph._writer.remember(kind, **facts)  # type: ignore[union-attr]
            except (ValueError, TypeError):  # It is in the log, or cannot be.
                break
        if pick.random() < 0.5:
            with suppress(gt.GraphtideError, ValueError):
                graph.checkpoint()
    return "; ".join(said)


def change_table(pick: random.Random, folder: Path) -> str:
    """Values, types, columns or rows of one table, which stays a table that can be read."""
    path = pick.choice(sorted(folder.rglob("*.parquet")))
    table = pq.read_table(path, partitioning=None)
    for _ in range(pick.choice((1, 1, 2))):
        if table.num_columns:
            table = _changed(pick, table, pick.choice(table.column_names))
    path.unlink()
    pq.write_table(table, path)
    list_again(path)
    return f"{path}: {table.slice(0, 12).to_pydict()}"


EXTREMES = (-1, 0, 1, 13, 14, 2**31 - 1, -(2**31), 2**40, -(2**63), 2**63 - 1)


def _changed(pick: random.Random, table: pa.Table, name: str) -> pa.Table:
    at = table.column_names.index(name)
    column = table.column(at)
    match pick.randrange(8):
        case 0:
            return table.remove_column(at)
        case 1:
            return table.rename_columns(
                [pick.choice(("x", "_src", it)) for it in table.column_names]
            )
        case 2:
            kind = pick.choice((pa.string(), pa.int64(), pa.float64(), pa.int8(), pa.null()))
            with suppress(pa.ArrowException):
                return table.set_column(at, name, column.cast(kind, safe=False))
            return table.set_column(at, name, pa.nulls(table.num_rows, kind))
        case 3:
            rows = [pick.randrange(table.num_rows) for _ in range(pick.randrange(20))]
            return table.take(pa.array(rows if table.num_rows else [], pa.int64()))
        case _:
            values = column.to_pylist()
            for _ in range(pick.choice((1, 1, 3)) if values else 0):
                here = pick.randrange(len(values))
                values[here] = _other_value(pick, values[here])
            with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
                return table.set_column(at, name, pa.array(values, column.type))
            return table


def _other_value(pick: random.Random, value: Any) -> Any:
    if isinstance(value, list) and value:
        return [*value, value[0]] if pick.random() < 0.3 else [_other_value(pick, value[0])]
    if isinstance(value, list):
        return [pick.choice(EXTREMES)]
    if isinstance(value, str):
        return pick.choice(("", "\0", value + "x", "../x", "é" * 300, None))
    return pick.choice((*EXTREMES, None, float("nan"), value))


def change_numbers(pick: random.Random, folder: Path) -> str:
    """Numbers in the files that are mapped as they are, and what the heads of these say."""
    path = pick.choice(sorted(item for item in folder.rglob("*") if item.suffix in MAPPED))
    data = bytearray(path.read_bytes())
    head = data.find(b"\n") + 1 if path.suffix == ".arrays" else 0
    if head and pick.random() < 0.4:
        said = json.dumps(mutated(pick, json.loads(data[:head])), ensure_ascii=True).encode()
        data[:head] = said.ljust(head - 1) + b"\n"
    for _ in range(pick.choice((0, 1, 1, 2, 5)) if len(data) > head else 0):
        kind = pick.choice((np.int32, np.int32, np.int64, np.uint8))
        place = head + pick.randrange(len(data) - head) // 4 * 4
        with suppress(OverflowError):
            number = np.array([pick.choice(EXTREMES)]).astype(kind).tobytes()
            data[place : place + len(number)] = number
    if pick.random() < 0.1:
        del data[pick.randrange(len(data) + 1) :]
    path.unlink()
    path.write_bytes(data)
    list_again(path)
    return f"{path} {bytes(data[:head])!r}"


MAPPED = {".bin", ".arrays"}


def list_again(path: Path) -> None:
    """Have the manifest above a changed file list it as it is now."""
    above = next(item for item in path.parents if (item / "manifest.json").exists())
    content, old = unseal((above / "manifest.json").read_bytes())
    name, data = path.relative_to(above).as_posix(), path.read_bytes()
    if name in content["files"]:
        rows = pq.read_metadata(path).num_rows if path.suffix == ".parquet" else None
        content["files"][name] = [len(data), rows, checksum_text(checksum(data))]
    _write_manifest(above / "manifest.json", content, old)


def exchange_file(pick: random.Random, folder: Path) -> str:
    """A file in place of another of its kind, of this store or of another one."""
    path = pick.choice(sorted(item for item in folder.rglob("*") if item.is_file()))
    kind = path.name.partition("-")[0] if "log-" in path.name else path.suffix
    others = [
        item
        for item in folder.parent.rglob("*")
        if item.is_file()
        and (item.name.startswith(kind) if "log-" in path.name else item.suffix == kind)
    ]
    shutil.copy(other := pick.choice(sorted(others)), away := folder.parent / "exchanged")
    path.unlink()
    shutil.move(away, path)
    return f"{other} as {path}"


def change_spool(pick: random.Random, folder: Path) -> str:
    """The rest of a batch of a stream, and what it says of itself."""
    path = pick.choice(sorted(folder.rglob("*.arrow")))
    table = pa.ipc.open_file(path).read_all()
    facts = json.loads(table.schema.metadata[b"facts"])
    if pick.random() < 0.4:
        facts = mutated(pick, facts)
    else:
        table = _changed(pick, table, pick.choice(table.column_names))
    said = json.dumps(facts).encode()
    table = table.replace_schema_metadata({b"facts": said})
    path.unlink()
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return f"{path}: {said!r} {table.to_pydict()}"[:2000]
