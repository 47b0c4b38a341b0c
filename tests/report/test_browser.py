"""The page in a real browser, where there is one."""

import html
import re
import shutil
import struct
import subprocess
import zlib

import pytest
from commands import LONGEST

from toolkit.report.page import render

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Writes what it sees into the document around the page, or into the page itself where there is none.
PROBE = """<script>
const box = e => e.getBoundingClientRect();
const wide = [...document.querySelectorAll("body *")]
  .filter(e => !e.closest(".scroll, nav, pre, svg") && box(e).right > innerWidth + 1);
const scale = svg => box(svg).width / svg.viewBox.baseVal.width;
const sizes = [...document.querySelectorAll("svg text")].filter(e => box(e).height > 0)
  .map(e => parseFloat(getComputedStyle(e).fontSize) * scale(e.ownerSVGElement));
const out = parent.document.createElement("output");
out.id = "probe";
out.textContent = [innerWidth, document.documentElement.scrollWidth, wide.length,
  Math.min(...sizes).toFixed(1), getComputedStyle(document.body).backgroundColor,
  wide.slice(0, 3).map(e => e.outerHTML.slice(0, 40))].join("|");
parent.document.body.append(out);
</script>"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    profile = tmp_path_factory.mktemp("profile")

    def run(*arguments):
        fixed = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command = [found, *fixed, f"--user-data-dir={profile}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout

    return run


def probe(browser, page, tmp_path, width, dark=False):
    """What a script sees in the page, in a frame of that width: a window is never narrower than 500."""
    without = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert without != page
    inner = html.escape(without.replace("</body>", f"{PROBE}</body>"))
    frame = f'<iframe srcdoc="{inner}" style="border:0;width:{width}px;height:900px"></iframe>'
    path = tmp_path / "page.html"
    outer = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    path.write_text(f"{outer}<body>{frame}</body>", encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    dom = browser(scheme, "--window-size=1400,900", "--dump-dom", path.as_uri())
    told = re.search(r'<output id="probe">(.*?)</output>', dom).group(1).split("|")
    return {
        "width": int(told[0]), "scroll": int(told[1]), "wide": int(told[2]), "text": float(told[3]),
        "ground": told[4], "which": told[5],
    }  # fmt: skip


@pytest.mark.parametrize("width", [1280, 390, 360])
def test_the_page_does_not_scroll_sideways_and_its_text_is_readable(browser, example, tmp_path, width):
    seen = probe(browser, render(example), tmp_path, width)
    assert seen["width"] == width
    assert seen["scroll"] <= seen["width"]
    assert seen["wide"] == 0, seen["which"]
    assert seen["text"] >= 8.5


def test_dark_is_dark_and_light_is_light(browser, example, tmp_path):
    light, dark = (probe(browser, render(example), tmp_path, 1280, dark)["ground"] for dark in (False, True))
    assert min(map(int, re.findall(r"\d+", light)[:3])) > 230
    assert max(map(int, re.findall(r"\d+", dark)[:3])) < 40


def test_scripts_do_not_run_in_the_page_as_it_is(browser, example, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render(example).replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    assert '<output id="probe">' not in browser("--dump-dom", path.as_uri())


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_of_the_page_is_not_blank(browser, example, tmp_path, width):
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(render(example), encoding="utf-8")
    browser(f"--window-size={width},900", f"--screenshot={picture}", page.as_uri())
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (width, 900)
    pixels = b"".join(chunk for kind, chunk in chunks(data) if kind == b"IDAT")
    assert len(set(zlib.decompress(pixels))) > 50  # a blank page has a colour or two


def chunks(data):
    at = 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += size + 12
