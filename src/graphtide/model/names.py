"""Names and paths that users write: what is allowed, and which known name a misspelt one is near.

Names of graphs, views and collections may have letters of any script. Their folders have ASCII
names, with all else written as `%C3%BC`: a Java that was started in another language than Python,
or a file system with its own rules for accents, then finds the same folder.

Paths are checked before an operating system sees them. Unchecked, a NUL character or a name that
is too long would end in a plain ValueError of Python, far from the line where the user wrote it.

A name is near another only if they differ by a few letters, fewer for short names, or if one
begins with the other or is a good part of it. A hint that guesses wildly is worse than a list.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from urllib.parse import quote, unquote

from graphtide.model.errors import InputError

_MOST_LETTERS = 120
_LONGEST_FOLDER = 240
_SIGNS = "_.- "


def check_name(name: str, what: str) -> str:
    """The name in normal form; InputError if a graph, view or collection cannot have it."""
    if isinstance(name, str) and is_name(usual := unicodedata.normalize("NFC", name)):
        return usual
    raise InputError(
        f"{_shortened(name)} cannot be the name of a {what}",
        hint="give a text of letters, digits, '_', '-', '.' and spaces inside; "
        f"at most {_MOST_LETTERS} characters, or fewer where they are not ASCII",
    )


def is_name(text: str) -> bool:
    """True if a graph, view or collection may have this name."""
    if not text or text[0] in ".- " or text[-1] in ". " or len(text) > _MOST_LETTERS:
        return False
    allowed = all(letter in _SIGNS or unicodedata.category(letter)[0] in "LMN" for letter in text)
    return allowed and len(folder_name(text)) <= _LONGEST_FOLDER


def folder_name(name: str) -> str:
    """The ASCII name of the folder: `Flüge` becomes `Fl%C3%BCge`."""
    return quote(name, safe=" ")


def name_of_folder(folder: str) -> str | None:
    """The name that a folder stands for; None if the folder is not ours."""
    name = unquote(folder)
    return name if is_name(name) and folder_name(name) == folder else None


def _shortened(name: object) -> str:
    text = f"'{name}'" if isinstance(name, str) else repr(name)
    return text if len(text) <= 60 else f"{text[:57]}..."


_LONGEST = 255


def given_path(path: str | os.PathLike[str]) -> Path:
    """The path with `~` expanded; InputError if no file can have it."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r} cannot be a path", hint="give a text or a pathlib.Path")
    text = os.fsdecode(path)
    problem = _problem(text)
    if problem:
        shown = ascii(text) if len(text) <= 60 else f"{text[:57]!a}..."
        raise InputError(f"{shown} cannot be a path: {problem}", hint="name another file or folder")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InputError(f"'{text}' cannot be a path: {error}", hint="write it in full") from None


def _problem(text: str) -> str | None:
    if not text:
        return "it is empty"
    if "\0" in text:
        return "it holds a NUL character"
    try:
        parts = os.fsencode(text).split(b"/")
    except UnicodeEncodeError:
        return "it holds a character that no file name can have"
    if max(map(len, parts)) > _LONGEST:
        return f"a name in it is longer than {_LONGEST} bytes"
    return None


_SLIPS = ((2, 0), (5, 1), (9, 2))
_MOST_SLIPS = 3
_SHORTEST_BEGINNING = 3
_SHORTEST_PART = 4
_BEHIND_SLIPS = 10


def distance(name: str, known: str) -> int | None:
    """How far a name is from a known one: 0 for the same letters; None if it is not near.

    Slips count for less than parts of names. Case, dashes and underscores count for nothing.
    """
    return _score(_letters(name), _letters(known))


def _letters(name: str) -> str:
    plain = name.casefold()
    return "".join(filter(str.isalnum, plain)) or plain


def _score(wanted: str, known: str) -> int | None:
    """0 for the same letters, then the number of slips, then a score for parts; None if far."""
    if wanted == known:
        return 0
    longer, shorter = max(len(wanted), len(known)), min(len(wanted), len(known))
    most = next((slips for length, slips in _SLIPS if longer <= length), _MOST_SLIPS)
    if longer - shorter <= most and (slips := slips_between(wanted, known, most)) <= most:
        return slips
    begins = known.startswith(wanted) or wanted.startswith(known)
    within = 2 * shorter >= longer and (wanted in known or known in wanted)
    if (begins and shorter >= _SHORTEST_BEGINNING) or (within and shorter >= _SHORTEST_PART):
        return _BEHIND_SLIPS + longer - shorter
    return None


def slips_between(one: str, other: str, most: int) -> int:
    """How many letters were left out, put in, changed or swapped; `most` + 1 if more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        older, before, row = before, row, [at]
        for place, wanted in enumerate(other, start=1):
            change = before[place - 1] + (letter != wanted)
            fewest = min(change, before[place] + 1, row[-1] + 1)
            swapped = at > 1 and place > 1 and one[at - 2] == wanted and letter == other[place - 2]
            row.append(min(fewest, older[place - 2] + 1) if swapped else fewest)
        if min(row) > most:
            return most + 1
    return row[-1]
