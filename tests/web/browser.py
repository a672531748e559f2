"""Debian's chromium without a window, driven by the devtools protocol over two pipes.

`--remote-debugging-pipe` reads commands from file descriptor 3 and writes answers and events to 4:
JSON with a zero byte behind it. So it needs no library, and no port that others could reach. All
happens in one thread: who waits for an answer takes in the events that come before it.

    with Browser() as browser:
        page = browser.open("http://127.0.0.1:8000/")
        page.wait("table")
        page.click("th button")
        assert not page.errors

Every page has cookies and storage of its own. No name is resolved, so that nothing can leave the
machine; `page.requests` has what was tried. To wait is to wait for a condition, never for a time.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",  # WebGL without graphics
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--password-store=basic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
    "--remote-debugging-pipe",
)
LONG = 30.0
"""Seconds after which what has not come hangs: long, for a machine that is busy."""
KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "Backspace": (8, ""),
    "Delete": (46, ""),
    " ": (32, " "),
    "PageUp": (33, ""),
    "PageDown": (34, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class BrowserError(Exception):
    """What the browser or a script in a page said, or that something did not come."""


def installed() -> str | None:
    """The browser of this machine; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@dataclass
class Request:
    """What a page asked for. `status` is 0 until there is an answer, and where there was none."""

    address: str
    method: str
    status: int = 0
    bytes: int = 0
    failed: str = ""

    @property
    def leaves(self) -> bool:
        """Whether it was meant for another machine."""
        parts = urlsplit(self.address)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in LOOPBACK


class Browser:
    """A process of the browser with an empty profile, until `close`."""

    def __init__(self, *options: str) -> None:
        program = installed()
        if program is None:
            raise BrowserError("no browser is installed here: apt-get install chromium")
        self.folder = Path(tempfile.mkdtemp(prefix="graphtide-browser-"))
        self._answers: dict[int, dict[str, Any]] = {}
        self._awaited: set[int] = set()
        self._hearers: dict[str, Callable[[str, str, dict[str, Any]], None]] = {}
        self._downloads: dict[str, Path | None] = {}
        self._last, self._rest = 0, b""
        with contextlib.ExitStack() as started:
            started.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._start([program, *OPTIONS, *options, f"--user-data-dir={self.folder}/profile"])
            started.callback(self._end)
            self._closing = started.pop_all()

    def _start(self, command: list[str]) -> None:
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        ends = _high(reads), _high(writes)
        log, write = str(self.folder / "log"), os.O_WRONLY | os.O_CREAT
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, write, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, ends[0], 3),
            (os.POSIX_SPAWN_DUP2, ends[1], 4),
        ]
        self.pid = os.posix_spawn(
            command[0], command, os.environ, file_actions=actions, setpgroup=0
        )
        for number in ends:
            os.close(number)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all that it started; its profile goes."""
        self._closing.close()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._to)
        os.close(self._from)

    def open(self, address: str, *, width: int = 1400, height: int = 900) -> Page:
        """A page of its own at an address, when it has loaded."""
        page = Page(self, width, height)
        page.go(address)
        return page

    def call(
        self, method: str, options: dict[str, Any] | None = None, *, session: str | None = None,
        seconds: float = LONG,
    ) -> dict[str, Any]:  # fmt: skip
        """What the browser answers to a command of the protocol."""
        number = self.send(method, options, session=session)
        self._awaited.add(number)
        self.take_in(lambda: number in self._answers, seconds, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]  # type: ignore[no-any-return]

    def send(
        self, method: str, options: dict[str, Any] | None = None, *, session: str | None = None
    ) -> int:
        """Give a command, and do not wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": options or {}}
        if session is not None:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self._to, data) :]
        return self._last

    def take_in(self, until: Callable[[], bool], seconds: float, what: str) -> None:
        """Take in answers and events until something holds."""
        last = time.monotonic() + seconds
        while not until():
            left = last - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise BrowserError(f"{what}: nothing came in {seconds:.0f} seconds")
            data = os.read(self._from, 1 << 20)
            if not data:
                log = (self.folder / "log").read_text(errors="replace")[-2000:]
                raise BrowserError(f"the browser has ended:\n{log}")
            *whole, self._rest = (self._rest + data).split(b"\0")
            for text in whole:
                self._heard(json.loads(text))

    def hear(self, session: str, hearer: Callable[[str, str, dict[str, Any]], None]) -> None:
        """Who is told of the events of a session, and of no others."""
        self._hearers[session] = hearer

    def _heard(self, message: dict[str, Any]) -> None:
        if "id" in message:
            if message["id"] in self._awaited:
                self._awaited.discard(message["id"])
                self._answers[message["id"]] = message
            return
        method, options = message["method"], message["params"]
        session = message.get("sessionId", "")
        if method == "Browser.downloadWillBegin":
            self._downloads[options["guid"]] = None
        elif method == "Browser.downloadProgress" and options["state"] == "completed":
            self._downloads[options["guid"]] = self.folder / "downloads" / options["guid"]
        elif session in self._hearers:
            self._hearers[session](session, method, options)

    def downloaded(self, action: Callable[[], object], seconds: float = LONG) -> Path:
        """The file that the browser saves when something is done."""
        before = set(self._downloads)
        action()
        self.take_in(
            lambda: any(self._downloads[key] for key in self._downloads.keys() - before),
            seconds,
            "a file that is saved",
        )
        return next(
            path for key, path in self._downloads.items() if key not in before and path is not None
        )


@dataclass
class _Frame:
    """A document in a page, by its session: of another process where the browser keeps it apart."""

    session: str
    number: str
    context: int = 0


@dataclass
class _Heard:
    """What the events of a page said."""

    requests: dict[str, Request] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    frames: dict[str, _Frame] = field(default_factory=dict)


class Page:
    """One page. `errors` has what went wrong in it: exceptions, the console, refused requests."""

    def __init__(self, browser: Browser, width: int, height: int) -> None:
        self.browser = browser
        self._group = browser.call("Target.createBrowserContext")["browserContextId"]
        behavior = {"behavior": "allowAndName", "browserContextId": self._group}
        behavior |= {"downloadPath": str(browser.folder / "downloads"), "eventsEnabled": True}
        browser.call("Browser.setDownloadBehavior", behavior)
        made = {"url": "about:blank", "browserContextId": self._group}
        self._target = browser.call("Target.createTarget", made)["targetId"]
        self._heard = _Heard()
        self._apart: dict[str, str] = {}
        attached = {"targetId": self._target, "flatten": True}
        self._session = browser.call("Target.attachToTarget", attached)["sessionId"]
        self._listen(self._session)
        self._frame: str | None = None
        self.resize(width, height)

    def _listen(self, session: str) -> None:
        self.browser.hear(session, self._event)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.browser.send(f"{domain}.enable", session=session)
        parts = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
        self.browser.send("Target.setAutoAttach", parts, session=session)

    def call(self, method: str, **options: Any) -> dict[str, Any]:
        """A command of the devtools protocol for this page."""
        return self.browser.call(method, options, session=self._session)

    # What it shows

    def go(self, address: str) -> None:
        """Go to an address, and wait until it has loaded."""
        moved = self.call("Page.navigate", url=address)
        if moved.get("errorText"):
            raise BrowserError(f"{address}: {moved['errorText']}")
        self.until("document.readyState === 'complete'")

    def reload(self) -> None:
        """Load the same address again."""
        self.evaluate("window.graphtideBefore = true")
        self.call("Page.reload")
        self.until("!window.graphtideBefore && document.readyState === 'complete'")

    def back(self) -> None:
        """As the button of the browser does."""
        self.evaluate("history.back()")

    @property
    def address(self) -> str:
        """Where the page is."""
        return str(self.evaluate("location.href"))

    def text(self, selector: str = "body") -> str:
        """What the first such element says, as it is shown."""
        self.wait(selector)
        return str(self.evaluate(f"{_element(selector)}.innerText"))

    def texts(self, selector: str) -> list[str]:
        """What all such elements say."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return list(self.evaluate(f"{found}.map((one) => one.innerText)"))

    def count(self, selector: str) -> int:
        """How many such elements there are."""
        return int(self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def value(self, selector: str) -> str:
        """What stands in a box."""
        self.wait(selector)
        return str(self.evaluate(f"{_element(selector)}.value"))

    def evaluate(self, script: str, *, seconds: float = LONG) -> Any:
        """The value of an expression in the page; that of its promise, where it is one."""
        options: dict[str, Any] = {"expression": script, "awaitPromise": True}
        options |= {"returnByValue": True, "userGesture": True}
        session = self._session
        if self._frame is not None:
            frame = self._frame_in_hand()
            session, options["contextId"] = frame.session, frame.context
        answer = self.browser.call("Runtime.evaluate", options, session=session, seconds=seconds)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script[:200]}: {_thrown(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    # Waiting

    def wait(self, selector: str, text: str = "", *, seconds: float = LONG) -> None:
        """Wait until such an element is there; one in which a text stands, if one is given.

        Spaces of every kind are spaces.
        """
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        said = "one.textContent.replace(/\\s+/g, ' ')"
        self.until(f"{found}.some((one) => {said}.includes({json.dumps(text)}))", seconds)

    def gone(self, selector: str, *, seconds: float = LONG) -> None:
        """Wait until there is no such element."""
        self.until(f"document.querySelector({json.dumps(selector)}) === null", seconds)

    def until(self, condition: str, seconds: float = LONG) -> None:
        """Wait until an expression in the page is true; loads in between do not matter."""
        last = time.monotonic() + seconds
        look = f"() => Boolean({condition})"
        while (left := last - time.monotonic()) > 0:
            script = _WAIT.replace("LOOK", look).replace("LEFT", str(int(left * 1000)))
            try:
                if self.evaluate(script, seconds=left + 5):
                    return
            except BrowserError as error:
                if not any(sign in str(error) for sign in _MOVED):
                    raise
        shown = self.evaluate("document.body ? document.body.innerText.slice(0, 600) : ''")
        raise BrowserError(f"not in {seconds:.0f} seconds: {condition}\nthe page says:\n{shown}")

    # Using it

    def click(self, selector: str, *, times: int = 1) -> None:
        """Click on the middle of the first such element, which comes into sight."""
        self.click_at(*self.middle(selector), times=times)

    def click_text(self, selector: str, text: str) -> None:
        """Click on the first such element that says just this."""
        self.wait(selector, text)
        self.evaluate(
            "document.querySelectorAll('[data-clicked]').forEach((one) => "
            "one.removeAttribute('data-clicked'));"
            f"[...document.querySelectorAll({json.dumps(selector)})].find((one) => "
            f"one.textContent.trim() === {json.dumps(text)})?.setAttribute('data-clicked', '')"
        )
        self.click("[data-clicked]")

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of the first such element is in the window, once it stays there."""
        self.wait(selector)
        x, y = self.evaluate(_STILL.replace("ELEMENT", _element(selector)))
        return x, y

    def click_at(self, x: float, y: float, *, times: int = 1) -> None:
        """Click on a place of the window."""
        self.mouse("mouseMoved", x, y)
        for number in range(1, times + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)

    def hover(self, selector: str) -> None:
        """Move the mouse over the first such element."""
        self.mouse("mouseMoved", *self.middle(selector))

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 5) -> None:
        """Press the mouse at a place, move it to another one in some steps, and let go."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def mouse(self, kind: str, x: float, y: float, **options: Any) -> None:
        """An event of the mouse."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    def type(self, selector: str, text: str) -> None:
        """Click into a box, take out what stands there, and type a text."""
        self.click(selector)
        self.key("Control+a")
        self.key("Backspace")
        self.call("Input.insertText", text=text)

    def key(self, name: str, times: int = 1) -> None:
        """Press a key for whatever has the focus: `ArrowRight`, `a`, `Control+Enter`."""
        *held, key = name.split("+") if len(name) > 1 else [name]
        bits = sum(MODIFIERS[one] for one in held)
        code, text = KEYS.get(key, (ord(key[0].upper()), key))
        options: dict[str, Any] = {"key": key, "modifiers": bits, "windowsVirtualKeyCode": code}
        options["code"] = key if key in KEYS else f"Key{key.upper()}"
        if bits == MODIFIERS["Control"] and key == "a":
            options["commands"] = ["selectAll"]
        typed = {"text": text} if text and not bits & ~MODIFIERS["Shift"] else {}
        for _ in range(times):
            down = "keyDown" if typed else "rawKeyDown"
            self.call("Input.dispatchKeyEvent", type=down, **options, **typed)
            self.call("Input.dispatchKeyEvent", type="keyUp", **options)

    # How it looks

    def resize(self, width: int, height: int) -> None:
        """Make the window as large as that."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def prefers(self, **features: str) -> None:
        """What the user prefers: `color_scheme="dark"`, `reduced_motion="reduce"`."""
        chosen = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", features=chosen)

    def screenshot(self, path: str | Path, *, whole: bool = False) -> Path:
        """A PNG of the window, or of all that could be scrolled to."""
        # Two frames: what has been asked for is drawn in the first.
        self.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
        options: dict[str, Any] = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {**size, "x": 0, "y": 0, "scale": 1}
            options["captureBeyondViewport"] = True
        data = base64.b64decode(self.call("Page.captureScreenshot", **options)["data"])
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target

    # What it did

    @property
    def requests(self) -> list[Request]:
        """All that the page asked for so far, in order."""
        self.evaluate("0")  # Events that are on their way come before the answer.
        return list(self._heard.requests.values())

    @property
    def errors(self) -> list[str]:
        """What went wrong in the page so far."""
        self.evaluate("0")
        return self._heard.errors

    def forgive(self, sign: str) -> None:
        """Take out the errors in which a text stands: a test meant them to happen."""
        self._heard.errors[:] = [one for one in self.errors if sign not in one]

    def close(self) -> None:
        """Close the page; its cookies go."""
        self.browser.call("Target.disposeBrowserContext", {"browserContextId": self._group})

    @contextlib.contextmanager
    def inside(self, selector: str = "iframe") -> Iterator[Page]:
        """Within the block, scripts and waits are about the document of a frame.

        The mouse and the keyboard are those of the whole window: `click` does not work there.
        """
        self.wait(selector)
        found = self.call("Runtime.evaluate", expression=_element(selector))["result"]["objectId"]
        self._frame = self.call("DOM.describeNode", objectId=found)["node"]["frameId"]
        try:
            self.until("document.readyState === 'complete'")
            yield self
        finally:
            self._frame = None

    def _frame_in_hand(self) -> _Frame:
        frames, number = self._heard.frames, str(self._frame)
        self.browser.take_in(lambda: number in frames, LONG, "a frame")
        return frames[number]

    def _event(self, session: str, method: str, said: dict[str, Any]) -> None:
        heard = self._heard
        match method:
            case "Network.requestWillBeSent":
                asked = said["request"]
                key = said["requestId"]
                if "redirectResponse" in said:  # Of the same number: the first one stays.
                    heard.requests[f"{key} {len(heard.requests)}"] = heard.requests[key]
                heard.requests[key] = Request(asked["url"], asked["method"])
            case "Network.responseReceived":
                self._of(said).status = said["response"]["status"]
            case "Network.loadingFinished":
                self._of(said).bytes = int(said["encodedDataLength"])
            case "Network.loadingFailed":
                self._of(said).failed = said["errorText"]
            case "Runtime.exceptionThrown":
                heard.errors.append(_thrown(said["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if said["type"] in {"error", "assert"}:
                told = [str(one.get("value", one.get("description", ""))) for one in said["args"]]
                heard.errors.append(" ".join(told))
            case "Log.entryAdded" if said["entry"]["level"] == "error":
                entry = said["entry"]
                heard.errors.append(f"{entry['text']} ({entry.get('url', '')})")
            case "Runtime.executionContextCreated":
                told_of = said["context"]
                about = told_of.get("auxData", {})
                if about.get("isDefault"):
                    frame = _Frame(session, about["frameId"], told_of["id"])
                    heard.frames[about["frameId"]] = frame
            case "Target.attachedToTarget":
                self._listen(said["sessionId"])

    def _of(self, said: dict[str, Any]) -> Request:
        return self._heard.requests.setdefault(said["requestId"], Request("", ""))


# Looks at once, and then whenever something may have changed.
_WAIT = """new Promise((resolve) => {
  const look = LOOK, last = performance.now() + LEFT;
  const again = () => {
    let seen = false;
    try { seen = look(); } catch (error) { if (performance.now() > last) console.warn(error); }
    if (seen || performance.now() > last) resolve(seen);
    else setTimeout(again, 5);
  };
  again();
})"""
_STILL = """new Promise((resolve, reject) => {
  let last = "";
  const look = () => {
    const one = ELEMENT;
    if (!one) return reject(new Error("the element has gone"));
    one.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { x, y, width, height } = one.getBoundingClientRect();
    if (`${x} ${y} ${width} ${height}` === last) return resolve([x + width / 2, y + height / 2]);
    last = `${x} ${y} ${width} ${height}`;
    requestAnimationFrame(look);
  };
  look();
})"""
_MOVED = ("navigated", "context", "collected", "destroyed")
"""Words of what the browser says where a page went on to another document meanwhile."""


def _element(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def _thrown(details: dict[str, Any]) -> str:
    thrown = details.get("exception", {})
    return str(thrown.get("description", thrown.get("value", details.get("text", ""))))


def _high(number: int) -> int:
    """The same file under a number that none of the child's files has."""
    high = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(number)
    return high
