"""One browser for all tests of a process; each test has pages of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.web.browser import Browser, Page, installed

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of this machine; tests that need it skip where there is none."""
    if installed() is None:
        pytest.skip("no browser is installed here: apt-get install chromium")
    with Browser() as started:
        yield started


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages. At the end none may have met an error, or asked another machine."""
    pages: list[Page] = []

    def open_page(address: str, *, width: int = 1400, height: int = 900) -> Page:
        page = browser.open(address, width=width, height=height)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        errors, abroad = page.errors, [one.address for one in page.requests if one.leaves]
        page.close()
        assert not errors
        assert not abroad
