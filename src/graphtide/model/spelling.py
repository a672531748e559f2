"""How near a misspelt name is to one that is there: a slip of the hand, or a part of it.

A hint that guesses wildly sends people the wrong way, and is worse than a list of what there is.
So a name is near only if a few letters apart, fewer for short names, or if one begins with the
other or holds a good part of it.
"""

from __future__ import annotations

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
    """0 for the same letters, then the number of slips, then parts of names; None if far."""
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
    """Letters left out, put in, changed, or swapped with the next; `most` + 1 if there are more."""
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
