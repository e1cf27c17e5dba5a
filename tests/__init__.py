"""The tests of focuscrawl."""

import os

# one thread per test process: the workers already use all cores; set before NumPy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")
