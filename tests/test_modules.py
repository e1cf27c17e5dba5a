"""The package as a set of modules."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import focuscrawl


@pytest.mark.parametrize("name", [module.name for module in pkgutil.walk_packages(focuscrawl.__path__, "focuscrawl.")])
def test_every_module_can_be_imported(name):
    assert import_module(name).__doc__, "a module says what it is for"
