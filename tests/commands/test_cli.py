"""The commands as users run them: what goes to stdout, what to stderr, and how they end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import pytrec_eval

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from tests.command_line import answer, process, sciretrieve
from tests.made_up import write_jsonl


def test_search_prints_a_table_within_80_columns(index: sr.Index) -> None:
    out = answer("search", "graph networks", "-i", index.path, "-k", "4", COLUMNS="80")
    lines = out.splitlines()
    assert [int(line.split()[0]) for line in lines[::2]] == [1, 2, 3, 4]
    assert all(len(line) <= 80 for line in lines)
    assert all(line.rstrip().split()[-1].startswith("p0") for line in lines[1::2])


def test_json_is_the_documented_schema(index: sr.Index) -> None:
    value = json.loads(answer("search", "graph networks", "-i", index.path, "-k", "2", "--format", "json"))
    assert {key: value[key] for key in ("schema", "query", "mode")} == {"schema": 1, "query": "graph networks", "mode": "hybrid"}
    assert value["total_time_ms"] > 0
    hit = value["hits"][0]
    assert hit["rank"] == 1
    assert set(hit) >= {"rank", "score", "id", "title", "year", "venue", "authors", "abstract", "scores", "extra"}
    assert set(hit["scores"]) == {"dense", "bm25"}
    assert hit["extra"]["topic"] == "graphs"
    assert json.loads(answer("search", "graph", "-i", index.path, "--mode", "bm25", "-f", "json"))["hits"][0]["scores"]["dense"] is None


def test_every_format_has_the_same_hits(index: sr.Index) -> None:
    ids = [hit.id for hit in index.search("star dust", 5).hits]
    ask = ("search", "star dust", "-i", index.path, "-k", "5", "--format")
    assert [json.loads(line)["id"] for line in answer(*ask, "jsonl").splitlines()] == ids
    assert [row["id"] for row in csv.DictReader(io.StringIO(answer(*ask, "csv")))] == ids
    assert [line.split()[2] for line in answer(*ask, "trec").splitlines()] == ids
    assert [line[6:] for line in answer(*ask, "ris").splitlines() if line.startswith("ID")] == ids
    assert re.findall(r"^@\w+{(.*),$", answer(*ask, "bibtex"), flags=re.MULTILINE) == ids
    assert [row["id"] for row in csv.DictReader(io.StringIO(answer(*ask, "tsv")), delimiter="\t")] == ids
    assert [item["id"] for item in json.loads(answer(*ask, "csl-json"))] == ids
    assert len(re.findall(r"^\d+\. ", answer(*ask, "markdown"), flags=re.MULTILINE)) == answer(*ask, "html").count("<li>") == len(ids)


def test_a_page_says_what_was_asked(index: sr.Index) -> None:
    page = answer("search", "star <dust>", "-i", index.path, "-k", "3", "--filter", "year < 2020", "-f", "html")
    assert "<title>star &lt;dust&gt;</title>" in page
    assert "<h1>star &lt;dust&gt;</h1>" in page
    facts = rf"mode: hybrid<br>filter: year &lt; 2020<br>index: {index.path.name}<br>date: \d{{4}}-\d\d-\d\d"
    facts += r"<br>found: \d+ papers have all of these words; \d+ are ranked<br>hits shown: 3"
    assert re.search(facts, page)
    assert "<h1>Papers like p0003</h1>" in answer("similar", "p0003", "-i", index.path, "-f", "html")


def test_filters_and_explanations(index: sr.Index) -> None:
    out = answer("search", "star telescope", "-i", index.path, "--filter", "year >= 2020", "--explain", "-k", "3", COLUMNS="200")
    hits = re.split(r"^ +(?=\d+ +-?\d\.\d{3} )", out, flags=re.MULTILINE)[1:]
    expected = index.search("star telescope", 3, filter="year >= 2020").hits
    assert len(hits) == len(expected) == 3
    for number, (text, hit) in enumerate(zip(hits, expected, strict=True), 1):
        rank, _, year, *_ = text.split()
        assert (int(rank), int(year)) == (number, hit.paper.year)
        assert int(year) >= 2020
        dense, bm25 = hit.scores["dense"], hit.scores["bm25"]
        assert re.search(rf"↳ dense rank [\d,]+ \({dense:.4f}\) · BM25 rank [\d,]+ \({bm25:.4f}\)", text)
        assert re.search(r"↳ words: (star|telescope) \d+\.\d", text)
        sentence = re.search(r"“(.*)”", text)
        assert sentence is None if not hit.paper.abstract else sentence and sentence[1] in hit.paper.abstract


@pytest.mark.parametrize("twice", [("--since", "2001", "--since", "2010"), ("--mode", "dense", "--mode", "bm25"), ("-k", "3", "-k", "4")])
def test_an_option_that_takes_one_value_is_given_once(twice: tuple[str, ...]) -> None:
    result = sciretrieve("search", "star", *twice)
    assert result.returncode == 2
    assert "is given 2 times; give it once" in result.stderr


@pytest.mark.parametrize("query", ["-survey graph", "-survey"])
def test_a_query_that_begins_with_a_minus_is_told_from_an_option(index: sr.Index, query: str) -> None:
    result = sciretrieve("search", query, "-i", index.path)
    assert result.returncode == 2
    assert result.stderr.startswith("sciretrieve: there is no option -s; a query that begins with a minus goes after --, at the end: ")
    assert len(result.stderr.splitlines()) == 1
    shown = result.stderr.strip().partition("at the end: ")[2]
    assert shlex.split(shown) == ["sciretrieve", "search", "--", query]
    if " " in query:
        hits = json.loads(answer("search", "-i", index.path, "-f", "json", *shlex.split(shown)[2:]))["hits"]
        assert hits
        assert not any("survey" in f"{hit['title']} {hit['abstract']}".lower() for hit in hits)


def test_an_option_that_there_is_not_is_told_as_usual(index: sr.Index) -> None:
    for words in (("search", "star", "--survey"), ("info", "-survey")):
        result = sciretrieve(*words, "-i", index.path)
        assert result.returncode == 2
        assert "No such option: -" in result.stderr


def test_no_hit_is_no_error(index: sr.Index) -> None:
    result = sciretrieve("search", "star", "-i", index.path, "--filter", "year > 3000")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "no paper matches\n")
    assert json.loads(answer("search", "star", "-i", index.path, "--filter", "year > 3000", "-f", "json"))["hits"] == []


def test_queries_and_ids_from_stdin(index: sr.Index) -> None:
    assert answer("search", "-", "-i", index.path, stdin="graph networks\n") == answer("search", "graph networks", "-i", index.path)
    assert answer("similar", "-", "-i", index.path, stdin="p0000\np0001\n") == answer("similar", "p0000", "p0001", "-i", index.path)


@pytest.mark.parametrize("name", ["queries.jsonl", "queries.tsv", "queries.txt", "beir"])
def test_batch_writes_a_run_that_trec_eval_reads(index: sr.Index, tmp_path: Path, name: str) -> None:
    texts = {"1": "graph networks", "2": "vaccine trial", "3": "star dust"}
    file = tmp_path / name
    if name == "beir":
        file.mkdir()
    if name in ("queries.jsonl", "beir"):
        file = file / "queries.jsonl" if name == "beir" else file
        file.write_text("".join(json.dumps({"_id": id, "text": text}) + "\n" for id, text in texts.items()))
    else:
        file.write_text("".join(f"{id}\t{text}\n" if name.endswith("tsv") else f"{text}\n" for id, text in texts.items()))
    result = sciretrieve("batch", tmp_path / name, "-i", index.path, "-o", tmp_path / "run.trec", "-k", "50")
    assert result.returncode == 0, result.stderr
    with (tmp_path / "run.trec").open() as lines:
        run = pytrec_eval.parse_run(lines)
    for number, (id, text) in enumerate(texts.items()):
        ids = index.search(list(texts.values()), 50, group=False).rankings[number].ids
        assert sorted(run[id], key=run[id].__getitem__, reverse=True) == ids
        assert text


def test_info(index: sr.Index) -> None:
    out = answer("info", "-i", index.path)
    for words in (
        "300 in 3 shards",
        f"granite, {index.reader.query_encoder.encoder.dim} dimensions",
        "flat, cosine",
        "lucene, k1 1.2, b 0.75",
        "citations (int64)",
    ):
        assert words in out
    value = json.loads(answer("info", "-i", index.path, "--format", "json"))
    assert value["manifest"]["papers"] == 300


def test_export(index: sr.Index, tmp_path: Path) -> None:
    result = sciretrieve("export", "-i", index.path, "-o", tmp_path / "out.parquet")
    assert result.returncode == 0, result.stderr
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == 300
    words = ("--query", "star NOT dust", "--filter", "year >= 2010", "--filter", "year < 2020")
    result = sciretrieve("export", "-i", index.path, "-o", tmp_path / "out.csv", *words)
    count = index.count("star NOT dust", ["year >= 2010", "year < 2020"])
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.startswith(f"{count} papers: {tmp_path / 'out.csv'}")
    assert len((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()) == 1 + count


def test_papers_that_cannot_be_compared_are_named(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": "heat", "n": "n/a"},
        {"id": "b", "title": "heat", "n": 7},
        {"id": "c", "title": "heat", "n": 3},
    ]
    path = sr.build(rows, tmp_path / "index", encoder=None, progress=False).path
    note = "1 paper left out, since their values do not compare with the filter's (`sciretrieve show` prints them): a\n"
    counted = sciretrieve("count", "heat", "-i", path, "--filter", "n > 5")
    assert (counted.stdout, counted.stderr) == ("#1  3  heat\n#2  1  n > 5\n#3  1  #1 AND #2\n", note)
    assert sciretrieve("count", "heat", "-i", path, "--filter", "n > 5", "-q").stderr == ""
    exported = sciretrieve("export", "-i", path, "-o", tmp_path / "out.csv", "--filter", "n > 5")
    assert exported.stderr.startswith(f"{note}1 paper: ")


def test_counting_prints_a_line_for_each_part(index: sr.Index) -> None:
    lines = answer("count", "star AND (dust OR orbit)", "-i", index.path, "--since", "2010").splitlines()
    texts = ["star", "dust", "orbit", "#2 OR #3", "#1 AND #4", "year >= 2010", "#5 AND #6"]
    assert [line.split(maxsplit=2) for line in lines] == [
        [f"#{line.number}", str(line.papers), text]
        for text, line in zip(texts, index.count_lines("star AND (dust OR orbit)", "year >= 2010"), strict=True)
    ]


def test_index_search_and_the_default_index(corpus: Path, tmp_path: Path) -> None:
    result = sciretrieve("index", corpus, "--dense", "none")
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "300 papers in 1 shard" in result.stderr
    assert "next: sciretrieve search" in result.stderr
    built = Path("indexes") / corpus.parent.name  # papers.jsonl says nothing
    assert (built / "manifest.json").exists()
    assert answer("search", "graph networks") == answer("search", "graph networks", "-i", built)
    os.utime(built / "manifest.json", (1, 1))
    quiet = sciretrieve("index", corpus, "--dense", "none", "-o", "indexes/later", "--limit", "3", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert "3 in 1 shard" in answer("info")


def test_a_corpus_from_stdin(corpus: Path) -> None:
    answer("index", "-", "-o", "piped", "--dense", "none", stdin=corpus.read_text())
    assert "300 in 1 shard" in answer("info", "-i", "piped")


def test_rejected_rows_are_told(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,title\n1,a good one\n2,\n1,again\n")
    result = sciretrieve("index", "p.csv", "--dense", "none")
    assert "rejected 2 rows: see indexes/p/rejected.jsonl" in result.stderr
    strict = sciretrieve("index", "p.csv", "--dense", "none", "--set", "strict=true", "-o", "strict")
    assert (strict.returncode, strict.stdout) == (2, "")
    assert "row 2: no title and no abstract" in strict.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["search", "x", "-i", "nowhere"], 2, "there is no index at nowhere"),
        (["search", "x"], 2, "there is no index in ./indexes"),
        (["search", " ", "-i", "INDEX"], 2, "the query is empty"),
        (["search", "x", "-i", "INDEX", "--filter", "yaer > 1"], 2, "did you mean 'year'"),
        (["search", "x", "-i", "INDEX", "--filter", "year > 'a'"], 2, "does not compare"),
        (["similar", "nobody", "-i", "INDEX"], 2, "there is no paper 'nobody'"),
        (["search", "x", "--like", "nobody", "-i", "INDEX"], 2, "there is no paper 'nobody'"),
        (["search", "x", "--like", "p0001", "--unlike", "p0001", "-i", "INDEX"], 2, "'p0001' is both liked and disliked"),
        (["similar", "-i", "INDEX"], 2, "nothing to be similar to"),
        (["batch", "nowhere.tsv", "-i", "INDEX"], 2, "there are no queries at nowhere.tsv"),
        (["index", "nowhere.parquet"], 2, "there is no corpus nowhere.parquet"),
        (["index", "broken.parquet"], 2, "broken.parquet cannot be read as Parquet"),
        (["index", "empty.jsonl"], 2, "it is empty"),
        (
            ["index", "notitle.csv"],
            2,
            "neither a title nor an abstract column among id; name them with --columns title and --columns abstract",
        ),
        (["index", "noid.csv", "--columns", "id=titel"], 2, "did you mean 'title'"),
        (["index", "notes.docx"], 2, "has no supported format"),
        (["index", "noid.csv", "--encoder", "specter9"], 2, "unknown encoder 'specter9'"),
        (["index", "noid.csv", "-o", "notes.docx"], 2, "is a file"),
        (["export", "-i", "INDEX", "-o", "out.xyz"], 2, "cannot export"),
        (["search", "x", "-i", "newer"], 3, "format version 3"),
        (["search", "x", "-i", "damaged"], 3, "damaged/manifest.json is damaged: its checksum does not match"),
        (["batch", "\r" + "x" * 300, "-i", "INDEX"], 4, "File name too long"),
        (["frobnicate"], 2, "No such command"),
        (["search", "x", "--mode", "fuzzy"], 2, "fuzzy"),
    ],
)
def test_errors_are_one_line_with_the_right_code(index: sr.Index, tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "noid.csv").write_text("title\nx\n")
    (tmp_path / "notitle.csv").write_text("id\nx\n")
    (tmp_path / "notes.docx").write_bytes(b"x")
    for name, manifest in {"newer": '{"format": 3}', "damaged": '{"format": 2}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(manifest)
    paths_before = sorted(tmp_path.rglob("*"))
    result = sciretrieve(*[str(index.path) if part == "INDEX" else part for part in arguments])
    assert result.returncode == code, result.stderr
    assert words in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if "No such command" not in words and words != "fuzzy":
        assert result.stderr.splitlines()[-1].startswith("sciretrieve: ")
        assert "\r" not in result.stderr
    assert [path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path not in paths_before and path.name != ".lock"] == []


def test_debug_shows_the_traceback() -> None:
    result = sciretrieve("search", "x", "-i", "nowhere", "--debug")
    assert result.returncode == 2
    assert "Traceback" in result.stderr


def test_a_process_ends_with_the_code_of_its_command_and_all_its_output(index: sr.Index) -> None:
    """`main` leaves without Python's own tidying up, which would have flushed what was printed."""
    query = ("search", "star", "-i", index.path, "-k", "300", "--mode", "bm25", "--format", "jsonl")
    good, bad = process(*query), process("info", "-i", "nowhere")
    assert (good.returncode, good.stdout, good.stderr) == (0, answer(*query), "")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("sciretrieve: there is no index at nowhere")


def test_a_reader_that_stops_early_is_no_error(index: sr.Index) -> None:
    command = f"{sys.executable} -m sciretrieve search star -i {index.path} -k 300 -f jsonl | head -n 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1


def test_version_and_help() -> None:
    assert answer("--version").startswith("sciretrieve 0.")
    for command in ("index", "search", "similar", "batch", "info", "export", "demo"):
        assert "Example: sciretrieve" in answer(command, "--help")
    door = Path(sr.__file__).parents[1] / "cli.py"
    assert subprocess.run([sys.executable, door, "--version"], capture_output=True, text=True, check=True).stdout.startswith("sciretrieve")


def test_demo(tmp_path: Path) -> None:
    """Which replaces an index of its papers with other settings, and no other index."""
    sr.build(CORPUS, tmp_path / "indexes" / "demo", encoder=None)
    other = sr.build([{"id": "a", "title": "Graphs"}], tmp_path / "other", encoder=None)
    refused = sciretrieve("demo", "-o", other.path)
    assert (refused.returncode, len(sr.open(other.path))) == (2, 1)
    assert "holds an index with another" in refused.stderr
    first = answer("demo", "-q")
    assert first.count("$ sciretrieve") == 3
    assert first == answer("demo", "-q")
    assert (tmp_path / "indexes" / "demo" / "manifest.json").exists()


def test_without_a_home_to_write_to(index: sr.Index) -> None:
    """BM25 needs no cache: it must work for a user whose home cannot be written."""
    result = sciretrieve("search", "star", "-i", index.path, "--mode", "bm25", HOME="/nonexistent", SCIRETRIEVE_CACHE="")
    assert result.returncode == 0, result.stderr


def test_nothing_changes_in_an_index_that_is_searched(built: Callable[..., Any], tmp_path: Path) -> None:
    path = Path(shutil.copytree(built(encoder=None).path, tmp_path / "copy"))
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    answer("search", "star", "-i", path)
    answer("info", "-i", path)
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before


def test_a_corrected_word_is_told(index: sr.Index) -> None:
    typed = ("search", "grahp", "networ", "-i", index.path, "-k", "3", "--mode", "bm25")
    result = sciretrieve(*typed)
    assert re.findall(r'"(\w+)" was taken for "(\w+)"; quote it to search for it unchanged', result.stderr) == [
        ("grahp", "graph"),
        ("networ", "networks"),
    ]
    assert json.loads(answer(*typed, "--format", "json"))["corrections"] == [
        {"word": "grahp", "meant": "graph"},
        {"word": "networ", "meant": "networks"},
    ]
    assert sciretrieve("search", "grahp", "-i", index.path, "--mode", "dense").stderr == ""


def test_an_answer_that_matches_badly_is_told(tmp_path: Path, index: sr.Index) -> None:
    result = sciretrieve("search", "xylophone", "-i", index.path, "--format", "json")
    value = json.loads(result.stdout)
    assert value["weak"] == ("no paper matches well" in result.stderr) == (value["strength"] is not None and value["strength"] < 0.4)


def test_commands_that_are_shown_can_be_pasted(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p.jsonl", [{"id": "1", "title": "heat"}])
    result = sciretrieve("index", "p.jsonl", "-o", "my index", "--dense", "none")
    assert "next: sciretrieve search 'your words' -i 'my index'" in result.stderr
    assert "1 paper in 1 shard," in result.stderr
    assert "sciretrieve index CORPUS -o 'no index'" in sciretrieve("search", "heat", "-i", "no index").stderr


def test_bytes_that_are_not_utf8_are_one_line(index: sr.Index) -> None:
    result = sciretrieve("search", "st\udcffar", "-i", index.path, "--mode", "bm25")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
