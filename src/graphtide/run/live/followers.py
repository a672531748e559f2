"""The programs that follow a graph, each as long as a user holds its results."""

from __future__ import annotations

from weakref import ref

from graphtide.run.live.maintained import Follower


class Followers:
    """The followers of a graph; they end when the objects that users hold of them are gone."""

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
        """The objects whose followers these are, in the order in which they came."""
        return [holder for held, _ in list(self._held.values()) if (holder := held()) is not None]

    def all(self) -> tuple[Follower, ...]:
        """All followers, in the order in which they came.

        The list is made anew when their number has changed: a holder may vanish at any moment.
        """
        if len(self._listed) != len(self._held):
            self._listed = tuple(kept for _, kept in list(self._held.values()))
        return self._listed
