"""What was learned, and why a link or a page is scored as it is, in words."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from focuscrawl import words
from focuscrawl.page import Link, Page
from focuscrawl.strategies.adaptive.evidence import Evidence
from focuscrawl.strategies.adaptive.hashing import BITS, SIZE, hash_of, hashes, stem_hashes
from focuscrawl.strategies.adaptive.judge import PageJudge
from focuscrawl.strategies.adaptive.learner import LEAST, PARTS, Learner
from focuscrawl.strategies.adaptive.reading import KINDS, PLACES, Reading, link_words, names_of
from focuscrawl.strategies.adaptive.roles import ADDRESS, BEGINNING, ROLES, SHAPE, TITLE, in_role, words_in_roles

#: Words given as reasons of a judgement.
REASONS = 8
#: Words told of an anchor or a context.
TOLD = 3
#: Words, places and hosts that are told of what was learned.
TOLD_OF = 25


def explain(learner: Learner, url: int, link: Link) -> dict[str, float]:
    """The parts of the score of a waiting URL that matter, with the words of one of its links."""
    evidence = learner.evidence
    if url >= len(evidence.last) or not evidence.last[url]:
        return {}
    dense, sparse = learner.row(url).dense * learner.model.weights, evidence.sparse_part(np.array([url]))
    parts = [*dense.tolist(), *sparse.tolist()]
    told = zip(PARTS[1:], parts[1:], strict=True)
    named = {name: round(part, 2) for name, part in told if abs(part) >= LEAST}
    found = link_words(link)
    judged, of_link = evidence.word_weights, [*found.anchor, *found.url]
    for name, weights, stems in (
        ("anchor and URL", judged, of_link),
        ("context", judged, found.context),
        (PARTS[-1], evidence.sparse, [*of_link, *found.context, *found.heading]),
    ):
        if name in named:
            speaks = weights[hashes(stems)] if stems else np.zeros(0)
            if named[name] < 0:  # words against it are the reason
                speaks = -speaks
            weighed = zip((-speaks).tolist(), stems, strict=True)
            several = " ".join([words.bare(stem) for weight, stem in sorted({*weighed})[:TOLD] if weight < 0])
            named = {f"{key} ({several})" if key == name and several else key: value for key, value in named.items()}
    return named


def reasons(judge: PageJudge, reading: Reading, page: Page) -> dict[str, float]:
    """The words that count most in the judgement of a page."""
    vector = reading.vector
    corrected = 0.0 if judge.supervised else judge.marked[vector.words]
    parts = judge.normal(vector) * (judge.scale.slope * judge.weights[vector.words] + corrected)
    sizes = np.abs(parts)
    least = np.partition(sizes, -REASONS)[-REASONS] if len(sizes) > REASONS else 0.0
    heavy = ((sizes >= least) & (sizes > 0)).nonzero()[0]
    best = heavy[np.argsort(-sizes[heavy], kind="stable")[:REASONS]]
    numbers = vector.words[best].tolist()
    wanted = set(numbers)
    names = {number: word for word, number in zip(reading.words, reading.hashes, strict=True) if number in wanted}
    stems = {number: words.bare(words.stem(word, vector.language)) for number, word in names.items()}
    if wanted - stems.keys():
        stems = _in_roles(reading, page) | stems
    told = zip(map(stems.get, numbers), parts[best].tolist(), strict=True)
    return {stem: round(part, 3) for stem, part in told if stem}  # nothing is left of the s of "bird's"


def _in_roles(reading: Reading, page: Page) -> dict[int, str]:
    """The words of a page by their hashes in the roles that they have there, as they are told."""
    found = {in_role(SHAPE, reading.place.shape): ROLES[SHAPE]}
    for role, word in words_in_roles(page):
        stem = words.stem(word, page.language)
        found[in_role(role, hash_of(stem))] = f"{words.bare(stem)} ({ROLES[role]})"
    return found


def learned(evidence: Evidence) -> dict[str, list[tuple[str, float]]]:
    """What speaks most for and against a page, and for and against a link, with its weight."""
    found: dict[str, list[tuple[str, float]]] = {}
    of_links = evidence.sparse.copy()
    of_links[SIZE:PLACES] = 0  # the same words once more
    for name, weights in (("page", evidence.word_weights), ("link", of_links)):
        order = np.argsort(weights, kind="stable")
        for side, places in (("for", order[::-1][:TOLD_OF]), ("against", order[:TOLD_OF])):
            chosen = [place for place in places.tolist() if (weights[place] > 0) == (side == "for") and weights[place]]
            names = names_of(chosen)
            if name == "page" and evidence.judge.supervised:
                names = _stems_in_roles(set(chosen) - names.keys()) | names
            told: dict[str, float] = {}
            for place in chosen:
                if stem := names.get(place):  # a keyword may be in several languages: the strongest is told
                    told.setdefault(
                        f"{KINDS[place >> BITS]}: {stem}" if name == "link" else stem, float(weights[place])
                    )
            found[f"{name} {side}"] = [(stem, round(weight, 3)) for stem, weight in told.items()]
    return found


def _stems_in_roles(features: Collection[int]) -> dict[int, str]:
    """The stems, by the features that they are in some role, as far as they are remembered."""
    found: dict[int, str] = {}
    for stem, number in stem_hashes.items():
        for role in (BEGINNING, TITLE, ADDRESS):
            feature = in_role(role, number)
            if feature in features:
                found[feature] = f"{words.bare(stem)} ({ROLES[role]})"
    return found
