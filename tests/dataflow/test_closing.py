"""Dataflows that go: nothing of them is written to, read or fed any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphtide as gt
from graphtide.dataflow import Dataflow
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY


def beside() -> tuple[Dataflow, Any, Dataflow, Any]:
    """A dataflow with an arrangement, and a guest that counts what it holds."""
    first = Dataflow("first", memory=MEMORY)
    rows = first.input("rows", x=int)
    shared = rows.distinct()
    guest = Dataflow("guest", beside=first)
    guest.import_arrangement(shared)
    return first, rows, guest, guest.input("own", x=int)


def test_what_waits_for_a_closed_dataflow_is_forgotten() -> None:
    """Rows for versions to come would be written to memory that is another's by then."""
    first, rows, guest, own = beside()
    own.distinct().output()
    own.insert([(7,)], at=2)
    first.advance()
    guest.close()
    again = Dataflow("again", beside=first)
    output = again.input("more", x=int).distinct().output()
    rows.insert([(1,)])
    first.advance_to(4)
    assert output.records() == {}


def test_a_handle_on_a_closed_dataflow_holds_nothing_of_others() -> None:
    first, _, guest, own = beside()
    arranged = own.arrange("x")
    first.advance()
    handle = arranged.hold()
    guest.close()
    again = Dataflow("again", beside=first)
    others = again.input("more", x=int).arrange("x")
    first.advance()
    with others.hold():
        handle.drop()
        first.advance()
        assert others.read(at=1) == {}


USES: dict[str, Callable[[Dataflow, Any, Any, Any], Any]] = {
    "insert": lambda guest, own, arranged, output: own.insert([(1,)]),
    "records": lambda guest, own, arranged, output: output.records(),
    "changes": lambda guest, own, arranged, output: output.changes(),
    "read": lambda guest, own, arranged, output: arranged.read(),
    "hold": lambda guest, own, arranged, output: arranged.hold(),
    "beside": lambda guest, own, arranged, output: Dataflow("third", beside=guest),
    "counters": lambda guest, own, arranged, output: guest.counters(),
}


@pytest.mark.parametrize("use", USES)
def test_a_closed_dataflow_refuses_to_be_used(use: str) -> None:
    first, _, guest, own = beside()
    arranged = own.arrange("x")
    output = arranged.output()
    first.advance()
    guest.close()
    guest.close()
    with pytest.raises(InputError, match="guest was closed"):
        USES[use](guest, own, arranged, output)


def test_a_dataflow_that_cannot_be_closed_goes_on() -> None:
    first = Dataflow("first", memory=MEMORY)
    rows = first.input("rows", x=int)
    guest = Dataflow("guest", beside=first)
    output = guest.import_arrangement(rows.distinct()).output()
    first.advance()
    with pytest.raises(InputError, match="guest imports from it"):
        first.close()
    rows.insert([(1,)])
    first.advance()
    assert output.records() == {(1,): 1}
    guest.close()
    first.close()


def test_columns_have_names_of_their_own() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", count=int)
    with pytest.raises(InputError, match="would name a key and an aggregate"):
        rows.count(by="count")


def test_a_constant_beyond_a_word_is_told() -> None:
    rows = Dataflow(memory=MEMORY).input("rows", x=int)
    with pytest.raises(InputError, match="beyond int64"):
        rows.map(x=1 << 63)


def test_an_output_shows_its_first_records_and_says_when_it_is_closed() -> None:
    flow = gt.Dataflow()
    numbers = flow.input("numbers", x=int)
    output = numbers.output()
    assert repr(output) == "<output (x), 0 distinct records>"
    numbers.insert([(at,) for at in range(7)])
    flow.advance()
    shown = "(0,), (1,), (2,), (3,), (4,), ..."
    assert repr(output) == f"<output (x), 7 distinct records: {shown}>"
    flow.close()
    assert repr(output) == "<output (x) of a closed dataflow>"
