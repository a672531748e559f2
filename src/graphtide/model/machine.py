"""What this machine gives us: memory, cores, and a folder for what can be made again.

Memory is what the user allows, or what machine and container have left. Units are decimal, as
disks and networks have them: a MB is 1,000,000 bytes, and 1,048,576 bytes are written MiB.

The cache folder holds machine code, generated modules and small tools. Python executes what lies
there, so nobody else may have put it there: we use a folder only if it belongs to this user and
no other user can write to it or replace a folder above it. We leave any other folder alone, say
why on standard error, and use a temporary folder of this user instead.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from graphtide.model.errors import InputError


def usable_cores() -> int:
    """How many cores this process may run on; at least one."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


MEMORY_SETTING = "GRAPHTIDE_MEMORY"
"""The environment variable that says how much memory plans and runs may take, such as 2G."""

_UNITS = {"": 1} | {
    letter + binary: base**power
    for power, letter in enumerate("KMGT", 1)
    for binary, base in (("", 1_000), ("I", 1_024))
}
_SIZE = re.compile(r"([0-9.]+)\s*([KMGT]?I?)B?", re.ASCII)
_GROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


def available_bytes() -> int:
    """The memory that may be used: the setting, or what machine and container have left."""
    setting = os.environ.get(MEMORY_SETTING)
    if setting:
        return _parsed(setting)
    left = [_left_on_machine(), *(_left_in_group(*names) for names in _GROUPS)]
    return min(bytes_left for bytes_left in left if bytes_left is not None)


def in_words(count: int) -> str:
    """A number of bytes as text: 1.5 GB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"


def bytes_in(text: str) -> int | None:
    """A number of bytes from a text such as 500M, 2 GB or 2 GiB; None if it is none."""
    said = _SIZE.fullmatch(text.strip().upper())
    try:
        return None if said is None else round(float(said[1]) * _UNITS[said[2]])
    except (KeyError, ValueError):
        return None


def _parsed(setting: str) -> int:
    size = bytes_in(setting)
    if size is None:
        raise InputError(
            f"{MEMORY_SETTING} cannot be '{setting}'", hint="give bytes, or such as 500M or 2G"
        )
    return size


def _left_on_machine() -> int:
    """The memory that the machine has available now."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _left_in_group(folder: str, limit: str, used: str, cached: str) -> int | None:
    """The memory that a container has left, not counting cached files; None if it is unlimited."""
    try:
        most, taken = (int(Path(folder, name).read_text()) for name in (limit, used))
        counts = dict(line.split() for line in Path(folder, "memory.stat").read_text().splitlines())
        return max(0, most - taken + int(counts.get(cached, 0)))
    except (OSError, ValueError):
        return None


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
    """A folder in the cache, made if it is missing and readable by the owner only."""
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
    """Create the folder and its missing parents, for the owner only."""
    if folder.is_dir():
        return
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _why_not(folder: Path) -> str | None:
    """Why another user may have put files into a folder; None if nobody else can have."""
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
    """Whether this user is the only member of a group, as many systems make one for each user."""
    try:
        user, members = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = user.pw_gid == group and set(members.gr_mem) <= {user.pw_name}
    return alone and members.gr_name == user.pw_name


@cache
def _said(problem: str) -> None:
    """Print, once for each problem, why a folder is not used."""
    print(
        f"graphtide: {problem}. The cache is in a private temporary folder until then",
        file=sys.stderr,
        flush=True,
    )


@cache
def _private_folder() -> Path:
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
    """The private replacement of one folder of the cache that cannot be used."""
    folder = _private_folder() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
