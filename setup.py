# Names the packages; everything else is in pyproject.toml. scrapyd-deploy builds its egg with this file.
from setuptools import find_packages, setup

# data/ lives beside the package and is installed inside it
setup(packages=[*find_packages(include=["focuscrawl", "focuscrawl.*"]), "focuscrawl.data"])
