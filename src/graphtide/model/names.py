"""Names of graphs, views and collections: what is allowed, and the folder that stands for each.

A name may have letters of any script. Folders are called by it with all but ASCII written as
`%C3%BC`: a Java that was started in another language than Python, or a file system with rules of
its own for accents, then finds the same folder.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, unquote

from graphtide.model.errors import InputError

_MOST_LETTERS = 120
_LONGEST_FOLDER = 240
_SIGNS = "_.- "


def check_name(name: str, what: str) -> str:
    """The name in its usual form, if something may be called so; else an error that says why."""
    if isinstance(name, str) and is_name(usual := unicodedata.normalize("NFC", name)):
        return usual
    raise InputError(
        f"{_shortened(name)} cannot be the name of a {what}",
        hint="give a text of letters, digits, '_', '-', '.' and spaces inside; "
        f"at most {_MOST_LETTERS} characters, or fewer where they are not ASCII",
    )


def is_name(text: str) -> bool:
    """True if something may be called so."""
    if not text or text[0] in ".- " or text[-1] in ". " or len(text) > _MOST_LETTERS:
        return False
    allowed = all(letter in _SIGNS or unicodedata.category(letter)[0] in "LMN" for letter in text)
    return allowed and len(folder_name(text)) <= _LONGEST_FOLDER


def folder_name(name: str) -> str:
    """What the folder of a name is called, in ASCII: `Flüge` becomes `Fl%C3%BCge`."""
    return quote(name, safe=" ")


def name_of_folder(folder: str) -> str | None:
    """The name that a folder stands for; None for a folder that is not ours."""
    name = unquote(folder)
    return name if is_name(name) and folder_name(name) == folder else None


def _shortened(name: object) -> str:
    text = f"'{name}'" if isinstance(name, str) else repr(name)
    return text if len(text) <= 60 else f"{text[:57]}..."
