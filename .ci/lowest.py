"""Prints constraints for pip: what focuscrawl needs, in the oldest versions that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *extras["lab"], *extras["browser"]]:
    print(re.sub(r">=([^,;]+)[^;]*", r"==\1", requirement))
