"""Graphs with labels and starts for the benchmark of queries."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import data
from bench.rmat import rmat
from bench.streams import real_input
from graphtide.queries import Hops, Path, QueryKind, Regular

LABELS = ("a", "b", "c", "d", "e")
SNB = (
    "Person_knows_Person",
    "Person_likes_Comment",
    "Person_likes_Post",
    "Comment_replyOf_Comment",
    "Comment_replyOf_Post",
    "Comment_hasCreator_Person",
    "Post_hasCreator_Person",
)
PATHS = {"Q1": "a*", "Q2": "a/b*", "Q3": "a/b/c/d/e"}
SNB_PATHS = {
    "Q1": "knows*",
    "Q2": "likes/replyOf*",
    "Q3": "knows/likes/replyOf/hasCreator/knows",
}


@dataclass(frozen=True)
class Labelled:
    """A graph by numbers of vertices, with a label for each edge as its place among `labels`."""

    name: str
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    label: NDArray[np.int64]
    labels: tuple[str, ...]
    paths: dict[str, str]

    def graph(self) -> gt.Graph:
        """In memory; labels are whole numbers there, so that edges come and go by number alone."""
        return gt.Graph(self.src, self.dst, kind=self.label)

    def starts(self, count: int) -> NDArray[np.int64]:
        """Two ends for each query, of vertices with edges that leave them."""
        random = np.random.default_rng(5)
        return random.choice(np.unique(self.src), (count, 2))

    def path(self, name: str) -> str:
        """A regular path in the numbers of the labels."""
        text = self.paths[name]
        for at in sorted(range(len(self.labels)), key=lambda at: -len(self.labels[at])):
            text = text.replace(self.labels[at], str(at))
        return text


def labelled_at_random(name: str, src: NDArray[Any], dst: NDArray[Any]) -> Labelled:
    """Five labels, drawn alike."""
    label = np.random.default_rng(4).integers(len(LABELS), size=len(src))
    return Labelled(name, src.astype(np.int64), dst.astype(np.int64), label, LABELS, PATHS)


def epinions() -> Labelled | None:
    """soc-Epinions1, with labels at random."""
    given = real_input("soc-Epinions1", directed=True)
    return None if given is None else labelled_at_random(given.name, given.src, given.dst)


def rmat_graph(scale: int) -> Labelled:
    """RMAT, with labels at random."""
    return labelled_at_random(f"RMAT {scale}", *rmat(scale))


def social_network() -> Labelled | None:
    """The LDBC social network: ids are unique for a kind of vertex only."""
    files = {name: data.find(f"ldbc-snb-sf0.1/{name}.csv.gz") for name in SNB}
    if any(path is None for path in files.values()):
        return None
    numbers: dict[tuple[str, str], int] = {}
    ends: list[tuple[int, int, int]] = []
    labels = tuple(dict.fromkeys(name.split("_")[1] for name in SNB))
    for name, path in files.items():
        source, label, target = name.split("_")
        assert path is not None
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = csv.reader(file, delimiter="|")
            places = _id_places(next(rows))
            for row in rows:
                one, other = (source, row[places[0]]), (target, row[places[1]])
                first = numbers.setdefault(one, len(numbers))
                ends.append((first, numbers.setdefault(other, len(numbers)), labels.index(label)))
    src, dst, label_column = np.array(ends, np.int64).T.copy()
    return Labelled("ldbc-snb-sf0.1", src, dst, label_column, labels, SNB_PATHS)


def _id_places(header: list[str]) -> tuple[int, int]:
    """The two columns with ids."""
    found = [at for at, name in enumerate(header) if "id" in name.lower()]
    return found[0], found[1]


Make = Callable[[int, int], QueryKind]


def kinds(given: Labelled) -> dict[str, Make]:
    """What is asked a thousand times over."""
    found: dict[str, Make] = {
        "pairs": Path,
        "5 hops": lambda start, _: Hops(start, 5),
    }
    return found | {name: _regular(given.path(name)) for name in given.paths}


def _regular(path: str) -> Make:
    return lambda start, _: Regular(path, start, label="kind")
