"""A page in Debian's Chromium, driven over the WebDriver protocol (W3C), and axe-core from npm."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from npm_packages import npm

AXE = "axe-core@4"
TAB, ENTER = "\ue004", "\ue007"  # WebDriver's names of keys
_OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]

JSON = Any


class NoChromiumError(Exception):
    """Why there is no browser."""


class Browser:
    """A session of chromedriver at ``address``."""

    def __init__(self, address: str) -> None:
        self._address = address
        options = {"goog:chromeOptions": {"args": _OPTIONS}}
        made = self._asked("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self._session = f"/session/{made['sessionId']}"

    def open(self, page: Path) -> None:
        """Load a file."""
        self._asked("POST", f"{self._session}/url", {"url": page.as_uri()})

    def run(self, script: str) -> JSON:
        """What a function's body returns; the page's own policy does not hold for it."""
        wanted = {"script": script, "args": []}
        return self._asked("POST", f"{self._session}/execute/sync", wanted)

    def run_to_its_end(self, script: str) -> JSON:
        """What a function's body hands to its last argument."""
        wanted = {"script": script, "args": []}
        return self._asked("POST", f"{self._session}/execute/async", wanted)

    def press(self, *keys: str) -> None:
        """Press and release keys, one after another."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keyboard", "actions": strokes}]
        self._asked("POST", f"{self._session}/actions", {"actions": actions})

    def set_width(self, width: int) -> None:
        """Of the window, in pixels."""
        self._asked("POST", f"{self._session}/window/rect", {"width": width, "height": 900})

    def prefer(self, scheme: str) -> None:
        """``light`` or ``dark``, as the reader's system says it."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        wanted = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [feature]}}
        self._asked("POST", f"{self._session}/goog/cdp/execute", wanted)

    def close(self) -> None:
        """End the session and its processes."""
        self._asked("DELETE", self._session)

    def _asked(self, method: str, path: str, body: JSON = None) -> JSON:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self._address}{path}", data, method=method
        )  # chromedriver's own address
        with urllib.request.urlopen(request, timeout=60) as answer:  # the same
            return json.load(answer)["value"]


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of one's own; raises NoChromiumError where none is installed."""
    if shutil.which("chromedriver") is None or shutil.which("chromium") is None:
        raise NoChromiumError("chromium and chromium-driver are not installed")
    process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = (re.search(r"successfully on port (\d+)", line) for line in process.stdout)
        port = next(filter(None, said))[1]
        opened = Browser(f"http://127.0.0.1:{port}")
        try:
            yield opened
        finally:
            opened.close()
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def axe(folder: Path) -> str:
    """The script of axe-core, which checks a page for what shuts readers out. Raises NoNpmError."""
    npm(folder, "pack", AXE)
    with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()
