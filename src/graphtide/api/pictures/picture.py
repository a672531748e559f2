"""A picture: a figure that is saved to a file or shown by a notebook."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matplotlib.figure import Figure

from graphtide.api.pictures.fonts import telling_of_boxes
from graphtide.api.pictures.style import styled
from graphtide.model.errors import InputError
from graphtide.model.paths import given_path
from graphtide.store.whole_files import whole_file

Format = Literal["png", "svg", "pdf"]
FORMATS: dict[str, Format] = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_METADATA: dict[Format, dict[str, Any]] = {
    "png": {"Software": "Graphtide"},
    "svg": {"Date": None},
    "pdf": {"Creator": "Graphtide", "CreationDate": None},
}
_DOTS = 160
_SHOWN_DOTS = 100


@dataclass(frozen=True)
class Picture:
    """A drawn picture. `figure` is the figure of matplotlib, which users may change."""

    title: str
    figure: Figure

    def save(self, path: str | Path) -> Path:
        """Write PNG, SVG or PDF, by the ending of the file: all of it or nothing."""
        target = given_path(path)
        content = self.render(picture_format(target))
        with whole_file(target) as partial:
            partial.write_bytes(content)
        return target

    def render(self, format: Format) -> bytes:
        """The picture as the bytes of a file."""
        buffer = io.BytesIO()
        with styled(), telling_of_boxes():
            self.figure.savefig(buffer, format=format, dpi=_DOTS, metadata=_METADATA[format])
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.figure.get_size_inches() * _SHOWN_DOTS
        return self.render("png"), {"width": int(width), "height": int(height)}

    def __repr__(self) -> str:
        return f"<picture of {self.title}>"


def picture_format(path: Path) -> Format:
    """PNG, SVG or PDF by the ending of the file; InputError for any other."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        raise InputError(
            f"'{path}' is no PNG, SVG or PDF file", hint="end its name with .png, .svg or .pdf"
        )
    return format_
