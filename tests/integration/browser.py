"""A real browser over WebDriver's plain HTTP, with the standard library alone."""

import base64
import json
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from commands import LONGEST

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 300  # seconds that a page may take on a busy machine
AGAIN = 10  # seconds after which a key is pressed again
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how WebDriver marks an element in JSON
CONTROL, ENTER, ESCAPE, TAB = "\ue009", "\ue007", "\ue00c", "\ue004"


class Browser:
    """with Browser(folder) as browser: browser.go(url); browser.press("1")"""

    def __init__(self, profile: Path) -> None:
        self._chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        driver = shutil.which("chromedriver")
        if not self._chromium or not driver:
            pytest.skip("no browser: chromium and chromedriver are not installed")
        self._profile = profile
        self._driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self._url = f"http://127.0.0.1:{found[1]}"
                return
        raise AssertionError("chromedriver did not start")

    def __enter__(self) -> "Browser":
        arguments = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"),
            *("--window-size=1400,1000", f"--user-data-dir={self._profile}", "--no-proxy-server"),
        ]
        options = {"binary": self._chromium, "args": arguments}
        made = self._ask(
            "POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        )
        self._url += f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(LONGEST)
            assert self._driver.stdout is not None
            self._driver.stdout.close()

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(
            self._url + path, data, {"Content-Type": "application/json"}, method=method
        )
        with opener.open(request, timeout=LONGEST) as answer:
            return json.load(answer)["value"]

    def go(self, url: str) -> None:
        self._ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def type(self, css: str, text: str) -> None:
        self.wait(f"return document.querySelector({css!r}) !== null")
        found = self._ask("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]
        self._ask("POST", f"/element/{found}/value", {"text": text})

    def click(self, css: str) -> None:
        self.wait(f"return document.querySelector({css!r}) !== null")
        found = self._ask("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]
        self._ask("POST", f"/element/{found}/click", {})

    def press(self, keys: str) -> None:
        """Keys at whatever has the focus; CONTROL + ENTER are held together."""
        down = [{"type": "keyDown", "value": key} for key in keys]
        up = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        actions = {"type": "key", "id": "keyboard", "actions": down + up}
        self._ask("POST", "/actions", {"actions": [actions]})

    def press_until(self, keys: str, script: str) -> None:
        """Again now and then, as a person would: a page is drawn before it listens."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.press(keys)
            if self._soon(script, AGAIN):
                return
        raise AssertionError(f"in vain: {script}\n{self.text()[:2000]}")

    def wait(self, script: str, *arguments: Any) -> Any:
        """Until a script returns something true."""
        if found := self._soon(script, PATIENCE, *arguments):
            return found
        raise AssertionError(f"in vain: {script}\n{self.text()[:2000]}")

    def _soon(self, script: str, seconds: float, *arguments: Any) -> Any:
        deadline = time.monotonic() + seconds
        while not (found := self.run(script, *arguments)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def text(self) -> str:
        shown: str = self.run("return document.body.innerText")
        return shown

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))
