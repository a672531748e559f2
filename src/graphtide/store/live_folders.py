"""What a live graph has in its folder beside the generations of a stored graph."""

from __future__ import annotations

from pathlib import Path

LOG = "log"
"""The folder of its log."""

NEW_LOG = "log.new"
"""The same while it is being made: there is a log, or none."""

CONSUMERS = "consumers"
"""The folder in which consumers of its changes have noted how far they are."""

STREAMS = "streams"
"""The folder with a folder for each stream that it follows."""

LIVE_FOLDERS = (LOG, NEW_LOG, CONSUMERS, STREAMS)


def has_log(folder: Path) -> bool:
    """Whether the graph in a folder is a live one."""
    return (folder / LOG).is_dir()
