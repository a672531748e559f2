"""Damage by name: what is said of it, what a list shows, and what can still be done."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import DamagedError, StoreError
from tests.damage import kinds
from tests.damage.small_store import write_store
from tests.scenario.commands import graphtide, objects


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("noticed") / "store"
    write_store(root)
    return root


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    # A folder that Arrow could take for a column of a partitioned table.
    return shutil.copytree(written, tmp_path / "year=2001" / "store")


def session(root: Path) -> gt.Session:
    return gt.session(root, progress=False)


def current(root: Path, item: str) -> Path:
    return sorted((root / item).glob("g-*"))[-1]


def test_a_lost_part_of_a_collection_stops_a_run(root: Path) -> None:
    lost = current(root, "collections/years") / "edges" / "part-00001.parquet"
    lost.unlink()
    with pytest.raises(DamagedError) as told:
        session(root).collection("years").run(WCC, verify=1)
    assert told.value.what == "the collection 'years' is damaged: part-00001.parquet is gone"
    assert told.value.where == str(lost)
    assert "create the collection again: create years" in (told.value.hint or "")


def test_a_lost_part_of_a_graph_stops_an_export_but_not_the_rows_before_it(root: Path) -> None:
    graph = session(root).graph("Calls")
    rows = graph.edges().to_pylist()
    sorted((current(root, "graphs/Calls") / "edges").iterdir())[-1].unlink()
    with pytest.raises(DamagedError, match=r"the graph 'Calls' is damaged: part-.* is gone"):
        session(root).graph("Calls").edges()
    assert session(root).graph("Calls").head(5).to_pylist() == rows[:5]


def test_other_views_of_a_damaged_run_can_be_read(root: Path) -> None:
    run = session(root).results("years-WCC")
    values = [run.values(view).tolist() for view in run.views]
    part = current(root, "runs/years-WCC") / "parts" / "part-000003"
    (part / "component.field.parquet").write_bytes(b"")
    run = session(root).results("years-WCC")
    assert run.values(0).tolist() == values[0]
    with pytest.raises(DamagedError, match=r"component.field.parquet has 0 bytes"):
        run.values(3)


def test_one_unreadable_pointer_hides_nothing(root: Path) -> None:
    for item in ("graphs/Calls", "collections/early"):
        (root / item / "CURRENT").write_bytes(b"g-00000\xff deadbeef\n")
    result = graphtide("show", "--data", root)
    assert result.exit_code == 0
    for word in ("Calls", "early", "years", "years-WCC", "damaged"):
        assert word in result.stdout
    assert "note: the graph 'Calls' is damaged: CURRENT is not as it was written" in result.stdout
    (graphs,) = objects(graphtide("show", "graphs", "--json", "--data", root))
    assert [(row["graph"], row["edges"], row["state"]) for row in graphs["table"]] == [
        ("Calls", None, "damaged")
    ]


@pytest.mark.parametrize("how", ["lost", "empty"])
def test_without_a_pointer_an_item_is_listed_and_can_be_brought_back(root: Path, how: str) -> None:
    pointer = root / "graphs" / "Calls" / "CURRENT"
    edges = session(root).graph("Calls").edges()
    if how == "lost":
        pointer.unlink()
    else:
        pointer.write_bytes(b"")
    assert session(root).graphs() == ["Calls"]
    with pytest.raises(DamagedError, match=r"CURRENT is (gone, while .* g-000002|empty)") as told:
        session(root).graph("Calls")
    line = re.search(r"put the line '(g-000002 [0-9a-f]{8})' into", str(told.value))
    assert line is not None
    pointer.write_text(line[1] + "\n")
    assert session(root).graph("Calls").edges() == edges


@pytest.mark.parametrize("item", ["graph Calls", "view early", "collection years", "run years-WCC"])
def test_what_has_no_pointer_can_be_deleted_by_command(root: Path, item: str) -> None:
    kind, name = item.split()
    folder = {"graph": "graphs", "run": "runs"}.get(kind, "collections")
    (root / folder / name / "CURRENT").unlink()
    result = graphtide("delete", kind, name, "--yes", "--data", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert not (root / folder / name).exists()


def test_all_collections_are_deleted_but_for_what_may_be_a_view(root: Path) -> None:
    (root / "collections" / "early" / "CURRENT").unlink()
    (answer,) = session(root).execute("delete collections;")
    assert str(answer) == (
        "1 collection deleted\nnote: 'early' is damaged and stays: delete it by its name"
    )


@pytest.mark.parametrize("kind", ["lost", "emptied", "zeros"])
def test_what_is_damaged_can_be_replaced(written: Path, tmp_path: Path, kind: str) -> None:
    """All manifests and pointers at once: everything is written anew over them."""
    root = shutil.copytree(written, tmp_path / "store")
    for file in kinds.files_in_force(root):
        if Path(file).name in ("CURRENT", "manifest.json", "LAST"):
            found = kinds.KINDS[kind]((root / file).read_bytes())
            (root / file).unlink() if found is None else (root / file).write_bytes(found)
    write_store(root)
    assert set(session(root).check().column("state").to_pylist()) == {"ok"}


def test_check_of_a_whole_store(root: Path) -> None:
    found = session(root).check().to_pylist()
    assert [(row["kind"], row["name"], row["state"]) for row in found] == [
        ("graph", "Calls", "ok"),
        ("view", "early", "ok"),
        ("collection", "years", "ok"),
        ("run", "years-WCC", "ok"),
    ]
    result = graphtide("check", "--data", root)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "4 items whole, 0 damaged")


def test_check_names_every_damaged_file(written: Path, tmp_path: Path) -> None:
    """One bit in each file in turn; the same file twice in one process."""
    root = shutil.copytree(written, tmp_path / "store")
    opened = session(root)
    for file in kinds.files_in_force(root):
        name = Path(file).parts[1]
        good = (root / file).read_bytes()
        assert opened.check(name).column("state").to_pylist() == ["ok"], file
        (root / file).write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        (row,) = opened.check(name).to_pylist()
        assert row["state"] == "damaged"
        # A pointer that names another manifest, and a manifest that no pointer names, are one.
        if Path(file).name not in ("CURRENT", "LAST"):
            assert row["file"] == str(root / file)
        assert row["problem"]
        assert row["saved"]
        (root / file).write_bytes(good)


def test_check_says_what_can_be_saved(root: Path) -> None:
    part = sorted((current(root, "graphs/Calls") / "edges").iterdir())[0]
    part.unlink()
    (current(root, "collections/years") / "views.parquet").write_bytes(b"x")
    result = graphtide("check", "--json", "--data", root)
    assert result.exit_code == 1
    (answer,) = objects(result)
    assert answer["text"] == "2 items whole, 2 damaged"
    rows = {row["name"]: row for row in answer["table"]}
    assert rows["Calls"]["saved"].startswith(
        "14 of 14 vertices and 12 of 24 edges are in whole files; load it again "
    )
    assert (
        rows["years"]["saved"] == "load the graph 'Calls' again, then create it again: create years"
    )
    misspelt = graphtide("check", "yeras", "--data", root)
    assert misspelt.exit_code == 1
    assert "did you mean 'years'?" in misspelt.stderr


def test_a_stray_part_is_not_read(root: Path) -> None:
    edges = session(root).graph("Calls").edges()
    folder = current(root, "graphs/Calls") / "edges"
    stray = folder / "part-999999999999.parquet"
    shutil.copy(sorted(folder.iterdir())[0], stray)
    assert session(root).graph("Calls").edges() == edges
    (row,) = session(root).check("Calls").to_pylist()
    assert (row["file"], row["problem"]) == (str(stray), "was not written with the table")


def test_a_copy_of_something_damaged_is_refused(root: Path, tmp_path: Path) -> None:
    part = sorted((current(root, "graphs/Calls") / "edges").iterdir())[0]
    data = bytearray(part.read_bytes())
    data[40] ^= 1
    part.write_bytes(data)
    with pytest.raises(DamagedError, match=part.name):
        session(root).execute(f"use graph Calls; serialize to '{tmp_path / 'copy'}';")
    assert not (tmp_path / "copy").exists()


def test_what_was_replaced_after_it_was_opened_is_not_called_damaged(root: Path) -> None:
    graph, run = session(root).graph("Calls"), session(root).results("years-WCC")
    write_store(root)
    with pytest.raises(StoreError, match="written anew, after it was opened") as told:
        graph.edges()
    assert not isinstance(told.value, DamagedError)
    with pytest.raises(StoreError, match="written anew, after it was opened"):
        run.summary()


def test_what_cannot_be_deleted_stays_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "a file")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuse)
        with pytest.raises(StoreError, match="'Calls' cannot be deleted: Permission denied"):
            session(root).delete_graph("Calls")
    assert session(root).graphs() == ["Calls"]
    session(root).delete_graph("Calls")
    assert session(root).graphs() == []


def test_the_parts_of_another_run_are_refused(root: Path) -> None:
    older, newer = sorted((root / "runs" / "years-WCC").glob("g-*"))
    shutil.rmtree(newer / "parts")
    shutil.copytree(older / "parts", newer / "parts")
    with pytest.raises(DamagedError, match=r"manifest.json is that of another run"):
        session(root).results("years-WCC").summary()


def test_a_pointer_to_an_earlier_part_is_noticed(root: Path) -> None:
    """One part more than it names may be what a killed writer left; two are not."""
    parts = current(root, "runs/years-WCC") / "parts"
    second = json.loads((parts / "part-000002" / "manifest.json").read_bytes())["follows"]
    (parts / "LAST").write_text(f"part-000001 {second}\n")
    with pytest.raises(DamagedError, match="LAST names a part before the last"):
        session(root).results("years-WCC")
    shutil.rmtree(parts / "part-000003")
    run = session(root).results("years-WCC")
    assert (run.finished, len(run)) == (False, 2)
