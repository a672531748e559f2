"""Texts that check themselves: JSON that ends with the checksum of all that stands before it."""

from __future__ import annotations

import json
from typing import Any

from graphtide.model.checksums import checksum, written

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
