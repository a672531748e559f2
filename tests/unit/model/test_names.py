"""Names of any script, each with a folder of its own that every system takes."""

from __future__ import annotations

import unicodedata

import pytest

from graphtide.model.errors import InputError
from graphtide.model.names import check_name, folder_name, is_name, name_of_folder

NAMES = ["Calls", "n-1", "a b.c_d", "Flüge", "航班", "Полёты", "हिन्दी", "2019", "_x"]
NO_NAMES = ["", ".x", "-x", "x.", "x ", " x", "a/b", "a\\b", "a:b", "a%b", "a\nb", "🚀", "x" * 121]


@pytest.mark.parametrize("name", NAMES)
def test_names_have_a_folder_in_ascii(name: str) -> None:
    assert check_name(name, "graph") == name
    folder = folder_name(name)
    assert folder.isascii()
    assert folder == name or not name.isascii()
    assert name_of_folder(folder) == name


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_cannot_be_a_name(name: str) -> None:
    assert not is_name(name)
    with pytest.raises(InputError, match="cannot be the name of a graph"):
        check_name(name, "graph")


def test_an_accent_is_one_letter_however_it_was_typed() -> None:
    apart = unicodedata.normalize("NFD", "Flüge")
    assert apart != "Flüge"
    assert check_name(apart, "graph") == "Flüge"


def test_long_names_keep_their_folders_short() -> None:
    assert is_name("x" * 120)
    assert is_name("航" * 26)
    assert not is_name("航" * 27)


@pytest.mark.parametrize("folder", [".tmp", "Flüge", "a%2Fb", "Fl%c3%bcge", "a%20b"])
def test_folders_that_are_not_ours(folder: str) -> None:
    assert name_of_folder(folder) is None
