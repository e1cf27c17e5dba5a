"""focuscrawl: crawl the pages about a topic instead of the whole web."""

import os

__version__ = "0.1.0"

# A crawl is one process on one core. Threads of NumPy and SciPy would wait for one another: on a busy machine, a
# regression takes up to fifty times as long with two. Read when NumPy is first imported; the user's own value stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
