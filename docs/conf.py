"""How `make docs` builds the documentation.

The source is the whole repository, not docs/ alone: README.md, CONTRIBUTING.md, SECURITY.md and CHANGELOG.md are pages,
too, and the links between them and docs/ are checked with their anchors. A link to any other file must find it, and
brings a copy.
The table of contents is in docs/index.md; where it has a pattern, a page may be missing.
Nothing is fetched from the network, neither here nor by the pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from focuscrawl import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "focuscrawl"
author = "the authors of focuscrawl"
version = release = __version__

root_doc = "docs/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/**"]
exclude_patterns = [".*", "build", "crawls", "data", "focuscrawl", "tests"]

extensions = ["myst_parser"]
myst_heading_anchors = 3  # as GitHub makes them, so that #links work there and here
highlight_language = "text"

html_theme = "furo"
html_title = f"focuscrawl {__version__}"
html_copy_source = False
html_show_copyright = False


def begin_at_the_beginning(app: Sphinx, error: Exception | None) -> None:
    """Lead from the top of what was built to the first page."""
    if error is None:
        page = '<!DOCTYPE html><title>focuscrawl</title><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
        Path(app.outdir, "index.html").write_text(page, "utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("build-finished", begin_at_the_beginning)
