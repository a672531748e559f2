"""Build the documentation site from docs/ into build/site, and follow every link of it.

    python tools/site.py

Zensical reads mkdocs.yml and refuses a link to a page or a heading that is not there. It lets pass
a picture that is missing, and a page that the nav forgets or invents; so this module looks at the
pages that were written. It also refuses whatever a browser would fetch from another place: the site
is read without a network, and tells nobody who reads it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

ROOT = Path(__file__).parents[1]
_ADDRESSES = ("href", "src", "poster", "data")


def main() -> None:
    """Build the site; say what is wrong with it, or where it is."""
    site = ROOT / "build" / "site"
    _build()
    faults = [*nav_faults(ROOT), *page_faults(site)]
    if faults:
        sys.exit("\n".join([*faults, f"faults of the site: {len(faults)}"]))
    print(f"the site is in {site.relative_to(ROOT)}; to read it with its search:")
    print(f"  {Path(sys.executable).name} -m http.server -d {site.relative_to(ROOT)}")


def nav_faults(root: Path) -> Iterator[str]:
    """Pages that the nav of mkdocs.yml forgets, invents or names twice.

    Design pages and notes are named by docs/design/index.md instead.
    """
    settings = yaml.safe_load((root / "mkdocs.yml").read_text(encoding="utf-8"))
    named = list(_named(settings["nav"]))
    written = {str(path.relative_to(root / "docs")) for path in (root / "docs").rglob("*.md")}
    notes = {page for page in written if page.startswith("design/")} - {"design/index.md"}
    index = root / "docs" / "design" / "index.md"
    listed = index.read_text(encoding="utf-8") if index.exists() else ""
    for page in sorted(notes):
        if f"({Path(page).name})" not in listed:
            yield f"docs/design/index.md lacks {page}; add a line for it"
    for page in sorted(written - notes - set(named)):
        yield f"mkdocs.yml: the nav lacks {page}; add a line for it"
    for page in sorted(set(named) - written):
        yield f"mkdocs.yml: the nav has {page}, which is not in docs"
    for page in sorted(page for page in set(named) if named.count(page) > 1):
        yield f"mkdocs.yml: the nav has {page} twice"


def page_faults(site: Path) -> Iterator[str]:
    """Links and pictures of the written pages that lead nowhere, and what comes from elsewhere."""
    pages = {path.resolve(): _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for tag, address in page.addresses:
            fault = _fault(path, tag, address, site.resolve(), pages)
            if fault:
                yield f"{path.relative_to(site.resolve())}: {fault}"


class _Page(HTMLParser):
    """The headings that a link can name, and every address of the page with its tag."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names and addresses of one tag."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            elif name in _ADDRESSES and value is not None:
                self.addresses.append((tag, value))


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _fault(path: Path, tag: str, address: str, site: Path, pages: dict[Path, _Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        return None if tag == "a" else f"<{tag}> fetches {address} from elsewhere"
    target = _target(path, unquote(parts.path), site)
    if not target.is_file():
        return f"<{tag}> leads to {address}, which is not there"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
        return f"<{tag}> leads to {address}, a heading that is not there"
    return None


def _target(path: Path, address: str, site: Path) -> Path:
    """The file behind an address; a folder stands for its index."""
    if not address:
        return path
    start = site if address.startswith("/") else path.parent
    target = (start / address.lstrip("/")).resolve()
    return target / "index.html" if target.is_dir() else target


def _named(nav: Any) -> Iterator[str]:
    """The pages of a nav, which nests lists and titles as deeply as it likes."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(part)


def _build() -> None:
    """Call Zensical; where it fails, show what it said without its traceback."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit((done.stdout + done.stderr).partition("Traceback")[0].rstrip())


if __name__ == "__main__":
    main()
