import errno
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphtide.model import disk
from graphtide.model.errors import DamagedError, ExistsError, LockedError, NotFoundError, StoreError
from graphtide.store import files
from graphtide.store.commit import begin, is_committed, open_committed, remove
from graphtide.store.files import seal


def write(folder: Path, content: str, *, replace: bool = True) -> Path:
    with begin(folder, replace=replace, what="the graph 'a'") as commit:
        (commit.path / "data").write_text(content)
        return commit.finish({"content": content})


def test_committed_generation_opens_with_its_manifest(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "one")
    opened = open_committed(tmp_path / "a")
    assert opened.path == path
    assert opened.manifest["content"] == "one"
    assert opened.file("data").read_text() == "one"


def test_the_previous_generation_stays_and_older_ones_go(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a", str(number)) for number in range(4)]
    assert [path.exists() for path in paths] == [False, False, True, True]


def test_an_interrupt_right_behind_the_commit_leaves_what_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a", "one")
    put_in_force = files.commit

    def interrupted(path: Path) -> None:
        put_in_force(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a", "two")
    assert open_committed(tmp_path / "a").file("data").read_text() == "two"


def test_leaving_without_finish_leaves_nothing(tmp_path: Path) -> None:
    with begin(tmp_path / "a", replace=True, what="a") as commit:
        (commit.path / "data").write_text("half")
    assert not (tmp_path / "a").exists()


def test_an_error_inside_leaves_the_old_generation(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    with (
        pytest.raises(KeyboardInterrupt),
        begin(tmp_path / "a", replace=True, what="a"),
    ):
        raise KeyboardInterrupt
    found = open_committed(tmp_path / "a")
    assert found.manifest["content"] == "old"
    assert [item.name for item in (tmp_path / "a").glob("g-*")] == [found.path.name]


def test_what_is_written_after_an_interrupt_is_swept_up_too(tmp_path: Path) -> None:
    """Spark goes on for a moment with what it had begun to plan."""
    paths: list[Path] = []
    late = threading.Timer(0.4, lambda: (paths[0] / "staging").mkdir(parents=True))

    def load() -> None:
        with begin(tmp_path / "s", replace=False, what="s") as commit:
            paths.append(commit.path)
            late.start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load()
    late.join()
    assert not paths[0].exists()


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    with pytest.raises(ExistsError, match="already there"):
        write(tmp_path / "a", "new", replace=False)


def test_the_second_writer_learns_who_the_first_is(tmp_path: Path) -> None:
    with (
        begin(tmp_path / "a", replace=True, what="the graph 'a'"),
        pytest.raises(LockedError, match=f"'a' is being written by process {os.getpid()}"),
    ):
        write(tmp_path / "a", "second")


def test_missing_damaged_and_newer_stores(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        open_committed(tmp_path / "a")
    path = write(tmp_path / "a", "x")
    data, checksum = seal({"format": 99, "files": {}})
    (path / "manifest.json").write_bytes(data)
    (tmp_path / "a" / "CURRENT").write_text(f"{path.name} {checksum}\n")
    with pytest.raises(StoreError, match="newer Graphtide"):
        open_committed(tmp_path / "a")
    (path / "manifest.json").write_text("{")
    with pytest.raises(DamagedError, match="json has changed"):
        open_committed(tmp_path / "a")


def test_a_store_without_checksums_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "x")
    (path / "manifest.json").write_text(json.dumps({"format": 1, "generation": path.name}))
    (tmp_path / "a" / "CURRENT").write_text(f"{path.name}\n")
    with pytest.raises(StoreError, match=r"earlier Graphtide.*\n.*\n.*delete it, or replace it"):
        open_committed(tmp_path / "a")
    assert write(tmp_path / "a", "again") == open_committed(tmp_path / "a").path


def test_remove_leaves_nothing_and_needs_something(tmp_path: Path) -> None:
    write(tmp_path / "a", "x")
    remove(tmp_path / "a", "the graph 'a'")
    assert not (tmp_path / "a").exists()
    with pytest.raises(NotFoundError):
        remove(tmp_path / "a", "the graph 'a'")


def test_what_is_deleted_but_for_its_mark_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if (call.operation, call.path.name) == ("remove", "CURRENT.deleted"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return make()

    write(tmp_path / "a", "x")
    with monkeypatch.context() as patched:
        patched.setattr(disk, "hook", fail)
        remove(tmp_path / "a", "the graph 'a'")
        assert not is_committed(tmp_path / "a")
    assert write(tmp_path / "a", "again") == open_committed(tmp_path / "a").path


def test_many_writers_never_mix(tmp_path: Path) -> None:
    """Writers that commit, fail and give up race for one name: every opened state is whole."""
    holders, most = [0], [0]

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(40):
            try:
                with begin(tmp_path / "a", replace=True, what="a") as commit:
                    holders[0] += 1
                    most[0] = max(most[0], holders[0])
                    (commit.path / "data").write_text(str(seed))
                    time.sleep(rng.random() / 1000)
                    holders[0] -= 1
                    if rng.random() < 0.3:
                        commit.finish({"content": str(seed)})
            except LockedError:
                time.sleep(rng.random() / 1000)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    if is_committed(tmp_path / "a"):
        found = open_committed(tmp_path / "a")
        assert found.file("data").read_text() == found.manifest["content"]


WRITER = """
import sys
from pathlib import Path
from typing import Any
from graphtide.store.commit import begin
print("ready", flush=True)
number = 0
while True:
    number += 1
    with begin(Path(sys.argv[1]), replace=True, what="a") as commit:
        for part in range(5):
            (commit.path / f"part-{part}").write_text(str(number) * 1000)
        commit.finish({"number": number})
"""


@pytest.mark.parametrize("seed", range(6))
def test_killed_writer_leaves_a_whole_store(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "a"
    script = tmp_path / "writer.py"
    script.write_text(textwrap.dedent(WRITER))
    with subprocess.Popen(
        [sys.executable, str(script), str(folder)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(seed).random() / 5)
        process.send_signal(signal.SIGKILL)
    if is_committed(folder):
        found = open_committed(folder)
        for part in range(5):
            content = found.file(f"part-{part}").read_text()
            assert content == str(found.manifest["number"]) * 1000
    final = write(folder, "next")
    assert not list(folder.glob("*.partial"))
    assert open_committed(folder).path == final


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StoreError, match="nothing can be stored here"),
        begin(tmp_path / "file" / "graphs" / "Calls", replace=False, what="the graph 'Calls'"),
    ):
        pass


def test_a_folder_that_is_swept_away_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = []

    def vanishing(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        if call.operation == "mkdir" and not raised:
            raised.append(call.path)
            raise FileExistsError(errno.EEXIST, "File exists", str(call.path))
        return make()

    monkeypatch.setattr(disk, "hook", vanishing)
    with begin(tmp_path / "a", replace=False, what="a") as commit:
        assert commit.path.exists()
    assert raised
