"""Write docs/reference/docstrings.md: every public name with its types and its docstring.

    python tools/reference.py            write the page
    python tools/reference.py --check    fail if the page is not up to date

The page is what the code says of itself, and nothing else; docs/reference/python.md explains.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import graphtide as gt

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "docstrings.md"
_HEAD = """# Python, from the docstrings

Every public name with its types, as the code states them; `make reference` writes this page. With
explanations, options and links, the same names are in [Python](python.md).
"""


def main() -> None:
    """Write the page, or tell whether it is up to date."""
    parser = argparse.ArgumentParser(description="Write the reference from the docstrings.")
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is not up to date: run `make reference`")


def page() -> str:
    """The whole page, in the order of `graphtide.__all__`."""
    parts = [_HEAD]
    for name in gt.__all__:
        parts += _entry(name, getattr(gt, name))
    return "\n".join(parts)


def _entry(name: str, found: Any) -> Iterator[str]:
    if inspect.isclass(found):
        yield _block(2, f"gt.{name}", _constructor(name, found), found)
        for member, owned in _members(found):
            yield _block(3, f"{name}.{member}", _written(member, owned), owned)
    elif inspect.isroutine(found):
        yield _block(2, f"gt.{name}", _written(name, found), found)
    elif isinstance(found, ModuleType):
        yield _block(2, f"gt.{name}", None, found)
    else:
        yield _block(2, f"gt.{name}", f"{name}: {type(found).__name__}", None)


def _block(level: int, title: str, code: str | None, documented: Any) -> str:
    """A heading, the declaration, and the docstring if there is one."""
    lines = [f"{'#' * level} `{title}`", ""]
    if code is not None:
        lines += ["```py", code, "```", ""]
    text = inspect.getdoc(documented) if documented is not None else None
    return "\n".join([*lines, text, ""] if text else lines)


def _members(owner: type) -> Iterator[tuple[str, Any]]:
    """What the class and those of ours that it builds on define, in the order of the source."""
    seen: set[str] = set()
    for cls in owner.__mro__:
        if not cls.__module__.startswith("graphtide"):
            continue
        for name, found in vars(cls).items():
            if not name.startswith("_") and name not in seen and _documented(found):
                seen.add(name)
                yield name, found


def _documented(found: Any) -> bool:
    kinds = (property, cached_property, classmethod, staticmethod)
    return isinstance(found, kinds) or inspect.isfunction(found)


def _written(name: str, found: Any) -> str:
    """A function or property as it is declared, without its body."""
    if isinstance(found, (property, cached_property)):
        getter: Any = found.fget if isinstance(found, property) else found.func
        return f"{name}: {inspect.signature(getter).return_annotation}"
    plain = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
    signature = inspect.signature(plain)
    kept = [item for item in signature.parameters.values() if item.name not in ("self", "cls")]
    return _wrapped(name, signature.replace(parameters=kept))


def _constructor(name: str, owner: type) -> str | None:
    """How the class is called, where users call it."""
    if "__init__" not in vars(owner) or name in _HANDED_OUT:
        return None
    signature = inspect.signature(owner)
    return _wrapped(name, signature.replace(return_annotation=inspect.Signature.empty))


_HANDED_OUT = {
    "Session",
    "CatalogGraph",
    "Collection",
    "MemoryCollection",
    "MemoryView",
    "View",
    "Run",
    "Follower",
    "Live",
    "Program",
    "Step",
    "Delta",
}
"""Classes whose objects users are given, and never make."""


def _wrapped(name: str, signature: inspect.Signature, width: int = 96) -> str:
    """On one line, or a parameter a line."""
    text = f"{name}{_unquoted(signature)}"
    if len(text) <= width:
        return text
    lines, starred = [f"{name}("], False
    for item in signature.parameters.values():
        if item.kind is item.KEYWORD_ONLY and not starred:
            lines.append("    *,")
        starred = starred or item.kind in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)
        lines.append(f"    {_unquoted(item)},")
    ending = signature.return_annotation
    return "\n".join([*lines, ")" if ending is signature.empty else f") -> {_plain(ending)}"])


def _unquoted(declared: inspect.Signature | inspect.Parameter) -> str:
    """As in the source, where annotations have no quotes."""
    if isinstance(declared, inspect.Parameter):
        text = f"{'**' if declared.kind is declared.VAR_KEYWORD else ''}{declared.name}"
        text = f"*{text}" if declared.kind is declared.VAR_POSITIONAL else text
        if declared.annotation is not declared.empty:
            text += f": {_plain(declared.annotation)}"
        return text if declared.default is declared.empty else f"{text} = {_value(declared)}"
    parts, starred = [], False
    for item in declared.parameters.values():
        if item.kind is item.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or item.kind in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)
        parts.append(_unquoted(item))
    ending = declared.return_annotation
    arrow = "" if ending is declared.empty else f" -> {_plain(ending)}"
    return f"({', '.join(parts)}){arrow}"


def _value(declared: inspect.Parameter) -> str:
    given = declared.default
    return given.__name__ if inspect.isclass(given) else repr(given).replace("'", '"')


def _plain(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


if __name__ == "__main__":
    main()
