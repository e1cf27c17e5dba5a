"""Exports are read back by tools that are not ours."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sqlite3
import tracemalloc
import zipfile
from base64 import b32encode

import networkx
import pyarrow.parquet
import pytest
import yaml
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from focuscrawl.errors import FocusError
from focuscrawl.export import parquet
from focuscrawl.export.export import FORMATS, Export
from focuscrawl.export.lines import undo_cell
from focuscrawl.store import exports
from focuscrawl.testing import at, crawl
from tests.export.crawls import DIRTY, FORMULA, TEXT, hostile_crawl, hostile_web, write_large


def export(folder, to, place, **options):
    """Export a crawl, and return the number of pages."""
    return Export(to, **options).run(folder, place, lambda items, _: items)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    return hostile_crawl(tmp_path_factory.mktemp("hostile") / "crawl")


@pytest.fixture(scope="module")
def by_url(crawled):
    """The stored pages that may be exported, by URL: title, body."""
    rows = crawled.sql(
        "SELECT url, title, body FROM page WHERE problem IS NULL AND (withheld IS NULL OR withheld = 'copy')"
    )
    return {url: (title, body) for url, title, body in rows}


def test_the_hostile_crawl_has_what_the_tests_are_about(by_url):
    assert at("other/dirty") in by_url
    assert at("other/noindex") not in by_url
    assert any(title.startswith("=cmd") for title, _ in by_url.values())
    assert [url for url, (_, body) in by_url.items() if body is None], "a copy"


# ---- lines


def test_json_lines_are_read_by_json(crawled, by_url, tmp_path):
    assert export(crawled.folder, "jsonl", tmp_path / "o.jsonl") == len(by_url)
    lines = (tmp_path / "o.jsonl").read_text("utf-8").splitlines()  # also at separators that only some know
    records = {record["url"]: record for record in map(json.loads, lines)}
    assert {url: record["title"] for url, record in records.items()} == {
        url: title for url, (title, _) in by_url.items()
    }
    assert TEXT in records[at("root")]["text"]
    assert records[at("other/licensed")]["licences"] == ["https://creativecommons.org/licenses/by/4.0/"]
    assert (records[at("other/licensed")]["language"], records[at("other/licensed")]["content_languages"]) == (
        "de",
        "deu",
    )
    assert records[at("other/dirty")]["content_digest"] == b32encode(hashlib.sha1(DIRTY).digest()).decode()


def test_csv_survives_formulas_quotes_and_line_breaks_and_can_be_undone(crawled, by_url, tmp_path):
    export(crawled.folder, "csv", tmp_path / "o.csv")
    with (tmp_path / "o.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["url"]: undo_cell(row["title"]) for row in rows} == {url: title for url, (title, _) in by_url.items()}
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert f"'{FORMULA}" in cells


def test_text_has_title_url_and_text(crawled, tmp_path):
    export(crawled.folder, "text", tmp_path / "o.txt", where=["url=root"])
    assert f"# root\n# {at('root')}\n\n{TEXT}" in (tmp_path / "o.txt").read_text("utf-8")


# ---- Parquet


def test_parquet_is_read_by_pyarrow_with_common_crawls_names(crawled, by_url, tmp_path):
    pages = export(crawled.folder, "parquet", tmp_path / "o", rows=5)
    files = sorted((tmp_path / "o" / "data").glob("*.parquet"))
    assert [file.name for file in files] == [
        f"train-{number:05}-of-{len(files):05}.parquet" for number in range(len(files))
    ]
    assert len(files) == -(-pages // 5)
    table = pyarrow.parquet.read_table(tmp_path / "o" / "data")
    rows = {row["url"]: row for row in table.to_pylist()}
    assert len(rows) == table.num_rows == len(by_url)
    assert {url: row["title"] for url, row in rows.items()} == {url: title for url, (title, _) in by_url.items()}
    root = rows[at("root")]
    assert (root["url_host_name"], root["url_protocol"], root["url_path"]) == ("root.example", "http", "/")
    assert (root["fetch_status"], root["content_mime_type"], root["depth"]) == (200, "text/html", 0)
    assert root["fetch_time"].tzinfo is not None
    copies = [row for row in rows.values() if row["duplicate_group"] != row["id"]]
    assert [rows_of["url"] for rows_of in copies] == [url for url, (_, body) in by_url.items() if body is None]
    assert "word for word" in copies[0]["text"]


def test_the_card_has_the_header_of_the_hub(crawled, tmp_path):
    export(crawled.folder, "parquet", tmp_path / "o")
    card = (tmp_path / "o" / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["configs"][0]["data_files"] == [{"split": "train", "path": "data/*.parquet"}]
    assert set(header["language"]) == {"de", "en"}
    assert header["size_categories"] == ["n<1K"]


# ---- graphs


def read_edges(path):
    with path.open(encoding="utf-8") as file:
        names = next(file).rstrip("\n").split("\t")
        data = [("weight", int), *((name.lower(), str) for name in names[3:])]
        lines = (line.rstrip("\n") for line in file)
        return networkx.parse_edgelist(lines, comments=None, delimiter="\t", create_using=networkx.DiGraph, data=data)


def test_graphs_are_opened_by_networkx(crawled, by_url, tmp_path):
    export(crawled.folder, "graphml", tmp_path / "o.graphml")
    export(crawled.folder, "edges", tmp_path / "o.tsv")
    export(crawled.folder, "graph", tmp_path / "o")
    graph = networkx.read_graphml(tmp_path / "o.graphml")
    assert set(graph) == set(by_url)
    assert graph.edges[at("other/formula"), at("root")]["weight"] == 2
    assert graph.nodes[at("other/formula")]["label"] == FORMULA
    assert 0 <= graph.nodes[at("root")]["relevance"] <= 1
    # a link to a URL that was redirected leads to the page it was redirected to
    assert graph.has_edge(at("root"), at("other/target"))
    edges = read_edges(tmp_path / "o.tsv")
    assert {*edges.edges} == {*graph.edges}
    assert edges.edges[at("other/formula"), at("root")]["weight"] == 2
    table = pyarrow.parquet.read_table(tmp_path / "o" / "edges.parquet").to_pylist()
    assert {(row["source"], row["target"]) for row in table} == {*graph.edges}
    assert pyarrow.parquet.read_table(tmp_path / "o" / "nodes.parquet").num_rows == len(by_url)


def test_the_graph_of_hosts_counts_links_between_them(crawled, tmp_path):
    export(crawled.folder, "graphml", tmp_path / "o.graphml", by="host")
    graph = networkx.read_graphml(tmp_path / "o.graphml")
    assert set(graph) == {"root.example", "other.example"}
    links = crawled.sql("SELECT count(*) FROM link JOIN url ON url.id = url_id WHERE url.url LIKE 'http://root%'")[0][0]
    assert graph.edges["other.example", "root.example"]["weight"] == links


def test_links_to_what_was_not_fetched_are_there_on_request(tmp_path):
    web = hostile_web()
    crawled = crawl("breadth_first", web, tmp_path / "crawl", seeds=at("root"), keywords="sorting", max_pages=2)
    for unfetched in (False, True):
        export(crawled.folder, "graphml", tmp_path / "o.graphml", unfetched=unfetched, force=True)
        graph = networkx.read_graphml(tmp_path / "o.graphml")
        assert all("fetched" in data for _, data in graph.nodes(data=True)), "every node of an edge is declared"
        assert (len(graph) > 2) == unfetched


# ---- chunks


def test_chunks_have_stable_ids_and_their_source(crawled, tmp_path):
    for name, dedupe in (("one", False), ("two", True)):
        export(crawled.folder, "chunks", tmp_path / name, chunk=200, dedupe=dedupe)
    one, two = ([json.loads(line) for line in (tmp_path / name).open(encoding="utf-8")] for name in ("one", "two"))
    ids = [chunk["id"] for chunk in one]
    assert len(ids) == len(set(ids)) > len(two)
    assert {chunk["id"] for chunk in two} < set(ids)
    assert all(0 < len(chunk["text"]) <= 200 for chunk in one)
    assert {"url", "title", "fetched_at", "licences", "rights", "position"} <= one[0].keys()


# ---- archives


def test_warc_is_checked_and_read_by_warcio(crawled, tmp_path):
    export(crawled.folder, "warc", tmp_path / "o.warc.gz")
    stored = dict(crawled.sql("SELECT url, body FROM page WHERE withheld IS NOT 'noindex'"))
    found, revisits, targets = {}, {}, {}
    with (tmp_path / "o.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            url = record.rec_headers["WARC-Target-URI"]
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "301":
                targets[url] = record.http_headers["Location"]
            elif record.rec_type == "response":
                found[url] = record.content_stream().read()
            elif record.rec_type == "revisit":
                revisits[url] = record.rec_headers["WARC-Refers-To-Target-URI"]
            elif record.rec_type == "warcinfo":
                assert b"from the pages that the crawl stored" in record.content_stream().read()
    assert found[at("other/dirty")] == DIRTY
    assert at("other/noindex") not in found
    assert found.keys() | revisits.keys() == stored.keys()
    assert targets == {at("other/moved"): at("other/target")}
    assert len(revisits) == 1
    assert set(revisits.values()) <= found.keys()


def test_warc_passes_the_check_of_warcio(crawled, tmp_path, capsys):
    class Options:
        verbose = False
        inputs = (str(tmp_path / "o.warc.gz"),)

    export(crawled.folder, "warc", tmp_path / "o.warc.gz")
    assert Checker(Options).process_all() == 0


def test_wacz_is_valid_and_its_index_is_the_usual_one(crawled, tmp_path, capsys):
    wacz = pytest.importorskip("wacz.main", exc_type=ImportError)
    indexer = pytest.importorskip("cdxj_indexer.main", exc_type=ImportError)
    place = tmp_path / "o.wacz"
    export(crawled.folder, "wacz", place)
    assert wacz.main(["validate", "-f", str(place)]) == 0
    assert "Validation succeeded" in capsys.readouterr().out
    with zipfile.ZipFile(place) as archive:
        ours = archive.read("indexes/index.cdxj").decode().splitlines()
        archive.extract("archive/data.warc.gz", tmp_path)
        pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
    theirs = io.StringIO()
    indexer.CDXJIndexer(theirs, [str(tmp_path / "archive" / "data.warc.gz")], sort=True).process_all()
    assert ours == [
        line for line in theirs.getvalue().splitlines() if not line.startswith("- ")
    ]  # that is the warcinfo
    data = (tmp_path / "archive" / "data.warc.gz").read_bytes()
    for line in ours:
        entry = json.loads(line.split(" ", 2)[2])
        start = int(entry["offset"])
        member = gzip.decompress(data[start : start + int(entry["length"])])
        assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in member
    assert {page["url"] for page in pages[1:]} <= {json.loads(line.split(" ", 2)[2])["url"] for line in ours}


# ---- what is exported


@pytest.mark.parametrize(
    ("where", "query"),
    [
        ("matched", "matched"),
        ("!matched, relevance<0.5", "NOT matched AND relevance < 0.5"),
        ("language=de", "language = 'de'"),
        ("language!=de|fr", "language NOT IN ('de', 'fr')"),
        ("host=other.example", "url LIKE 'http://other.%'"),
        ("host=example,depth=0", "depth = 0"),
        ("licence", "id IN (SELECT page FROM rights WHERE licences NOT NULL)"),
        ("licence=licenses/by/", "id IN (SELECT page FROM rights WHERE licences NOT NULL)"),
        ("rights!=unlicensed", "id IN (SELECT page FROM rights WHERE licences NOT NULL)"),
        ("rights=ai-train", "url LIKE '%/usage'"),
        ("rights!=ai-train,depth>0", "url NOT LIKE '%/usage' AND depth > 0"),
        ('url="a=1,2"', "url LIKE '%a=1,2%'"),
        ("date>=2020,date<2021", "0"),
        ("date>=2020", "1"),
        ("marked=yes", "0"),
        ("!marked", "1"),
    ],
)
def test_conditions_select_pages(crawled, tmp_path, where, query):
    export(crawled.folder, "jsonl", tmp_path / "o", where=[where], text="none")
    found = [json.loads(line)["id"] for line in (tmp_path / "o").open(encoding="utf-8")]
    expected = crawled.sql(
        "SELECT id FROM page WHERE problem IS NULL AND (withheld IS NULL OR withheld = 'copy')"
        f" AND ({query}) ORDER BY id"
    )
    assert found == [number for (number,) in expected]


def test_the_last_mark_of_a_page_counts(tmp_path):
    crawled = hostile_crawl(tmp_path / "crawl")
    ((key,),) = crawled.sql("SELECT key FROM url WHERE url = ?", at("root"))
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as file:
        for verdict in ("no", "yes"):
            file.execute(
                "INSERT INTO mark (key, url, verdict, note, marked_by, marked_at) VALUES (?, ?, ?, '', '', '')",
                (key, at("root"), verdict),
            )
    file.close()
    assert export(crawled.folder, "jsonl", tmp_path / "o", where=["marked=yes"]) == 1
    assert json.loads((tmp_path / "o").read_text("utf-8"))["mark"] == "yes"
    assert export(crawled.folder, "jsonl", tmp_path / "n", where=["marked=no"]) == 0


def test_pages_that_could_not_be_read_are_there_if_asked_for(crawled, tmp_path):
    export(crawled.folder, "jsonl", tmp_path / "o", where=["status=404"])
    found = [json.loads(line) for line in (tmp_path / "o").open(encoding="utf-8")]
    assert at("other/missing") in [record["url"] for record in found]
    assert all(record["problem"] for record in found)


def test_dedupe_keeps_the_first_of_the_group_that_is_selected(crawled, tmp_path):
    everything = export(crawled.folder, "jsonl", tmp_path / "all", text="none")
    assert export(crawled.folder, "jsonl", tmp_path / "o", dedupe=True, text="none") == everything - 1
    copy = ["url=/same|/copy"]
    assert export(crawled.folder, "jsonl", tmp_path / "c", where=copy, dedupe=True, text="none") == 1


def test_a_copy_of_a_page_that_is_withheld_does_not_give_its_text_away(tmp_path):
    crawled = hostile_crawl(tmp_path / "crawl")
    ((copy, original),) = crawled.sql("SELECT id, duplicate_of FROM page WHERE duplicate_of NOT NULL")
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as file:
        file.execute("UPDATE page SET withheld = 'reservation: noai', matched = 0 WHERE id = ?", (original,))
    file.close()
    export(crawled.folder, "jsonl", tmp_path / "o")
    records = {record["id"]: record for record in map(json.loads, (tmp_path / "o").open(encoding="utf-8"))}
    assert original not in records
    assert records[copy]["text"] == ""


# ---- texts


def test_texts_are_the_best_the_fast_or_all(crawled, tmp_path):
    texts = {}
    for kind in ("best", "fast", "all", "none"):
        export(crawled.folder, "jsonl", tmp_path / kind, text=kind, where=["url=root.example"])
        texts[kind] = json.loads((tmp_path / kind).open().readline())["text"]
    assert TEXT in texts["best"]
    assert TEXT in texts["fast"]
    assert TEXT in texts["all"]
    assert texts["none"] is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["best", "fast"])
def test_several_processes_read_the_same_texts_in_the_same_order(crawled, tmp_path, kind):
    export(crawled.folder, "jsonl", tmp_path / "one", text=kind)
    export(crawled.folder, "jsonl", tmp_path / "many", text=kind, workers=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


@pytest.mark.slow
def test_a_body_of_ten_megabytes_survives(tmp_path):
    web = hostile_web(large=True)
    settings = {"DOWNLOAD_MAXSIZE": 0, "DOWNLOAD_WARNSIZE": 0}
    crawled = crawl("breadth_first", web, tmp_path / "crawl", settings, seeds=at("other/large"), keywords="sorting")
    body = web.get(at("other/large")).body
    assert len(body) > 10_000_000
    export(crawled.folder, "parquet", tmp_path / "o")
    (row,) = pyarrow.parquet.read_table(tmp_path / "o" / "data").to_pylist()
    assert row["content_digest"] == b32encode(hashlib.sha1(body).digest()).decode()
    assert len(row["text"]) > 1_000_000
    export(crawled.folder, "warc", tmp_path / "o.warc.gz")
    with (tmp_path / "o.warc.gz").open("rb") as file:
        bodies = [record.content_stream().read() for record in ArchiveIterator(file) if record.rec_type == "response"]
    assert bodies == [body]


# ---- outputs


def test_what_is_there_is_replaced_only_by_force(crawled, tmp_path):
    place = tmp_path / "o.jsonl"
    place.write_text("mine")
    with pytest.raises(FocusError, match="already exists; give --force"):
        export(crawled.folder, "jsonl", place)
    assert place.read_text() == "mine"
    export(crawled.folder, "jsonl", place, force=True)
    assert place.read_text() != "mine"


def test_a_folder_that_no_export_wrote_is_never_replaced(crawled, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(FocusError, match="was not written by an export"):
        export(crawled.folder, "parquet", tmp_path / "mine", force=True)
    with pytest.raises(FocusError, match="holds a crawl"):
        export(crawled.folder, "parquet", crawled.folder, force=True)


@pytest.mark.parametrize("to", FORMATS)
def test_interrupted_it_leaves_nothing_behind(crawled, tmp_path, to):
    def interrupt(items, _):
        yield next(iter(items))
        raise KeyboardInterrupt

    if to in ("edges", "graphml", "graph"):
        pytest.skip("graphs have no bar")
    with pytest.raises(KeyboardInterrupt):
        Export(to).run(crawled.folder, tmp_path / "out", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_exports_of_the_same_pages_are_the_same_bytes(crawled, tmp_path):
    for to in ("jsonl", "csv", "warc", "wacz", "graphml"):
        for name in ("one", "two"):
            export(crawled.folder, to, tmp_path / f"{to}.{name}")
        assert (tmp_path / f"{to}.one").read_bytes() == (tmp_path / f"{to}.two").read_bytes(), to


@pytest.mark.slow
def test_memory_does_not_grow_with_the_crawl(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_GROUP", 500)
    monkeypatch.setattr(exports, "STEP", 100)
    peaks = {}
    for pages in (1_500, 6_000):
        (tmp_path / str(pages)).mkdir()
        write_large(tmp_path / str(pages), pages)
        for to in ("jsonl", "parquet", "warc", "graphml"):
            tracemalloc.start()
            assert export(tmp_path / str(pages), to, tmp_path / f"{to}{pages}", text="none") == pages
            peaks.setdefault(to, []).append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    for to, (few, many) in peaks.items():
        assert many < 1.3 * few + 500_000, to
