"""The source of the embedded web: plain-text articles in `data/web/<topic>.txt`.

A file starts with `@topic`, `@title` and `@about`; `= Title` starts an article, `== Heading` a section of it, and every
other line is a paragraph. `[[Title]]` or `[[Title|anchor]]` links to an article of the same file, `{{topic|anchor}}` to
another topic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINK = re.compile(r"\[\[([^\]|]*)(?:\|([^\]]*))?\]\]|\{\{([^}|]*)\|([^}]*)\}\}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass
class Article:
    """An article of the source: sections of paragraphs, which contain links."""

    topic: str
    title: str
    sections: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The title as part of a URL."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def paragraphs(self) -> list[str]:
        """All paragraphs, with link markup."""
        return [paragraph for _, paragraphs in self.sections for paragraph in paragraphs]

    @property
    def sentences(self) -> list[str]:
        """All sentences, without link markup."""
        return [sentence for paragraph in self.paragraphs for sentence in _SENTENCE.split(plain(paragraph))]

    @property
    def related(self) -> list[str]:
        """Titles of the articles this one links to."""
        return [match[1] for paragraph in self.paragraphs for match in LINK.finditer(paragraph) if match[1]]


@dataclass
class Subject:
    """A topic of the source."""

    topic: str
    title: str
    about: str
    articles: dict[str, Article] = field(default_factory=dict)


def plain(text: str) -> str:
    """Source text without link markup."""
    return LINK.sub(lambda match: match[2] or match[4] or match[1], text)


def read_subject(text: str) -> Subject:
    """Read a source file."""
    head = dict(re.findall(r"^@(\w+) (.*)$", text, re.MULTILINE))
    subject = Subject(head["topic"], head["title"], head["about"])
    article: Article | None = None
    for line in text.splitlines():
        if line.startswith("= "):
            article = Article(subject.topic, line[2:].strip(), [("", [])])
            subject.articles[article.title] = article
        elif line.startswith("== ") and article:
            article.sections.append((line[3:].strip(), []))
        elif line.strip() and article and not line.startswith("@"):
            article.sections[-1][1].append(line.strip())
    return subject
