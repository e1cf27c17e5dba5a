"""A WordNet of a few words, in the format of the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_LICENCE = "  1 This line is where the licence of WordNet 3.0 Copyright 2006 stands.  \n"


class Sense(NamedTuple):
    """A sense: its words, its definition, the names of the senses below it, and of those that say how it is used."""

    names: Sequence[str]
    gloss: str
    below: Sequence[str] = ()
    usage: Sequence[str] = ()


#: `sort` has two senses; the commoner one comes first.
SENSES = {
    "kind": Sense(["kind", "sort"], "a category of things that share a quality", ["style"]),
    "style": Sense(["style"], "a particular kind, as to appearance"),
    "sorting": Sense(
        ["sort", "sorting", "put_in_order"], "an operation of a computer that puts items in order", ["merge"]
    ),
    "merge": Sense(["merge_sort", "mergesort"], "to sort by merging", ["timsort", "bad"]),
    "timsort": Sense(["timsort"], "a merge sort that uses runs"),
    "bad": Sense(["badword"], "a word that nobody wants to be given", (), ["slur"]),
    "slur": Sense(["ethnic_slur"], "a slur"),
}


def write_wordnet(folder: Path, senses: Mapping[str, Sense] = SENSES) -> Path:
    """Write the files of WordNet, all senses nouns, as Debian has them: without `lexnames` and `index.sense`."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS.values():
        for name in (f"data.{part}", f"index.{part}"):
            (folder / name).write_text(_LICENCE)
        (folder / f"{part}.exc").write_text("")
    (folder / "noun.exc").write_text("oxen ox\n")
    (folder / "cntlist.rev").write_text("")
    # a line's offset is its name, so lines are made twice: the offsets do not change their lengths
    offsets = dict.fromkeys(senses, 0)
    for _ in range(2):
        lines = {name: _line(name, senses, offsets) for name in senses}
        place = len(_LICENCE)
        for name, line in lines.items():
            offsets[name] = place
            place += len(line)
    (folder / "data.noun").write_text(_LICENCE + "".join(lines.values()))
    meanings: dict[str, list[int]] = {}
    for name, sense in senses.items():
        for word in sense.names:
            meanings.setdefault(word, []).append(offsets[name])
    index = "".join(
        f"{word} n {len(found)} 0 {len(found)} 0 {' '.join(f'{offset:08}' for offset in found)}  \n"
        for word, found in sorted(meanings.items())
    )
    (folder / "index.noun").write_text(_LICENCE + index)
    return folder


def _line(name: str, senses: Mapping[str, Sense], offsets: Mapping[str, int]) -> str:
    sense = senses[name]
    above = [other for other, its in senses.items() if name in its.below]
    pointers = [
        f"{symbol} {offsets[other]:08} n 0000"
        for symbol, others in (("@", above), ("~", sense.below), (";u", sense.usage))
        for other in others
    ]
    words = " ".join(f"{word} 0" for word in sense.names)
    return " ".join(
        [
            f"{offsets[name]:08} 03 n {len(sense.names):02x} {words} {len(pointers):03}",
            *pointers,
            f"| {sense.gloss}  \n",
        ]
    )
