"""Adding keywords to a topic file."""

from __future__ import annotations

import os
import shutil

import pytest

from focuscrawl import resources
from focuscrawl.errors import FocusError
from focuscrawl.seeding.topic_file import add_keywords, writable_file
from focuscrawl.topic import load_topic

NEW = {"merge sort": 2.0, "schön": 1.5, "heap": 1.0}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# ours\nname = 'Sorting'   # a comment\n\nkeywords = { sort = 5,  array = 3 } # weighted\nseeds = [\n  'http://a.example/', # the first\n]\n",
            "# ours\nname = 'Sorting'   # a comment\n\nkeywords = { sort = 5,  array = 3, \"merge sort\" = 2, \"schön\" = 1.5, heap = 1 } # weighted\nseeds = [\n  'http://a.example/', # the first\n]\n",
        ),
        (
            'name = "Sorting"\n[keywords]\nsort = 5 # often\n\n# the rest\narray = 3\n',
            'name = "Sorting"\n[keywords]\nsort = 5 # often\n\n# the rest\narray = 3\n"merge sort" = 2\n"schön" = 1.5\nheap = 1\n',
        ),
        (
            'name = "Sorting"\nkeywords = [\n    "sort", # often\n    "array",\n]\nlabel = "x"\n',
            'name = "Sorting"\nkeywords = [\n    "sort", # often\n    "array",\n    "merge sort",\n    "schön",\n    "heap",\n]\nlabel = "x"\n',
        ),
        ('name = "Sorting"\n', 'name = "Sorting"\nkeywords = { "merge sort" = 2, "schön" = 1.5, heap = 1 }\n'),
    ],
    ids=["inline", "table", "list", "none"],
)
def test_comments_and_layout_stay(tmp_path, before, after):
    path = tmp_path / "t.toml"
    path.write_text(before, "utf-8")
    add_keywords(path, NEW)
    assert path.read_text("utf-8") == after
    assert NEW.keys() <= load_topic(str(path)).keywords.keys()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_byte_order_mark_and_permissions_stay(tmp_path, end):
    path = tmp_path / "t.toml"
    path.write_bytes(f"\ufeffname = 'x'{end}keywords = {{ a1 = 1 }}{end}# end{end}".encode())
    path.chmod(0o640)
    add_keywords(path, {"b1": 2.0})
    assert path.read_bytes() == f"\ufeffname = 'x'{end}keywords = {{ a1 = 1, b1 = 2 }}{end}# end{end}".encode()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("keywords = {}", "keywords = { heap = 1 }"),
        ("keywords = {a1=1}", "keywords = {a1=1, heap = 1}"),
        ("keywords = []", 'keywords = ["heap"]'),
        ("keywords = ['a, }#', 'b1'] # [", "keywords = ['a, }#', 'b1', \"heap\"] # ["),
        ("keywords = ['a1',]", "keywords = ['a1', \"heap\",]"),
        (
            "keywords = [\n  'a1', # a, b]\n  'b1' # the last\n]",
            "keywords = [\n  'a1', # a, b]\n  'b1', # the last\n  \"heap\",\n]",
        ),
        ('keywords = { "a } \\" , #" = 1 } # }', 'keywords = { "a } \\" , #" = 1, heap = 1 } # }'),
        (
            "keywords.a1 = 5\nkeywords.b1 = 3 # slow\nlabel = ''",
            "keywords.a1 = 5\nkeywords.b1 = 3 # slow\nkeywords.heap = 1\nlabel = ''",
        ),
        ("[keywords] # mine", "[keywords] # mine\nheap = 1"),
        ("[keywords]\na1 = 1\n# b1 = 2", "[keywords]\na1 = 1\nheap = 1\n# b1 = 2"),
        ("label = 'x' # keywords = {}", "label = 'x' # keywords = {}\nkeywords = { heap = 1 }"),
    ],
)
def test_every_way_to_write_keywords(tmp_path, before, after):
    path = tmp_path / "t.toml"
    path.write_text(f"name = 'x'\n{before}\n")
    add_keywords(path, {"heap": 1.0})
    assert path.read_text() == f"name = 'x'\n{after}\n"
    assert load_topic(str(path)).keywords["heap"] == 1


@pytest.mark.parametrize(
    "content",
    [
        'name = \'x\'\ndescription = """\nkeywords = { a1 = 1 }\n"""\n',
        "name = 'x'\n'keywords'.a1 = 1\n",
    ],
)
def test_what_is_written_in_an_unusual_way_is_left_alone(tmp_path, content):
    path = tmp_path / "t.toml"
    path.write_text(content)
    with pytest.raises(FocusError, match='unusual way; add these to its keywords yourself: "heap" = 1'):
        add_keywords(path, {"heap": 1.0})
    assert path.read_text() == content


def test_every_shipped_topic_can_be_copied_and_changed(tmp_path):
    for file in resources.data("topics").iterdir():
        if file.name.endswith(".toml"):
            path = tmp_path / file.name
            path.write_bytes(file.read_bytes())
            add_keywords(writable_file(str(path)), {"zebra crossing": 2.0})
            changed = [
                (old, new)
                for old, new in zip(
                    file.read_text("utf-8").splitlines(), path.read_text("utf-8").splitlines(), strict=True
                )
                if old != new
            ]
            assert [new.replace(', "zebra crossing" = 2', "") for _, new in changed] == [changed[0][0]]


def test_topics_that_ship_with_the_project_are_not_changed():
    with pytest.raises(
        FocusError, match=r"topic 'sorting' ships with focuscrawl and is not changed; copy .*sorting.toml"
    ):
        writable_file("sorting")
    path = resources.data("topics", "sorting.toml")
    with pytest.raises(FocusError, match="ships with focuscrawl"):
        writable_file(str(path))


def test_a_link_is_not_replaced(tmp_path):
    (tmp_path / "t.toml").write_text("name = 'x'\n")
    (tmp_path / "link.toml").symlink_to(tmp_path / "t.toml")
    with pytest.raises(FocusError, match=r"is a link to .*t.toml; give that file"):
        writable_file(str(tmp_path / "link.toml"))


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text("name = 'x'\n")
    path.chmod(0o400)
    with pytest.raises(FocusError, match="is read-only; make it writable"):
        add_keywords(path, NEW)
    assert path.read_text() == "name = 'x'\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "t.toml").write_text("name = 'x'\n")
    folder.chmod(0o500)
    try:
        with pytest.raises(FocusError, match="cannot be written: Permission denied"):
            add_keywords(folder / "t.toml", NEW)
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)
