"""WordNet: words that mean the same as a term, and narrower terms.

nltk reads it. Its data is not part of focuscrawl and never downloaded: it is taken from the folders of nltk's own
downloader, or from Debian's package wordnet-base, which lacks two files that nltk asks for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.topic import Topic

#: Where Debian's wordnet-base puts the data.
DEBIAN = "/usr/share/wordnet"

_REMEDY = "install its data with `python -m nltk.downloader wordnet`, or on Debian with `apt install wordnet-base`"

#: Related terms of one keyword, closest first: `animal` has thousands, and each makes scoring a link slower.
MOST = 20

SYNONYM, NARROWER = "synonym", "narrower"

#: Usages of terms that nobody wants to be given.
_INSULTS = ("disparagement", "ethnic_slur", "obscenity")

# Debian leaves out the file `lexnames`: the names of the files that lexicographers wrote, by number, in all versions.
_LEXNAMES = (
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute"),
    *("noun.body", "noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food", "noun.group"),
    *("noun.location", "noun.motive", "noun.object", "noun.person", "noun.phenomenon", "noun.plant"),
    *("noun.possession", "noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state"),
    *("noun.substance", "noun.time", "verb.body", "verb.change", "verb.cognition", "verb.communication"),
    *("verb.competition", "verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion"),
    *("verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather", "adj.ppl"),
)


class Relation(NamedTuple):
    """How a term is related to a keyword: 1 for a synonym, 1/2 for a term one step below, 1/3 for two steps."""

    kind: str
    strength: float


class WordNet:
    """Related terms by WordNet."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    @classmethod
    def open(cls) -> WordNet:
        """Read the data; raises FocusError if there is none. Takes a second, and 70 MB of memory."""
        for place in _places():
            try:
                return cls(_reader(place))
            except Exception as error:  # nltk raises whatever it trips over
                raise FocusError(f"WordNet in {place} cannot be read: {error}; {_REMEDY}") from None
        raise FocusError(f"WordNet is not installed; {_REMEDY}")

    def related(self, term: str, context: Collection[str], least: float) -> dict[str, Relation]:
        """Synonyms and narrower terms of a term in one of its senses, with a strength of at least *least*.

        *context*: stems of the topic. The sense is the one whose definition and neighbours share most of them (Lesk).
        """
        sense = self._sense(term, context)
        if sense is None:
            return {}
        own = tuple(words.stems(words.tokenize(term)))
        found: dict[str, Relation] = {}
        seen = {own}
        for steps, synset in _downwards(sense, least):
            relation = Relation(NARROWER if steps else SYNONYM, 1 / (1 + steps))
            if _is_insult(synset):
                continue
            for name in synset.lemma_names():
                text = name.replace("_", " ").lower()
                stems = tuple(words.stems(words.tokenize(text)))
                if stems and stems not in seen:
                    seen.add(stems)
                    found[text] = relation
            if len(found) >= MOST:
                break
        return dict(list(found.items())[:MOST])

    def _sense(self, term: str, context: Collection[str]) -> Any:
        senses = self._reader.synsets("_".join(words.tokenize(term)))
        if not senses:
            return None
        telling = set(context) - set(words.stems(words.tokenize(term)))
        # WordNet lists the commonest sense first, and max() keeps the first of equals
        return max(senses, key=lambda sense: len(telling & _surroundings(sense)))

    def ontology(self, topic: Topic, least: float) -> dict[str, dict[str, float]]:
        """The terms related to each keyword of a topic, as the ontology of `link_semantics`."""
        context = context_of(topic)
        return {
            keyword: {other: relation.strength for other, relation in self.related(keyword, context, least).items()}
            for keyword in topic.keywords
        }


def context_of(topic: Topic) -> set[str]:
    """The stems by which the sense of a keyword is chosen: those of the topic's name, description and keywords."""
    from focuscrawl.learning.texts import tells

    text = " ".join((topic.name, topic.description, *topic.keywords))
    return {stem for stem in words.stems(words.tokenize(text)) if tells(stem)}


def _surroundings(sense: Any) -> set[str]:
    """The stems of a sense's definition, examples and synonyms, and of the senses above and below it."""
    around = [sense, *sense.hypernyms(), *sense.hyponyms()]
    texts = [text for synset in around for text in (synset.definition(), *synset.examples(), *synset.lemma_names())]
    return set(words.stems(words.tokenize(" ".join(texts).replace("_", " "))))


def _downwards(sense: Any, least: float) -> Iterator[tuple[int, Any]]:
    """A sense and those below it, nearest first, with the number of steps."""
    level, steps, seen = [sense], 0, {sense}
    while level and 1 / (1 + steps) >= least:
        yield from ((steps, synset) for synset in level)
        # nltk has them in a set: a resumed crawl must choose the same ones
        below = [synset for parent in level for synset in sorted(parent.hyponyms(), key=lambda one: one.offset())]
        level = [synset for synset in dict.fromkeys(below) if synset not in seen]
        seen.update(level)
        steps += 1


def _is_insult(synset: Any) -> bool:
    """Whether WordNet marks a term as a slur or an obscenity."""
    return any(domain.name().partition(".")[0] in _INSULTS for domain in synset.usage_domains())


# ---- the data


def _places() -> Iterator[str]:
    """The folders, or zip files, that hold WordNet's data."""
    import nltk.data

    given = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    for folder in dict.fromkeys((*filter(None, given), *map(str, nltk.data.path))):
        for place in (Path(folder, "corpora", "wordnet"), Path(folder, "corpora", "wordnet.zip")):
            if place.exists():
                yield str(place)
    if Path(DEBIAN).is_dir():
        yield DEBIAN


def _reader(place: str) -> Any:
    """nltk's reader of a folder or zip file with WordNet's data."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            """Open one of its files; the names of the lexicographers' files are known if the file is missing."""
            if file == "lexnames":
                return StringIO("".join(f"{number:02}\t{name}\t0\n" for number, name in enumerate(_LEXNAMES)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Not needed: it maps other languages to this version, by the file that Debian leaves out."""

    if place not in nltk.data.path:
        nltk.data.path.append(place)  # nltk reads nothing from other folders
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that there are no other languages
        if place.endswith(".zip"):
            return Reader(nltk.data.ZipFilePathPointer(place, "wordnet/"), None)
        return Reader(place, None)
