"""What a plan is charged for.

The unit is one difference, advanced over. Insertions and deletions may be weighed apart, because
a maintainer often has less trouble with the one than with the other; a rollback is paid for each
difference that a tree undoes; a stepping stone pays a fixed price for being one more advance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from graphtide.model.errors import InputError


@dataclass(frozen=True)
class Costs:
    """Relative prices; only their ratios matter.

    `advance` is paid for each difference, times `insert` or `delete`; `rollback` for each
    difference undone; `stone` once a stepping stone.
    """

    advance: float = 1.0
    rollback: float = 0.0
    stone: float = 1.0
    insert: float = 1.0
    delete: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            price = getattr(self, field.name)
            free = field.name in ("rollback", "stone")
            if not math.isfinite(price) or price < 0 or (price == 0 and not free):
                raise InputError(
                    f"a plan cannot be weighed with {field.name} = {price}",
                    hint="advance, insert and delete must be positive, "
                    "rollback and stone at least 0",
                )

    @property
    def symmetric(self) -> bool:
        """True where an insertion costs what a deletion costs, so that direction is no matter."""
        return self.insert == self.delete

    @property
    def stone_in_differences(self) -> float:
        """How many differences a stepping stone must save to be worth its price."""
        return self.stone / (self.advance * (self.insert + self.delete) / 2 + self.rollback)
