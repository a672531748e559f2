"""Letters of other scripts: a font that has them, or a word about boxes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from graphtide.api.pictures import picture as fonts
from tests.unit.pictures.made_runs import components


def test_installed_fonts_for_other_letters_are_taken() -> None:
    installed = ["Arial", "SimHei", "Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei"]
    assert fonts.chosen_fonts(installed) == ["Noto Sans CJK JP", "WenQuanYi Zen Hei", "SimHei"]
    assert fonts.chosen_fonts(["Arial", "DejaVu Sans"]) == []


def test_boxes_are_told_of_once(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(fonts, "somebody_looks", lambda: True)
    monkeypatch.setattr(fonts, "_told", set())
    for _ in range(2):
        with fonts.telling_of_boxes():
            warnings.warn("Glyph 26446 (x) missing from font(s) DejaVu Sans.", stacklevel=1)
    assert capsys.readouterr().err.count("letters such as '李'") == 1


def test_other_warnings_stay() -> None:
    with pytest.warns(UserWarning, match="something else"), fonts.telling_of_boxes():
        warnings.warn("something else", stacklevel=1)


def test_a_picture_is_drawn_as_a_pdf_too(tmp_path: Any) -> None:
    picture = components(3).run().picture(tmp_path / "x.PDF")
    assert (tmp_path / "x.PDF").read_bytes().startswith(b"%PDF")
    assert picture.render("pdf") == picture.render("pdf")
