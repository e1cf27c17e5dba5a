"""`scrapy genspider`, with a template for strategies: the spider and its test."""

from __future__ import annotations

import os
from pathlib import Path
from string import Template
from typing import Any

from scrapy.commands.genspider import Command as GenspiderCommand
from scrapy.utils.conf import closest_scrapy_cfg

from focuscrawl.resources import data

_OURS = "focused"


class Command(GenspiderCommand):
    """Scrapy's own command, which knows the template `focused` besides its own."""

    def short_desc(self) -> str:
        return "Write a new spider from a template: scrapy genspider -t focused NAME DOMAIN for a strategy and its test"

    def long_desc(self) -> str:
        return (
            "Write a new spider from a template. With -t focused it is a strategy that scores links by their anchor and"
            " page, ready to be changed, with a test that crawls a small web. Example: scrapy genspider -t focused"
            " my_strategy example.com; scrapy crawl my_strategy -a topic=sorting"
        )

    def _find_template(self, template: str) -> Path | None:
        return Path(str(data("templates", f"{_OURS}.tmpl"))) if template == _OURS else super()._find_template(template)

    def _list_templates(self) -> None:
        super()._list_templates()
        print(f"  {_OURS}")

    def _genspider(
        self, module: str, name: str, url: str, template_name: str, template_file: str | os.PathLike[str]
    ) -> Path:
        spider = super()._genspider(module, name, url, template_name, template_file)
        if template_name == _OURS:
            self._write_test(module, self._generate_template_variables(module, name, url, template_name))
        return spider

    def _write_test(self, module: str, values: dict[str, Any]) -> None:
        """The test goes to the project's tests, those of its spiders if they have a folder."""
        assert self.settings is not None
        project = closest_scrapy_cfg()
        folder = (Path(project).parent if project else Path()) / "tests"
        folder = folder / "spiders" if (folder / "spiders").is_dir() else folder
        test = folder / f"test_{module}.py"
        if test.exists():
            print(f"{test} is there already and was left as it is")
            return
        folder.mkdir(parents=True, exist_ok=True)
        template = Template(data("templates", f"test_{_OURS}.tmpl").read_text("utf-8"))
        package = self.settings.get("NEWSPIDER_MODULE")
        test.write_text(template.substitute(values, spiders=f"{package}." if package else ""), "utf-8")
        print(f"and its test:\n  {test}")
