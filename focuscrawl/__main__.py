"""`python -m focuscrawl`: the same as `focuscrawl`."""

from __future__ import annotations

from focuscrawl.console.main import main

if __name__ == "__main__":
    main()
