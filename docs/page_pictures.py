"""Draws docs/pictures/*.png: the search page over the demo's papers, in Chromium, which must be installed; to be looked at when the page
changes."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from sciretrieve.service.app import make_app
from sciretrieve.service.library import Library
from sciretrieve.service.listening import listen
from sciretrieve.service.running import config
from sciretrieve.service.settings import ServiceSettings

FOLDER = Path(__file__).parent / "pictures"
QUERY = "/?q=how+do+vaccines+teach+the+immune+system+to+fight+a+virus"
PICTURES = {
    "page": (QUERY, 1200, 820, "light"),
    "page-dark-narrow": (QUERY, 390, 820, "dark"),
    "page-map": ("/map?q=what+makes+stars+and+planets+form", 1200, 820, "light"),
    "page-paper-dark": ("/paper/kariko2005suppression", 1200, 820, "dark"),
}
"""Each picture by name: what of the page it shows, how wide and how high, and in which colours."""


def draw() -> None:
    """Draw all of them."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("there is no Chromium here; install the package chromium")
    with tempfile.TemporaryDirectory() as folder:
        sr.build(CORPUS, Path(folder) / "demo", progress=False).close()
        app = make_app(Library([Path(folder) / "demo"]), ServiceSettings(), log=lambda _: None)
        listening = listen("127.0.0.1", 0)
        server = uvicorn.Server(config(app))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            _draw(chromium, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


def _draw(chromium: str, address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, (path, width, height, colours) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if colours == "dark" else "light")
            page.goto(address + path)
            page.wait_for_load_state("networkidle")
            if path == QUERY:
                for box in page.locator("[data-shelf]").all()[1:3]:
                    box.check()
                page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=FOLDER / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    draw()
