# scrapyd-deploy builds its egg with this file; everything else is in pyproject.toml.
from setuptools import setup

setup()
