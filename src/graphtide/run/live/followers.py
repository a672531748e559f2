"""The programs that follow a graph, each as long as somebody holds its results."""

from __future__ import annotations

from weakref import ref

from graphtide.run.live.maintained import Follower


class Followers:
    """Programs by whoever holds them; all of them are listed at every advance."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[ref[object], Follower]] = {}
        self._listed: tuple[Follower, ...] = ()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, kept: Follower) -> bool:
        return id(kept) in self._held

    def add(self, kept: Follower, holder: object) -> None:
        """Let a program follow until its holder is gone, or it is removed."""
        key, held = id(kept), self._held
        held[key] = ref(holder, lambda _: held.pop(key, None)), kept
        self._listed = ()

    def remove(self, kept: Follower) -> None:
        """Let a program follow no more."""
        self._held.pop(id(kept), None)

    def holders(self) -> list[object]:
        """Whoever holds them now, in the order in which they came."""
        return [holder for held, _ in list(self._held.values()) if (holder := held()) is not None]

    def all(self) -> tuple[Follower, ...]:
        """Those that follow now, in the order in which they came.

        Listed anew after one has come, and after one has gone, which is seen by their number: it
        may go at any moment.
        """
        if len(self._listed) != len(self._held):
            self._listed = tuple(kept for _, kept in list(self._held.values()))
        return self._listed
