"""Names that people try on an object, and where they find what they meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar


class SaysWhere:
    """Answers for a name that is elsewhere; any other is missing as in every object of Python."""

    _elsewhere: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # It would let every misspelt name pass.

        def __getattr__(self, name: str) -> Any:
            told = f"'{type(self).__name__}' object has no attribute '{name}'"
            where = self._elsewhere.get(name)
            message = told if where is None else f"{told}; try: {where}"
            raise AttributeError(message, name=name, obj=self)
