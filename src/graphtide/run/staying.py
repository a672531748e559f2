"""Things that stay in their process: they hold compiled code, its memory or a connection."""

from __future__ import annotations

from typing import ClassVar, NoReturn, SupportsIndex

from graphtide.model.errors import InputError


class StaysHere:
    """Refuses to be pickled, copied or sent to another process; `_instead` says what to do."""

    _instead: ClassVar[str]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        what = type(self).__name__
        raise InputError(
            f"{what} objects stay in their process: they cannot be pickled or copied",
            hint=self._instead,
        )


class StaysInDataflow(StaysHere):
    """A dataflow, or what reads from it."""

    _instead = "send what it puts out, such as output.records(), or build another dataflow there"
