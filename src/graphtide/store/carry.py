"""Files of one generation that the next one keeps, without a copy of what they hold.

A file is never changed once it is written, so two generations can share it: the next one gets a
second name for it (a hard link), and either can be removed. File systems without such names get a
copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.store.commit import Commit
from graphtide.store.files import FileFacts
from graphtide.store.generation import Generation


def carry_files(source: Generation, names: Iterable[str], commit: Commit) -> dict[str, FileFacts]:
    """Give the next generation some files of this one; what is known of them, for its manifest.

    Nothing is read: a damaged file stays known as what it was when it was written. Whoever writes
    into the next generation does so before, under names of its own: a shared file is never opened
    for writing.
    """
    carried = {name: source.files[name] for name in names}
    with disk_errors(commit.what, commit.folder):
        for name in carried:
            target = commit.path / name
            disk.make_folders_below(commit.path, target.parent)
            _share(source, name, target)
    return carried


def _share(source: Generation, name: str, target: Path) -> None:
    try:
        disk.link_or_copy(source.path / name, target)
    except FileNotFoundError:
        source.compare([name])
        raise
