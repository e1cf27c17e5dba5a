"""WordNet: synonyms and narrower terms of keywords."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.strategies import wordnet
from focuscrawl.strategies.wordnet import NARROWER, SYNONYM, Relation, WordNet, context_of
from focuscrawl.topic import Topic, load_topic
from tests.tiny_wordnet import Sense, write_wordnet

COMPUTERS = Topic("Sorting", "how a computer puts items in order", keywords={"sort": 2.0})


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without WordNet."""
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.delenv("NLTK_DATA", raising=False)
    monkeypatch.setattr(wordnet, "DEBIAN", str(tmp_path / "debian"))
    return tmp_path


@pytest.fixture
def tiny(nowhere):
    write_wordnet(nowhere / "debian")
    return WordNet.open()


def test_synonyms_and_narrower_terms_by_distance(tiny):
    assert tiny.related("sort", context_of(COMPUTERS), 0.3) == {
        "put in order": Relation(SYNONYM, 1.0),
        "merge sort": Relation(NARROWER, 0.5),
        "mergesort": Relation(NARROWER, 0.5),
        "timsort": Relation(NARROWER, pytest.approx(1 / 3)),
    }
    assert set(tiny.related("sort", context_of(COMPUTERS), 0.4)) == {"put in order", "merge sort", "mergesort"}


def test_the_sense_is_the_one_that_the_topic_speaks_of(tiny):
    quality = context_of(Topic("Taxonomy", "a category of things by their quality"))
    assert set(tiny.related("sort", quality, 0.3)) == {"kind", "style"}
    assert set(tiny.related("sort", [], 0.3)) == {"kind", "style"}, "without a topic, the commonest one"


def test_forms_and_phrases_are_found_and_unknown_words_have_no_relations(tiny):
    assert "put in order" in tiny.related("sorts", context_of(COMPUTERS), 0.3)
    assert set(tiny.related("Merge sort", [], 0.5)) == {"mergesort", "timsort"}
    assert tiny.related("zebra", [], 0.3) == {}


def test_the_ontology_of_a_topic(tiny):
    found = tiny.ontology(COMPUTERS, 0.5)
    assert found == {"sort": {"put in order": 1.0, "merge sort": 0.5, "mergesort": 0.5}}


def test_the_same_terms_are_chosen_in_every_process(tmp_path):
    """Of more narrower terms than are kept, and whatever Python's hash seed: a resumed crawl scores links the same."""
    kinds = {f"kind{number}": Sense([f"kind{number}"], "a kind of thing") for number in range(60)}
    write_wordnet(tmp_path / "corpora" / "wordnet", {"thing": Sense(["thing"], "a thing", list(kinds)), **kinds})
    program = "from focuscrawl.strategies.wordnet import WordNet; print(list(WordNet.open().related('thing', [], 0.3)))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NLTK_DATA": str(tmp_path), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert printed == {f"{[f'kind{number}' for number in range(20)]}\n"}


@pytest.mark.parametrize("given_by", ["path", "environment"])
def test_data_of_nltks_downloader_is_found(nowhere, monkeypatch, given_by):
    import nltk.data

    write_wordnet(nowhere / "data" / "corpora" / "wordnet")
    if given_by == "path":
        monkeypatch.setattr(nltk.data, "path", [str(nowhere / "data")])
    else:
        monkeypatch.setenv("NLTK_DATA", str(nowhere / "data"))
    assert "style" in WordNet.open().related("sort", [], 0.3)


def test_a_zip_file_of_nltks_downloader_is_read_as_it_is(nowhere, monkeypatch):
    import nltk.data

    files = write_wordnet(nowhere / "files")
    (nowhere / "data" / "corpora").mkdir(parents=True)
    with zipfile.ZipFile(nowhere / "data" / "corpora" / "wordnet.zip", "w") as packed:
        packed.writestr("wordnet/", "")
        for file in sorted(files.iterdir()):
            packed.write(file, f"wordnet/{file.name}")
    monkeypatch.setattr(nltk.data, "path", [str(nowhere / "data")])
    assert "style" in WordNet.open().related("sort", [], 0.3)


def test_missing_data_costs_one_line_with_the_remedy(nowhere):
    with pytest.raises(FocusError) as caught:
        WordNet.open()
    assert str(caught.value) == (
        "WordNet is not installed; install its data with `python -m nltk.downloader wordnet`, or on Debian with"
        " `apt install wordnet-base`"
    )


def test_damaged_data_is_named(nowhere):
    write_wordnet(nowhere / "debian")
    (nowhere / "debian" / "index.noun").write_text("sort n one\n")
    with pytest.raises(
        FocusError, match=rf"WordNet in {re.escape(str(nowhere))}.* cannot be read: .*; install its data"
    ):
        WordNet.open()


@pytest.mark.slow
@pytest.mark.skipif(not Path(wordnet.DEBIAN).is_dir(), reason="Debian's wordnet-base is not installed")
def test_the_real_data_of_debian(monkeypatch):
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    found = WordNet.open().ontology(load_topic("railways"), 0.3)
    assert found["railway"]["railroad"] == 1.0
    assert found["locomotive"]["steam locomotive"] == 0.5
    assert "police station" in found["station"], "no sense of it is about railways"
