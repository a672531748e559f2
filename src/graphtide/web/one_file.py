"""The page as one file: modules, styles and libraries inside, for a saved file and for notebooks.

Modules import each other as `gt/...`; an import map sends each of these names to a `data:` address.
A script or style runs by a number in the policy of the file that is made of everything in it, so
that nothing in the data can know it; and the file may ask for nothing, wherever it lies.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

STATIC = Path(__file__).parent / "static"
EDITOR = "vendor/editor.js"
_STYLES = (
    '<link rel="stylesheet" href="static/vendor/uplot.css">',
    ('<link rel="stylesheet" href="static/style.css">'),
)
_ICON = 'href="static/icon.svg"'
_IMPORTS = '<script type="importmap">{"imports": {"gt/": "./static/"}}</script>'
_ENTRY = '<script type="module" src="static/app.js"></script>'
_HEAD, _BODY_END = '<meta charset="utf-8">', "</body>"


def one_file(
    *,
    start: list[str],
    answers: dict[str, str] | None = None,
    note: str = "",
    editor: bool = False,
) -> str:
    """The page, beginning at a place. `answers` are JSON by path, `note` is a line at its end.

    Without answers it asks the notebook round it. The editor is more than half of the libraries,
    and of no use where nothing can be carried out.
    """
    held = "" if answers is None else _embedded(answers)
    place = _quoted("#/" + "/".join(map(encoded, start)))
    begin = f'if (!location.hash) history.replaceState(null, "", {place});\n'
    entry = begin + 'await import("gt/app.js");'
    imports = _quoted({"imports": _modules(editor)})
    number = _digest(imports, entry, held, note)
    policy = (
        f"default-src 'none'; script-src 'nonce-{number}'; style-src 'nonce-{number}'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    page = (STATIC / "index.html").read_text("utf-8")
    page = _put(
        page, _HEAD, f'{_HEAD}\n<meta http-equiv="content-security-policy" content="{policy}">'
    )
    page = _put(page, _ICON, f'href="{_address(STATIC / "icon.svg", "image/svg+xml")}"')
    for link, name in zip(_STYLES, ("vendor/uplot.css", "style.css"), strict=True):
        page = _put(page, link, f'<style nonce="{number}">\n{_text(name)}</style>')
    page = _put(page, _IMPORTS, f'<script type="importmap" nonce="{number}">{imports}</script>')
    page = _put(page, _ENTRY, f'{held}<script type="module" nonce="{number}">\n{entry}\n</script>')
    if answers is None:
        page = _put(page, "<html ", '<html data-notebook="1" ')
    if note:
        page = _put(page, _BODY_END, f'<footer class="saved">{escape(note)}</footer>\n{_BODY_END}')
    return page


def encoded(text: str) -> str:
    """A part of a path as JavaScript's encodeURIComponent writes it."""
    return quote(text, safe="!'()*")


def asked_path(*parts: str, **options: str | int | None) -> str:
    """The path that the page asks for, letter by letter: see `pathOf` in source.js."""
    chosen = [(name, str(options[name])) for name in sorted(options) if options[name] is not None]
    path = "/".join(map(encoded, parts))
    query = urlencode(chosen, safe="*").replace("~", "%7E")
    return f"{path}?{query}" if query else path


def module_names(editor: bool = True) -> list[str]:
    """The modules of the page, by their paths below `static`."""
    found = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js"))
    return [name for name in found if editor or name != EDITOR]


@cache
def _modules(editor: bool) -> dict[str, str]:
    return {
        f"gt/{name}": _address(STATIC / name, "text/javascript") for name in module_names(editor)
    }


def _address(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _text(name: str) -> str:
    text = (STATIC / name).read_text("utf-8")
    assert "</style" not in text.lower(), name
    return text


def _embedded(answers: dict[str, str]) -> str:
    held = ",\n".join(f"{json.dumps(path)}:{text}" for path, text in answers.items())
    return f'<script type="application/json" id="answers">{_safe(f"{{{held}}}")}</script>\n'


def _quoted(value: Any) -> str:
    """JSON that ends no script, whatever stands in it, and that is JavaScript too."""
    return _safe(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _safe(text: str) -> str:
    for sign in ("<", "\u2028", "\u2029"):
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # Halves of characters, which no file can hold, are written as JSON can.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _digest(*texts: str) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(text.encode())
    return base64.b64encode(whole.digest()).decode()


def _put(page: str, before: str, after: str) -> str:
    assert page.count(before) == 1, before
    return page.replace(before, after)
