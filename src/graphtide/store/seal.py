"""Texts that check themselves: JSON that ends with the checksum of all that stands before it.

A checksum tells damage, and no malice: whoever can write a store can seal anything. So what a text
says is taken apart `well_formed`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

import pyarrow as pa

from graphtide.model.checksums import checksum, written
from graphtide.model.errors import DamagedError

_TAIL = b',\n "checksum": "'
_END = b'"\n}\n'


def seal(content: dict[str, Any]) -> tuple[bytes, str]:
    """Content as a text that checks itself, and its checksum."""
    body = json.dumps(content, indent=1, ensure_ascii=False).encode()[: -len("\n}")]
    sum_ = written(checksum(body))
    return body + _TAIL + sum_.encode() + _END, sum_


def unseal(data: bytes) -> tuple[dict[str, Any], str]:
    """The content of a sealed text, and its checksum. ValueError where a bit of it has changed."""
    body, tail, rest = data.rpartition(_TAIL)
    sum_ = written(checksum(body))
    if not tail or rest != sum_.encode() + _END:
        raise ValueError("its checksum is not that of what it says")
    content: dict[str, Any] = json.loads(body + b"\n}")
    return content, sum_


Facts = TypeVar("Facts")


def facts_of(kind: Callable[..., Facts], data: dict[str, Any]) -> Facts:
    """A dataclass of what a text holds; TypeError where a plain field is of another type."""
    return check_plain(kind(**data))


def check_plain(facts: Facts) -> Facts:
    """A dataclass, if its plain fields have the types that they say; TypeError otherwise."""
    for item in fields(facts):  # type: ignore[arg-type]
        wanted, value = _PLAIN.get(str(item.type)), getattr(facts, item.name)
        if wanted is not None and type(value) not in wanted:
            raise TypeError(f"'{item.name}' is {value!r:.60}")
    return facts


_PLAIN = {
    "int": (int,),
    "int | None": (int, NoneType),
    "str": (str,),
    "str | None": (str, NoneType),
    "bool": (bool,),
    "float": (float, int),
}
_ODD = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)


@contextmanager
def well_formed(what: str, where: Path | None = None) -> Iterator[None]:
    """DamagedError in place of what Python and Arrow say of contents that we have not written."""
    try:
        yield
    except (*_ODD, struct.error, pa.ArrowException) as error:
        said = f"{type(error).__name__}: {error}"
        raise DamagedError(
            f"{what} holds what no Graphtide has written: {said[:200]}",
            where=None if where is None else str(where),
            hint="somebody has changed it: restore the folder from a copy that you trust",
        ) from None
