"""Make the screenshots of the dashboard in docs/images, from crawls of the embedded web: `make screenshots`.

Needs a browser, as the tests do (docs/browser.md). With a directory as argument, all views are photographed there, in
light and dark, on a phone and on a wide screen; without, only those that the documentation shows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from scrapy.settings import Settings

from focuscrawl.dashboard.server import serving
from focuscrawl.web.browser_choice import find_browser

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
VIEWS = {
    "overview": "/",
    "now": "/c/sorting/",
    "pages": "/c/sorting/pages?state=matched&order=best",
    "page": "/c/sorting/page/91",
    "review": "/c/sorting/review?of=random",
    "search": "/c/sorting/search?q=merge+sort+%22linked+lists%22",
    "frontier": "/c/sorting/frontier",
    "map": "/c/sorting/map",
    "topic": "/c/sorting/topic",
}
CRAWLS = {
    "sorting": ("best_first", "sorting", 300),
    "chess": ("adaptive", "chess", 300),
    "volcanoes": ("shark_search", "volcanoes", 150),
}
WIDE, PHONE = {"width": 1280, "height": 1040}, {"width": 380, "height": 800}
LARGE = {"width": 1600, "height": 1000}


def command(folder: Path, name: str, pages: int, *more: str) -> list[str]:
    """The command that crawls a topic of the embedded web, with a search index."""
    spider, topic, _ = CRAWLS[name]
    words = ["scrapy", "crawl", spider, "-a", f"topic={topic}", "-a", f"max_pages={pages}", "-L", "ERROR"]
    given = ["-s", "FOCUS_WEB=demo", "-s", f"FOCUS_DIR={folder / name}", "-s", "FOCUS_INDEX=True"]
    return [sys.executable, "-m", *words, *given, *more]


@contextmanager
def crawling(folder: Path) -> Iterator[None]:
    """Crawl some topics of the embedded web; one of these crawls then goes on slowly, as on the real web."""
    for name, (_, _, pages) in CRAWLS.items():
        subprocess.run(command(folder, name, pages), cwd=ROOT, check=True)  # noqa: S603
    slowly = ("-s", "DOWNLOAD_DELAY=4", "-s", "FOCUS_WEB_LATENCY=1.5", "-s", "CONCURRENT_REQUESTS=6")
    process = subprocess.Popen(command(folder, "sorting", 2_000, *slowly), cwd=ROOT)  # noqa: S603
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def shoot(browser: Browser, address: str, report: str, folder: Path, *, everything: bool) -> None:
    """Photograph the views, and a report."""
    looks = [("light", WIDE), ("dark", WIDE)] + (
        [("light", PHONE), ("dark", PHONE), ("light", LARGE)] if everything else []
    )
    for scheme, size in looks:
        page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1)
        places = {f"dashboard-{name}": f"{address.rstrip('/')}{path}" for name, path in VIEWS.items()}
        for name, place in (places | {"report": report}).items():
            page.goto(place, wait_until="networkidle")
            page.locator("text=Look again").wait_for(state="detached")  # what takes long is there a little later
            shape = "-phone" if size is PHONE else "-large" if size is LARGE else ""
            file = folder / f"{name}{shape}{'-dark' if scheme == 'dark' else ''}.png"
            page.screenshot(path=file, full_page=everything)
            with Image.open(file) as picture:
                picture.convert("RGB").quantize(256, kmeans=2, dither=Image.Dither.NONE).save(file, optimize=True)
        page.close()


def main() -> None:
    """Crawl, serve, photograph."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    executable = find_browser(Settings({"FOCUS_BROWSER": "shells"}))
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as place, chdir(place), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        with crawling(Path(place, "crawls")), serving("crawls") as server:
            page = browser.new_page()
            page.goto(f"{server.address}c/sorting/")
            page.wait_for_selector(".hosts li", timeout=120_000)  # it says what it is doing
            page.close()
            report = Path(place, "crawls", "chess", "report.html").resolve().as_uri()
            shoot(browser, server.address, report, folder, everything=len(sys.argv) > 1)
        browser.close()


if __name__ == "__main__":
    main()
