"""Where the product keeps what it can make again: machine code, generated modules, small tools.

Python executes what lies in the cache, so nobody else may have put it there. We trust a folder that
belongs to this user and that nobody else can write to or exchange from above. We leave any other
folder alone: a line on standard error says why, and a temporary folder of this user takes its
place. Folders that we make are for the user alone.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path


def cache_root() -> Path:
    """GRAPHTIDE_CACHE, else the user's cache folder; a private one where that cannot be used.

    Several processes and machines of one user may share the folder: all files in it are put there
    whole, under names that follow from what they hold.
    """
    chosen = os.environ.get("GRAPHTIDE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(chosen) if chosen else Path(base) / "graphtide"
    return _usable(folder, asked=bool(chosen)) or _private_folder()


def cache_folder_for(name: str) -> Path:
    """The folder of that name in the cache, made for the user alone."""
    return _usable(cache_root() / name, asked=True) or _private_subfolder(name)


def _usable(folder: Path, *, asked: bool) -> Path | None:
    """The real path of a folder that can be written and trusted, made where it is missing.

    Says what is wrong with any other, unless nobody asked for it and it only cannot be written.
    """
    try:
        real = Path(os.path.realpath(folder))
        _make(real)
        refused = _why_not(real)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return _said(f"{str(folder)!r} cannot be used: {reason}") if asked else None
    if refused:
        return _said(
            f"{refused}, and what lies in a cache is executed. Remove what is in it and run "
            "chmod go-w, or set GRAPHTIDE_CACHE to a folder of your own"
        )
    if not os.access(real, os.W_OK):
        return _said(f"{str(folder)!r} cannot be written") if asked else None
    return real


def _make(folder: Path) -> None:
    """With what is missing above it, for the user alone."""
    if folder.is_dir():
        return
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _why_not(folder: Path) -> str | None:
    """Why another user may have put something into a folder; None where nobody else can have."""
    # Who owns the root of all folders can do anything: in a container, that may be nobody's name.
    trusted = {os.getuid(), 0, Path("/").stat().st_uid}
    for place in (folder, *folder.parents):
        facts = place.stat()
        if facts.st_uid not in trusted:
            return f"{str(place)!r} belongs to another user"
        # In a folder with the sticky bit, as /tmp has, nobody moves what belongs to others.
        above = place != folder and facts.st_mode & stat.S_ISVTX
        if _others_write(facts) and not above:
            return f"others may write to {str(place)!r}"
    return None


def _others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_group_of_one(found.st_gid)


def _is_group_of_one(group: int) -> bool:
    """Whether a group is that of this user alone, as many systems make one for every user."""
    try:
        user, members = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = user.pw_gid == group and set(members.gr_mem) <= {user.pw_name}
    return alone and members.gr_name == user.pw_name


@cache
def _said(problem: str) -> None:
    """Tell, once a process, why a folder is not used."""
    print(
        f"graphtide: {problem}. The cache is in a private temporary folder until then",
        file=sys.stderr,
        flush=True,
    )


@cache
def _private_folder() -> Path:
    """A temporary folder that nobody else can write."""
    folder = Path(os.path.realpath(tempfile.gettempdir())) / f"graphtide-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
        if ours and status.st_mode & 0o777 == 0o700 and _why_not(folder) is None:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="graphtide-"))


@cache
def _private_subfolder(name: str) -> Path:
    """A private folder in place of one folder of the cache that cannot be used."""
    folder = _private_folder() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
