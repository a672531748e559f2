"""`open()` of what can be looked at in the browser, and `save_html` of a run.

This is the one module through which what users hold reaches the page; both are imported when they
are asked for, and not before.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtide.web.opening import Page


class Opens:
    """What can be looked at in the browser."""

    def open(
        self,
        *,
        allow_changes: bool = False,
        port: int | None = None,
        host: str = "127.0.0.1",
        browser: bool = True,
    ) -> Page:
        """Open it in the browser, at an address for you alone, which is printed.

        A server in a thread of this process answers until `close()` of what is returned, or until
        the process ends; what is opened later is put beside it. `allow_changes` lets the page carry
        out statements, `port` is a port of your own instead of a free one, and `host` an address
        that other machines can reach. `browser=False` prints the address only.
        """
        # Imported here: a server is nothing that those need who open no page.
        from graphtide.web.opening import open_page

        session, place = self._on_page()
        return open_page(
            self if place is None else None,
            session=session,
            place=place or (),
            allow_changes=allow_changes,
            port=port,
            host=host,
            browser=browser,
        )

    def widget(self, *, height: int = 720) -> Any:
        """The same page as a widget of a notebook, so many pixels high, without a server.

        Its answers come from the kernel. It needs anywidget: `pip install 'graphtide[notebook]'`.
        """
        # Imported here, as above.
        from graphtide.web.widget import show

        return show(self, height=height)

    def _on_page(self) -> tuple[Any, list[str] | None]:
        """The session that stores it and where the page shows it; None of what is in memory."""
        return None, None


class SavesPage(Opens):
    """What can be opened, and be written as a page of its own."""

    def save_html(self, path: str | PathLike[str], *, most: float = 20) -> Path:
        """Write it as one page that works from disk, without a server; returns the path.

        It holds at most so many megabytes of answers, and says at its end what it leaves out.
        """
        # Imported here, as above.
        from graphtide.web.saved import save_html

        return save_html(self, path, most=most)
