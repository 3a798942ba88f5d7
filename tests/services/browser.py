"""A real headless Chromium, spoken to over a pipe by its DevTools protocol; one page at a time."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

from services.fixtures import skip_or_fail

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
DEADLINE = 60.0  # seconds for one answer


class Browser:
    """Answers come in their order; events are kept until somebody asks for them."""

    def __init__(self, requests: int, answers: int) -> None:
        self._words, self._answers = requests, answers
        self._buffer, self._number = b"", 0
        self.session = ""
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._words, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def until(self, method: str) -> dict[str, Any]:
        """The first event of that name which was not asked for yet."""
        while True:
            for place, event in enumerate(self.events):
                if event.get("method") == method:
                    return dict(self.events.pop(place)["params"])
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = monotonic() + DEADLINE
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._answers], [], [], max(end - monotonic(), 0))
            assert ready, "the browser does not answer"
            part = os.read(self._answers, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        one, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(one))

    # --- a page ---------------------------------------------------------------------------------

    def open(
        self,
        path: Path | str,
        width: int = 1100,
        height: int = 900,
        dark: bool = False,
        before: str = "",
    ) -> None:
        """A new tab of that size on that file or address, once it is loaded; the script `before`
        runs ahead of those of the page.
        """
        self.session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        if before:
            self.ask("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.ask("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        self.until("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key)

    def mouse(self, kind: str, x: float, y: float, **params: Any) -> None:
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, of scripts, and of what the page's policy refused."""
        complaints = []
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    complaints.append(str(params["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    complaints.append(str(params["args"]))
                case "Log.entryAdded":
                    complaints.append(str(params["entry"]))
        return complaints

    @property
    def requests(self) -> list[str]:
        """The addresses that the page asked for, data: apart."""
        urls = [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith("data:")]

    def picture(self, path: Path, full_page: bool = True) -> None:
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=full_page)
        path.write_bytes(base64.b64decode(answer["data"]))


def chromium_path() -> str:
    """Where a Chromium is; empty where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


@contextmanager
def browser() -> Iterator[Browser]:
    """It ends with the block, and leaves nothing behind."""
    program = chromium_path()
    if not program:
        skip_or_fail(f"the page is looked at in Chromium: install one of {', '.join(NAMES)}")
    ours = [*os.pipe(), *os.pipe()]
    # out of the way of 3 and 4
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 20) for each in ours]
    for each in ours:
        os.close(each)
    theirs_in, our_out, our_in, theirs_out = high

    def at_their_places() -> None:
        os.dup2(theirs_in, 3)
        os.dup2(theirs_out, 4)

    with tempfile.TemporaryDirectory(prefix="herorun-", ignore_cleanup_errors=True) as folder:
        argv = [
            program,
            *(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ),
            *(
                "--no-first-run",
                "--disable-background-networking",
                "--hide-scrollbars",
                f"--user-data-dir={folder}",
            ),
        ]
        with (Path(folder) / "said").open("wb") as output:
            process = subprocess.Popen(
                argv,
                preexec_fn=at_their_places,
                pass_fds=(3, 4),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(our_out, our_in)
        finally:
            _end(process, our_out)
            os.close(our_out)
            os.close(our_in)


def _end(process: "subprocess.Popen[bytes]", requests: int) -> None:
    """Asked to close, its own processes have ended when it has, and write nothing more."""
    with suppress(OSError):
        os.write(requests, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
