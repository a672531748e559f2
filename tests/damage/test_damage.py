"""Whatever happens to a stored file: the right answer or a clear error, never anything else.

And one damaged item hides no other: lists go on, and what is damaged can be deleted and replaced.
`GRAPHTIDE_CAMPAIGN` tries every damage there is and every bit; otherwise a sample of both.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.api.session import Session
from tests.damage import kinds
from tests.damage.kinds import Damaging
from tests.damage.small_store import Question, listings, readings, workings, write_store

CAMPAIGN = "GRAPHTIDE_CAMPAIGN" in os.environ
NUMBERS = count()
ITEMS = {
    "graphs/Calls": "graph",
    "collections/early": "view",
    "collections/years": "collection",
    "runs/years-WCC": "run",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("damage") / "store"
    write_store(root)
    return root


@pytest.fixture(scope="module")
def answers(store: Path) -> dict[str, Any]:
    return {name: ask(copied(store)) for name, ask in (readings() | workings()).items()}


def copied(store: Path, damaging: Damaging | None = None) -> Session:
    """A session on a copy of the store, with a damage in it."""
    root = store.parent / f"copy-{next(NUMBERS)}"
    shutil.copytree(store, root)
    if damaging is not None:
        damaging.do(root)
    return gt.session(root, progress=False)


def sampled(damages: Iterable[Damaging], size: int) -> list[Damaging]:
    """Some of them, with all kinds among them."""
    found = list(damages)
    random.Random(7).shuffle(found)
    by_kind: dict[str, list[Damaging]] = {}
    for item in found:
        by_kind.setdefault(item.kind, []).append(item)
    return [item for group in by_kind.values() for item in group[: size // len(by_kind)]]


def mistakes(
    session: Session, questions: dict[str, Question], answers: dict[str, Any]
) -> Iterator[str]:
    """What was answered wrongly, or with an error that is none of ours."""
    for name, ask in questions.items():
        try:
            found = ask(session)
        except gt.GraphtideError:
            continue
        except Exception as error:
            yield f"{name}: {error!r}"
            continue
        if found != answers[name] and name != "names":
            yield f"{name}: another answer"


def hidden(session: Session, answers: dict[str, Any]) -> Iterator[str]:
    """Items that a list leaves out. What is damaged may be listed as another kind of its folder."""
    try:
        listed = set().union(*_listed(session).values())
    except Exception as error:
        yield f"list: {error!r}"
        return
    known = {name for names in answers["names"] for name in names}
    yield from (f"{name} is not listed" for name in known - listed)


def _listed(session: Session) -> dict[str, set[str]]:
    return {
        what: {row[what] for row in session.execute(statement)[0].table.to_pylist()}
        for what, statement in listings().items()
    }


def undeletable(session: Session) -> Iterator[str]:
    """Items that cannot be deleted, or of which something is left."""
    for item, kind in ITEMS.items():
        name = Path(item).name
        try:
            session.execute(f"delete {kind} `{name}`;")
        except Exception as error:
            yield f"delete {name}: {error!r}"
        if (session.catalog.root / item).exists():
            yield f"{name} is deleted, and its folder is there"


def all_mistakes(
    session: Session, questions: dict[str, Question], answers: dict[str, Any]
) -> list[str]:
    found = list(mistakes(session, questions, answers))
    found += hidden(session, answers)
    found += undeletable(session)
    shutil.rmtree(session.catalog.root)
    return found


def wrong(
    store: Path,
    answers: dict[str, Any],
    damages: Iterable[Damaging],
    questions: dict[str, Question],
) -> dict[str, list[str]]:
    """The mistakes that each damage led to, for those that led to any."""
    found = {str(one): all_mistakes(copied(store, one), questions, answers) for one in damages}
    return {one: told for one, told in found.items() if told}


def test_the_store_answers(answers: dict[str, Any]) -> None:
    assert answers["names"] == (["Calls"], ["early"], ["years"], ["years-WCC"])
    assert len(set(answers["run"]["component"])) > 3


def test_every_kind_of_damage_to_every_kind_of_file(store: Path, answers: dict[str, Any]) -> None:
    damages = list(kinds.file_damages(store))
    damages = damages if CAMPAIGN else sampled(damages, 26)
    assert wrong(store, answers, damages, readings()) == {}


def test_a_flipped_bit_in_some_files(store: Path, answers: dict[str, Any]) -> None:
    damages = list(kinds.flipped_bits(store, seed=3))
    chosen = damages if CAMPAIGN else damages[::4]
    assert wrong(store, answers, chosen, readings()) == {}


QUICK = {
    "graphs": ("edges", "vertices", "schema"),
    "collections/early": ("view",),
    "collections/years": ("steps", "view of a collection"),
    "runs": ("results",),
}


def test_bits_of_every_file_in_turn(store: Path, answers: dict[str, Any]) -> None:
    """Flipped in place, and back: all of them in a campaign. Each is asked what reads its file."""
    session = copied(store)
    for file in kinds.files_in_force(store):
        names = next(names for item, names in QUICK.items() if file.startswith(item))
        questions = {name: readings()[name] for name in names}
        path = session.catalog.root / file
        data = path.read_bytes()
        bits = range(8 * len(data))
        for bit in bits if CAMPAIGN else random.Random(file).sample(bits, 12):
            path.write_bytes(kinds.flipped(data, bit))
            assert list(mistakes(session, questions, answers)) == [], f"bit {bit} of {file}"
        path.write_bytes(data)


def test_runs_and_pictures_of_damaged_stores(store: Path, answers: dict[str, Any]) -> None:
    damages = sampled(kinds.file_damages(store), 130 if CAMPAIGN else 13)
    assert wrong(store, answers, damages, workings()) == {}
