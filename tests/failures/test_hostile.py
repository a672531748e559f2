"""Folders that somebody else made; random ones are those of `tests.failures.hostile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.store.catalog import Catalog
from graphtide.store.files import seal, unseal
from tests.damage.small_store import SCHEMA
from tests.graphs import write_graph

RUN = "__import__('pathlib').Path('ran').touch()"
TEXT = f"""{RUN}
@gt.program
class Evil:
    n: int
    found = gt.Count()
    def traverse(self, u, e, v): v.found()
    def update(self, v): v.n = v.found
"""
INPUT = '.decl two(u: vertex)\n.input two(filename="secret")\n.output two\n'


@pytest.mark.parametrize(
    "stored",
    [
        {"kind": "python", "text": TEXT},
        {"kind": "python", "text": TEXT.replace(RUN, "").replace("int", f"int = {RUN}")},
        {"kind": "module", "module": "planted", "within": "Evil"},
        {"kind": "module", "module": "os", "within": "system"},
        {"kind": "library", "name": "__loader__"},
        {"kind": "nga", "text": "secret.nga"},
        {"kind": "datalog", "text": "secret.dl"},
        {"kind": "datalog", "text": INPUT},
        {"kind": "pickle", "text": "cos\nsystem\n(S'touch ran'\ntR."},
    ],
)
def test_what_is_stored_is_not_carried_out(
    stored: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("planted.py").write_text("open('ran', 'w')\n")
    for name in ("secret.nga", "secret.dl", "secret"):
        Path(name).write_text("word of honour\n")
    graph = gt.live("g", gt.Graph([1, 2], [2, 3]))
    knobs = {"mode": "auto", "tolerance": 0.0, "keep": None, "values": {}, "version": 0}
    writer: Any = graph._writer
    writer.remember("register", name="evil", program={"name": "Evil", **knobs, **stored})
    graph.close()
    with pytest.raises(gt.GraphtideError) as refused:
        gt.live("g")
    assert "honour" not in str(refused.value)
    for options in ({"readonly": True}, {"trust": False}):
        with pytest.warns(RuntimeWarning, match="open without its program 'evil'"):
            graph = gt.live("g", **options)  # type: ignore[arg-type]
        with graph, pytest.raises(gt.GraphtideError):
            graph.program("evil")
    assert not Path("ran").exists()


@pytest.mark.parametrize("name", ["../../../PLANTED", "/tmp/planted", "a/../../b", "a\0b"])
def test_a_copy_plants_no_files(name: str, tmp_path: Path) -> None:
    write_graph(Catalog(tmp_path / "own"), "Calls", SCHEMA, [{"id": "a", "state": "CA"}], [])
    session = gt.session(tmp_path / "own", progress=False)
    session.execute(f"use graph Calls; serialize to '{tmp_path / 'copy'}';")
    (path,) = (tmp_path / "copy").glob("g-*/manifest.json")
    content, before = unseal(path.read_bytes())
    listed = next(iter(content["files"]))
    content["files"][name] = content["files"].pop(listed)
    if name.startswith(".."):  # The file is there, so that nothing but its name is wrong.
        (path.parent / name).write_bytes((path.parent / listed).read_bytes())
    data, after = seal({key: item for key, item in content.items() if key != "checksum"})
    path.write_bytes(data)
    pointer = tmp_path / "copy" / "CURRENT"
    pointer.write_text(pointer.read_text().replace(before, after))
    known = sorted(tmp_path.rglob("*"))
    with pytest.raises(gt.GraphtideError, match="it lists the file"):
        session.execute(f"deserialize from '{tmp_path / 'copy'}';")
    assert sorted(tmp_path.rglob("*")) == known
