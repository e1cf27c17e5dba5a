"""`scrapy genspider`, with a template for strategies: the spider and its test."""

from __future__ import annotations

import argparse
import os
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from string import Template
from typing import Any

from scrapy.commands.genspider import Command as GenspiderCommand
from scrapy.commands.genspider import sanitize_module_name
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import closest_scrapy_cfg

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.resources import data

_OURS = "focused"


class Command(FocusCommand, GenspiderCommand):
    """Scrapy's command with an additional template, `focused`.

    Write failures are errors, and it writes only to packages of the current project.
    """

    def short_desc(self) -> str:
        return "Write a new spider from a template; -t focused writes a strategy and its test"

    def long_desc(self) -> str:
        return (
            "Write a new spider from a template. With -t focused it is a strategy that scores links by their anchor and"
            " page, ready to be adapted, with a test that crawls a small web. Outside a project it goes to the current"
            f" directory. Example: {program()} genspider -t focused my_strategy example.com; {program()} crawl"
            " my_strategy -a topic=sorting"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            if not opts.list and not opts.dump and len(args) == 2:
                if sanitize_module_name(args[0]) == self.settings.get("BOT_NAME"):
                    raise FocusError(f"'{args[0]}' is the name of the project; choose another one for the spider")
                package = _target(self.settings.get("NEWSPIDER_MODULE"))
                self.settings.set("NEWSPIDER_MODULE", package, priority="cmdline")
            super().execute(args, opts)
        except OSError as error:
            raise FocusError(f"{error.filename}: {error.strerror}") from None

    def _spider_exists(self, name: str) -> bool:
        assert self.settings is not None
        fix = "choose another name, or use --force"
        loader = get_spider_loader(self.settings)
        if name in loader.list():
            raise FocusError(f"spider '{name}' already exists in {loader.load(name).__module__}; {fix}")
        package = self.settings.get("NEWSPIDER_MODULE")
        file = (_folder(package) if package else Path.cwd()) / f"{sanitize_module_name(name)}.py"
        if file.exists():
            raise FocusError(f"{file} already exists; {fix}")
        return False

    def _find_template(self, template: str) -> Path | None:
        if template == _OURS:
            return Path(str(data("templates", f"{_OURS}.tmpl")))
        with redirect_stdout(StringIO()):
            found = super()._find_template(template)
        if found is None:
            names = sorted([_OURS, *(file.stem for file in Path(self.templates_dir).glob("*.tmpl"))])
            raise FocusError(f"unknown template '{template}'; known templates: {', '.join(names)}")
        return found

    def _list_templates(self) -> None:
        super()._list_templates()
        print(f"  {_OURS}")

    def _genspider(
        self, module: str, name: str, url: str, template_name: str, template_file: str | os.PathLike[str]
    ) -> Path:
        assert self.settings is not None
        spider = super()._genspider(module, name, url, template_name, template_file)
        print(f"Written: {spider.absolute()}")
        if template_name == _OURS:
            self._write_test(module, self._generate_template_variables(module, name, url, template_name))
        if not self.settings.get("NEWSPIDER_MODULE"):
            print(f"Not in a project, so {program()} crawl will not find it; use: {program()} runspider {spider}")
        return spider

    def _write_test(self, module: str, values: dict[str, Any]) -> None:
        """Write the test to the project's tests, in the folder `spiders` if there is one."""
        assert self.settings is not None
        folder = _root() / "tests"
        folder = folder / "spiders" if (folder / "spiders").is_dir() else folder
        test = folder / f"test_{module}.py"
        if test.exists():
            print(f"{test} already exists and was not changed")
            return
        folder.mkdir(parents=True, exist_ok=True)
        template = Template(data("templates", f"test_{_OURS}.tmpl").read_text("utf-8"))
        imports = _imports(self.settings.get("NEWSPIDER_MODULE"), module, values["classname"])
        test.write_text(template.substitute(values, imports=imports), "utf-8")
        print(f"Written: {test}")


def _imports(package: str | None, module: str, spider: str) -> str:
    """The imports of a test, in the order that linters expect: the project's own last."""
    lines = [
        "from focuscrawl.testing import at, crawl, small_web",
        f"from {f'{package}.' if package else ''}{module} import {spider}",
    ]
    return "\n".join(sorted(lines)) if lines[1].startswith("from focuscrawl.") else "\n\n".join(lines)


def _root() -> Path:
    """The directory of the current project; without one, the current directory."""
    project = closest_scrapy_cfg()
    return (Path(project).parent if project else Path()).resolve()


def _folder(package: str) -> Path:
    """The directory of a package."""
    try:
        file = import_module(package).__file__
    except ModuleNotFoundError as error:
        raise FocusError(f"setting NEWSPIDER_MODULE={package}: {error}") from None
    if file is None:
        raise FocusError(f"setting NEWSPIDER_MODULE={package}: the package has no __init__.py")
    return Path(file).parent.resolve()


def _target(package: str | None) -> str | None:
    """The package for new spiders, which must be in the current project; None: the current directory."""
    if not package:
        return None
    folder = _folder(package)
    if folder.is_relative_to(_root()) and not {"site-packages", "dist-packages"} & set(folder.parts):
        return package
    if closest_scrapy_cfg():
        raise FocusError(
            f"setting NEWSPIDER_MODULE={package} is not a package of this project, but in {folder}; set one of yours in"
            " settings.py, and unset SCRAPY_SETTINGS_MODULE, which overrides it"
        )
    return None
