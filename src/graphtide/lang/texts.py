"""Files that hold the text of a program."""

from __future__ import annotations

from pathlib import Path

from graphtide.model.errors import InputError


def text_of(path: Path, language: str) -> str:
    """What a file of some language says; InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"'{path}' is not text in UTF-8", hint="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read '{path}': {error.strerror or error}",
            hint=f"name a file of {language}; a relative one is looked for in {Path.cwd()}, "
            "where Graphtide was started",
        ) from None
