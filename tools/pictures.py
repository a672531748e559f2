"""Draw the pictures that the documentation shows, by running the pages that show them.

    python -m tools.pictures

A page that draws `components.png` shows `pictures/components.png`, beside the page: this runs the
page in an empty folder and copies what it drew there. Run it when pictures look different from
before; the files are part of the repository, so that the site needs no Spark to be built.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from PIL import Image

from tests.scenario.pages import ROOT, examples, pages, run

_SHOWN = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


def main() -> None:
    """Run every page that draws and shows pictures, and keep those that it shows."""
    for page in filter(examples, pages()):
        shown = [page.parent / name for name in _SHOWN.findall(page.read_text(encoding="utf-8"))]
        if shown:
            _draw(page, shown)


def _draw(page: Path, shown: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in run(page):
            pass
        for picture in shown:
            picture.parent.mkdir(exist_ok=True)
            _shrink(picture.name, picture)
            print(picture.relative_to(ROOT))
        os.chdir(ROOT)


def _shrink(drawn: str, kept: Path) -> None:
    """Few colours, a third of the bytes, and no difference that one sees."""
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(128).save(kept, optimize=True)


if __name__ == "__main__":
    main()
