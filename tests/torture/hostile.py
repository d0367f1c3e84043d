"""A program for test_hostile_input: gives the library input that nobody means well with, a batch of each kind, within limits.

    python -m tests.torture.hostile KIND:COUNT ...

COUNT is how many examples there are; of long ones, 0 for the quick ones alone; of bombs, to how many MB they expand. Memory and
time are limited by the system, so what hangs or blows up ends this process and not the suite. Prints a line as each kind is done.
"""

from __future__ import annotations

import faulthandler
import gzip
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, SciretrieveError
from sciretrieve.base.types import Query
from sciretrieve.commands.console import LONGEST_ERROR
from sciretrieve.encoders import load_encoder
from sciretrieve.metrics.judgements import read_qrels, read_scores
from sciretrieve.papers.corpora import read_queries
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers
from tests.toy_encoder import LetterEncoder, letters_by_name

MEMORY = 3 << 30
"""Bytes that an example may take beside what the program itself takes."""
BOMB_MEMORY = 1 << 30
"""The same for what is read in a stream."""
SECONDS, LONG_SECONDS = 30, 15
"""Seconds of computing after which an example hangs; and after which a long one takes more time than it should."""

# input

CHARACTERS = st.characters(exclude_categories=())
"""All of Unicode, lone surrogates too."""
NASTY: tuple[str, ...] = (
    *("", " ", "\x00", "\ud800", "\udcff", "\ufeff", "\u2028", "\x85", "\r", "\n", "\r\n", "\t", "\x1f", "\x1e", "\x1b[31m"),
    *("e\u0301" * 300, "\u202e", "\U0001f468\u200d\U0001f469", "ﷺ" * 50, "İıŁß", "\U0010ffff", "%s%n{0}", "../../etc/passwd", "a/b\\c"),
    *("$\\alpha$", "\\frac{a}{b", "{" * 200, "}" * 200, '"' * 51, "'" * 50, "(" * 300, "[" * 300, "-" * 99, "@", "#", "<b>&amp;", "NaN"),
    *("1" * 5000, "1,234,567," * 400, "1e999", "-0", "007", "0x10", "true", "null", "None", "id", "-1", "--help", "a" * 10_000, "-a" * 999),
)
texts = st.one_of(
    st.text(CHARACTERS, max_size=30), st.sampled_from(NASTY), st.builds("".join, st.lists(st.sampled_from(NASTY), max_size=4))
)
words = st.lists(st.sampled_from(["graph", "networks", "vaccine", "trial", "of", "the", "naïve", "IL-6", "β"]), max_size=9).map(" ".join)
numbers = st.one_of(st.integers(), st.integers(-3, 3000), st.sampled_from([2**31, 2**63, 2**64, -(2**70), 10**400]), st.floats())
dates = st.one_of(st.dates(), st.datetimes(), st.datetimes(timezones=st.timezones()), st.times(), st.timedeltas())
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, words)
json_values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)), max_leaves=8
)
python_values = st.recursive(
    st.one_of(scalars, dates, st.binary(max_size=20), st.decimals(), st.complex_numbers(), st.builds(object), st.just(np.float32(2))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.sets(st.integers(), max_size=3), st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = (
    *("id", "title", "abstract", "year", "venue", "authors", "doi", "url", "abstract_inverted_index"),
    *("_id", "text", "metadata", "authorships"),
)


def rows_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Rows of which many are papers, and many columns hold anything."""
    ids = st.one_of(st.sampled_from(["a", "b", "a\nb", "a/b", "ü" * 10_000]), st.integers(0, 50), texts)
    other = st.dictionaries(st.one_of(st.sampled_from(NAMES), texts), values, max_size=6)
    return st.builds(lambda id, title, abstract, other: {"id": id, "title": title, "abstract": abstract, **other}, ids, words, words, other)


def lists_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.one_of(rows_of(values), rows_of(values), st.dictionaries(texts, values, max_size=4)), max_size=8)


def spoilt(files: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Files with random bytes mixed in, parts left out or repeated."""

    @st.composite
    def strategy(draw: st.DrawFn) -> bytes:
        data = draw(files)
        for _ in range(draw(st.integers(0, 4))):
            place = draw(st.integers(0, len(data)))
            end = draw(st.integers(place, len(data)))
            other = draw(st.one_of(st.binary(max_size=12), st.sampled_from([data[place:end] * 3, b"", b"\xff\xfe", b"\x00", b"\n"])))
            data = data[:place] + other + data[end:] if draw(st.booleans()) else data[:place] + other + data[place:]
        return data

    return strategy()


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


jsonl_files = spoilt(
    st.lists(st.one_of(rows_of(json_values).map(json.dumps), json_values.map(json.dumps), texts), max_size=8).map("\n".join).map(encoded)
)
delimited_files = spoilt(
    st.builds(
        lambda delimiter, header, rows: "\n".join(delimiter.join(row) for row in [header, *rows]),
        st.sampled_from(",;\t|"),
        st.lists(st.one_of(st.sampled_from(NAMES), texts), max_size=6).map(lambda names: ["id", "title", *names]),
        st.lists(st.lists(st.one_of(texts, words, st.just('"quoted ""text"""')), max_size=8), max_size=8),
    ).map(encoded)
)
BIB_PARTS = (
    *("@article{", "@string{", "@comment", "@preamble{", "key,", "title = {", "author = ", "year="),
    *("}", "}\n", "{", '"', ",", "#", " and "),
)
bibtex_files = spoilt(
    st.lists(
        st.one_of(
            st.builds(
                "@{}{{{}, title = {{{}}}, abstract = {{{}}}, author = {{{}}}, {} = {}}}\n".format,
                st.sampled_from(["article", "book", "ARTICLE", "misc"]),
                st.one_of(words, texts),
                st.one_of(words, texts),
                words,
                st.one_of(st.just("Ada Lovelace and Turing, Alan and others"), texts),
                st.one_of(st.sampled_from(["year", "month", "journal", "id", "type", "bibtex"]), texts),
                st.one_of(st.just("1999"), st.just("may"), texts),
            ),
            st.sampled_from(BIB_PARTS),
            texts,
        ),
        max_size=12,
    )
    .map("".join)
    .map(encoded)
)
RIS_TAGS = ["TY", "ER", "TI", "T1", "AB", "N2", "AU", "PY", "ID", "DO", "KW", "SP", "EP", "UR", "XX", "A2"]
ris_files = spoilt(
    st.lists(
        st.one_of(
            st.builds("{}  - {}\n".format, st.sampled_from(RIS_TAGS), st.one_of(words, texts)),
            st.builds("TY  - JOUR\nID  - {}\nTI  - {}\nAB  - {}\n".format, texts, words, texts),
            st.just("ER  - \n"),
            texts,
        ),
        max_size=16,
    )
    .map(lambda parts: "TY  - JOUR\n" + "".join(parts))
    .map(encoded)
)
FILTER_PARTS = (
    *("year", "title", "authors", "citations", "impact", "`topic`", "nothing", "`", "==", "!=", "<", ">=", "=", "in", "not", "and", "or"),
    *("contains", "(", ")", ",", '"ACL"', "'x'", '"', "2010", "-3.5e3", "1e999", "9" * 500, "true", "false", "\\", "[", "null"),
)
conditions = st.builds(
    "{} {} {}".format,
    st.sampled_from(["year", "title", "authors", "citations", "impact", "topic", "id", "venue", "doi"]),
    st.sampled_from(["==", "!=", "<", ">=", "=", "contains", "<="]),
    st.one_of(numbers.map(str), texts.map(lambda text: json.dumps(text, ensure_ascii=False)), st.sampled_from(["true", '"a.*b"', "'%_'"])),
)
filters = st.one_of(
    st.recursive(
        conditions,
        lambda inner: st.one_of(
            st.builds("({} and {})".format, inner, inner), st.builds("not {}".format, inner), st.builds("{} or {}".format, inner, inner)
        ),
    ),
    st.lists(st.sampled_from(FILTER_PARTS), max_size=12).map(" ".join),
    texts,
    st.integers(0, 2000).map(lambda depth: "not " * depth + "year > 3"),
    st.integers(0, 5000).map(lambda depth: "(" * depth + "year > 3" + ")" * depth),
    st.integers(0, 5000).map(lambda times: " or ".join(["year > 3"] * times)),
)
QUERY_PARTS = (
    *('"', "-", ":", "title:", "author:", "year:", "-title:", '"graph networks"', '-"graph"', "year:2012", "abstract:", "id:"),
    *("impact:1e999", "citations:x", "venue:ACL", "topic:", "nothing:x", "graph", "networks", "of", "the", "grahp"),
    *("*", "?", "AND", "OR", "(", ")", "'", "\n"),
)
queries = st.one_of(
    st.lists(st.one_of(st.sampled_from(QUERY_PARTS), texts), max_size=8).flatmap(
        lambda parts: st.sampled_from(["", " "]).map(lambda glue: glue.join(parts))
    ),
    texts,
    words,
)
fields = st.one_of(
    st.sampled_from(["q1", "q2", "p0001", "p0002", "0", "Q0", "1", "0.5", "-1", "nan", "inf", "1e400", "2.0", "3.7", '"', "'"]), texts
)
tables = spoilt(
    st.lists(
        st.builds(lambda parts, glue: glue.join(parts), st.lists(fields, max_size=7), st.sampled_from([" ", "\t", "  ", ","])), max_size=8
    )
    .map("\n".join)
    .map(encoded)
)
json_tables = spoilt(
    st.one_of(st.dictionaries(texts, st.dictionaries(texts, scalars, max_size=3), max_size=3), json_values).map(json.dumps).map(encoded)
)
query_files = st.one_of(jsonl_files, tables, json_tables, spoilt(st.lists(queries, max_size=6).map("\n".join).map(encoded)))
ids = st.one_of(st.sampled_from(["p0001", "p0002", "p0079", "missing"]), texts)


# what is done with it

PAPERS = made_up_papers(80)
Work = Callable[[Path], object]


class Hang(BaseException):
    """An example took too long."""


def _hangs(number: int, frame: FrameType | None) -> None:
    raise Hang("took too long")


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Time is limited for one example; if it is already, it stays so."""
    if signal.getitimer(signal.ITIMER_PROF)[0]:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def survives(work: Work) -> None:
    """The work gives an answer, or an error that is meant for people."""
    with tempfile.TemporaryDirectory() as folder, limited():
        error: SciretrieveError | None = None
        try:
            work(Path(folder))
        except SciretrieveError as refusal:
            error = refusal
        assert error is None or (error.exit_code in (2, 3, 4) and str(error).strip())


def told(*arguments: str | Path, stdin: str = "") -> str:
    """What a command printed, which gave an answer or one line that says why not."""
    with limited():
        result = sciretrieve(*arguments, stdin=stdin)
    assert result.returncode in (0, 1, 2, 3, 4), (result.returncode, result.stderr)  # 1: a part of it is answered, see the commands' help
    assert "Traceback" not in result.stderr
    if result.returncode:
        # notes may come first; what is no command line at all is told with its usage, by Typer
        last = result.stderr.rstrip("\n").split("\n")[-1]
        assert last.startswith("Error: ") or (last.startswith("sciretrieve: ") and len(last) < 2 * LONGEST_ERROR), result.stderr
    return result.stdout


def indexed(corpus: Any, folder: Path, encoder: str | None) -> None:
    """Build an index of a corpus, search it, take papers out and put them back."""
    with sr.build(corpus, folder / "index", encoder=encoder, shard_size=3) as index:
        reopened = sr.open(folder / "index", encoder=LetterEncoder() if encoder else None)
        listed = reopened.snapshot.live_ids()
        assert len(listed) == len(set(listed)) == len(reopened) > 0
        for mode in reopened.modes:
            for hit in reopened.search("graph of networks 1999", 3, mode=mode).hits:
                assert hit.id in listed
        reopened.papers(listed)
    if len(listed) > 1:
        sr.delete(folder / "index", listed[0])
        assert sr.add(corpus, folder / "index").papers == len(listed)
    sr.merge(folder / "index")
    assert not sr.verify(folder / "index").faults
    assert index.snapshot.manifest.papers == len(listed)
    for arguments in (
        ["info"],
        ["info", "duplicates"],
        ["search", "graph networks", "--format", "json", "--facets", ",".join(reopened.snapshot.columns.names)],
    ):
        told(*arguments, "-i", folder / "index")
    for form in ("bibtex", "ris", "csv", "jsonl", "table"):
        told("search", "graph networks", "--mode", "bm25", "--format", form, "-i", folder / "index")
    told("export", "-i", folder / "index", "-o", folder / "exported.parquet")


CORPUS_FILES: dict[str, tuple[st.SearchStrategy[bytes], list[str]]] = {
    "json_lines": (jsonl_files, ["x.jsonl"]),
    "delimited": (delimited_files, ["x.csv", "x.tsv"]),
    "bibtex": (bibtex_files, ["x.bib"]),
    "ris": (ris_files, ["x.ris", "x.txt"]),
    "files_of_other_kinds": (
        spoilt(jsonl_files),
        ["x.jsonl.gz", "x.csv.zst", "x.parquet", "corpus.jsonl", "x.bib.gz", "x.ris.zst", "x.json", "x.xz", "x.zip", "x.nbib", "x.xml"]
        + ["x.enw", "x.ciw", "x.refworks", "x.txt"],
    ),
}
"""Files of papers, and the names that each may have."""
encoders = st.sampled_from([None, None, "letters"])


def corpus_files(kind: str) -> Callable[[], None]:
    """Builds indexes of such files."""
    files, names = CORPUS_FILES[kind]

    @given(files, st.sampled_from(names), encoders)
    def build(data: bytes, name: str, encoder: str | None) -> None:
        def work(folder: Path) -> None:
            (folder / name).write_bytes(data)
            indexed(folder / name, folder, encoder)

        survives(work)

    return build


@given(lists_of(python_values), encoders)
def lists_of_dicts(papers: list[dict[str, Any]], encoder: str | None) -> None:
    survives(lambda folder: indexed(papers, folder, encoder))


_index: list[Path] = []


def index() -> Path:
    """An index to ask."""
    if not _index:
        _index.append(Path(tempfile.mkdtemp()) / "index")
        sr.build(PAPERS, _index[0], encoder="letters", shard_size=30)
    return _index[0]


@given(queries, st.one_of(st.none(), filters), st.sampled_from(["hybrid", "dense", "bm25"]), st.integers(-1, 100))
def searches(query: str, filter: str | None, mode: Any, k: int) -> None:
    def work(folder: Path) -> None:
        opened = sr.open(index(), encoder=LetterEncoder())
        opened.search(query, k, mode=mode, filter=filter)
        opened.search([query, Query("q", query)], 3, mode=mode)
        sr.why_not(opened, "p0001", query, filter=filter)
        sr.explain(opened, query, ["p0001"], filter=filter)

    survives(work)


@given(st.one_of(filters, st.lists(filters, max_size=3)))
def filters_alone(filter: Any) -> None:
    survives(lambda folder: sr.open(index(), encoder=LetterEncoder()).search("graph", 5, mode="bm25", filter=filter))


def argument(text: str) -> str:
    """A text as the system passes it: bytes without NUL."""
    return os.fsdecode(text.encode("utf-8", "surrogatepass").replace(b"\x00", b""))


OPTIONS = (
    *("-k", "--mode", "--filter", "--since", "--until", "--facets", "--format", "--fields", "--like", "--sort", "--diversify"),
    *("--cluster", "--explain", "--quiet", "-h", "--not", "--text", "--dense", "--limit", "--set", "--columns", "--output", "-i"),
)
option_values = st.one_of(
    texts.map(argument),
    numbers.map(str),
    filters.map(argument),
    st.sampled_from(["bm25", "json", "trec", "year,venue"]),
    st.sampled_from(["alpha=0.2", "fusion=rrf", "metric=l2", "k1=x", "b=-1", "rerank_depth=0", "strict=maybe", "nothing=1"]),
)
options = st.lists(st.one_of(st.sampled_from(OPTIONS), option_values), max_size=5)
COMMANDS = (
    *("search", "similar", "why-not", "delete", "info", "info log", "info duplicates", "count", "measure-recall"),
    *("add", "sync", "merge", "verify", "export", "batch", "index"),
)


@given(st.sampled_from(COMMANDS), st.lists(st.one_of(queries, ids, texts).map(argument), max_size=3), options, texts)
def command_lines(command: str, arguments: list[str], options: list[str], stdin: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        told(*command.split(), *arguments, *options, stdin=stdin.encode("utf-8", "replace").decode())
        os.chdir("/")


@given(st.sampled_from(["similar", "why-not", "delete"]), st.lists(ids, min_size=1, max_size=3), st.one_of(st.none(), filters))
def ids_of_papers(command: str, names: list[str], filter: str | None) -> None:
    opened = sr.open(index(), encoder=LetterEncoder())
    works: dict[str, Work] = {
        "similar": lambda folder: opened.similar(names[:-1] or names, 5, negatives=names[-1:], filter=filter),
        "why-not": lambda folder: sr.why_not(opened, names[0], "graph"),
        "delete": lambda folder: sr.delete(index(), [*names, "missing"]),
    }
    survives(works[command])
    last = {"why-not": ["graph"], "delete": ["missing"]}.get(command, [])
    told(command, "-i", index(), "--", *(argument(name) for name in names), *last)
    told("similar", "-", "-i", index(), stdin="\n".join(names).encode("utf-8", "replace").decode())


@given(st.one_of(tables, json_tables), st.sampled_from(["x.tsv", "x.trec", "x.json", "x.txt", "x.json.gz"]))
def judgements_and_runs(data: bytes, name: str) -> None:
    def work(folder: Path) -> None:
        (folder / name).write_bytes(data)
        survives(lambda _: read_qrels(folder / name))
        survives(lambda _: read_scores(folder / name))
        (folder / "good.trec").write_text("q1 Q0 p0001 1 0.5 x\nq1 Q0 p0002 2 0.4 x\n")
        (folder / "good.tsv").write_text("q1 0 p0001 1\n")
        told("compare", folder / name, folder / "good.trec", "--qrels", folder / "good.tsv")
        told("compare", folder / "good.trec", folder / "good.trec", "--qrels", folder / name)

    survives(work)


@given(query_files, st.sampled_from(["x.jsonl", "x.tsv", "x.txt", "x.jsonl.gz", "x"]))
def files_of_queries(data: bytes, name: str) -> None:
    def work(folder: Path) -> None:
        (folder / name).write_bytes(data)
        survives(lambda _: read_queries(folder / name))
        told("batch", folder / name, "-i", index(), "--mode", "bm25", "-k", "3", "-o", folder / "run.trec")

    survives(work)


@given(
    st.one_of(
        jsonl_files,
        tables,
        spoilt(
            st.lists(st.builds(lambda id, values: json.dumps({"id": id, "embedding": values}), texts, st.lists(numbers)))
            .map("\n".join)
            .map(encoded)
        ),
    ),
    st.sampled_from(["x.jsonl", "x.npy", "x.parquet", "x.json", "x.txt"]),
)
def files_of_vectors(data: bytes, name: str) -> None:
    def work(folder: Path) -> None:
        (folder / name).write_bytes(data)
        (folder / "x.ids.txt").write_bytes(data)
        sr.build(PAPERS[:3], folder / "index", encoder=f"vectors:{folder / name}")
        load_encoder(f"vectors:{folder / name}").encode_queries([Query("q")])

    survives(work)


@cache
def faiss_files() -> list[bytes]:
    """FAISS indexes of the first three papers, under their ids as numbers, of several types."""
    vectors = np.random.default_rng(0).standard_normal((len(FAISS_PAPERS), 8), np.float32)
    files = []
    for factory in ("IDMap,Flat", "IDMap,HNSW4,SQ8", "IVF1,Flat", "RR8,IDMap2,SQfp16"):
        whole = faiss.index_factory(8, factory)
        whole.train(vectors)
        whole.add_with_ids(vectors, np.array([int(paper["id"]) for paper in FAISS_PAPERS]))
        files.append(faiss.serialize_index(whole).tobytes())
    return files


FAISS_PAPERS = [{**paper, "id": str(7 * number)} for number, paper in enumerate(PAPERS[:3], 1)]


@given(spoilt(st.deferred(lambda: st.sampled_from(faiss_files()))), st.booleans())
def faiss_indexes(data: bytes, has_ids: bool) -> None:
    def work(folder: Path) -> None:
        (folder / "x.faiss").write_bytes(data)
        if has_ids:
            (folder / "x.ids.txt").write_text("7\n14\n21\n")
        sr.build(FAISS_PAPERS, folder / "index", encoder=f"faiss:{folder / 'x.faiss'}", lexical=None)

    survives(work)


# what is small and has a great effect, or takes time that grows with its square


def lines_of(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def paper(**fields: Any) -> bytes:
    return lines_of([{"id": "a", "title": "Graph networks", **fields}])


def nested(depth: int, opening: bytes = b"[", closing: bytes = b"]", inner: bytes = b"") -> bytes:
    return b'{"id":1,"title":"t","x":' + opening * depth + inner + closing * depth + b"}\n"


def entry(title: bytes, more: bytes = b"") -> bytes:
    return b"@article{a, title = {" + title + b"}" + more + b"}\n"


MACROS = b'@string{a0 = "xxxxxxxxxx"}\n' + b"".join(b"@string{a%d = a%d # a%d}\n" % (n + 1, n, n) for n in range(60))
CORPORA: dict[str, tuple[str, Callable[[], bytes]]] = {
    "abstracts of 10 MB": ("x.jsonl", lambda: lines_of({"id": n, "title": "t", "abstract": "graph networks " * 700_000} for n in range(2))),
    "an abstract of one word": ("x.jsonl", lambda: paper(abstract="a" * 10**7)),
    "a title of 1 MB": ("x.jsonl", lambda: paper(title="graph " * 200_000)),
    "marks upon marks": ("x.jsonl", lambda: paper(abstract="a" + "\u0301" * 10**5 + "\u0323" * 10**5, title="b" + "\u0301" * 10**5)),
    "sentences that do not end": ("x.jsonl", lambda: paper(abstract="See e.g. A. " * 30_000)),
    "an id of 1 MB": ("x.jsonl", lambda: paper(id="漢" * 10**6)),
    "10,000 columns": ("x.jsonl", lambda: paper(**{f"c{n}": n for n in range(10_000)})),
    "10,000 columns of a table": ("x.csv", lambda: ",".join(["id", "title", *["a"] * 10_000]).encode() + b"\n" + b"x," * 10_001 + b"x"),
    "3,000 columns of one name": ("x.csv", lambda: ",".join(["id", "title", *["a"] * 3000]).encode() + b"\n" + b"x," * 3001 + b"x"),
    "a column for each row": ("x.jsonl", lambda: lines_of({"id": n, "title": "t", f"k{n}": 1} for n in range(5000))),
    "a field for each row": ("x.jsonl", lambda: lines_of({"id": n, "title": "t", "m": [{"a": {f"k{n}": 1}}]} for n in range(5000))),
    "lists in lists": ("x.jsonl", lambda: nested(900)),
    "more lists in lists": ("x.jsonl", lambda: nested(10**6)),
    "objects in objects": ("x.jsonl", lambda: nested(300, b'{"a":', b"}", b"1")),
    "a long word everywhere": ("x.jsonl", lambda: paper(abstract_inverted_index={"w" * 10**5: [0] * 10**5})),
    "a million authors": ("x.jsonl", lambda: paper(authors="A B and " * 10**6)),
    "a quotation without end": ("x.csv", lambda: b'id,title\n1,"' + b"x\n" * (36 << 20)),
    "a row of commas": ("x.csv", lambda: b"id,title\n1,t" + b"," * 10**6),
    "rows of nothing": ("x.tsv", lambda: b"id\ttitle\n" + b"\t\n" * 10**5),
    "at signs": ("x.bib", lambda: b"@" * 10**6),
    "entries that begin": ("x.bib", lambda: b"@a{" * 300_000),
    "braces": ("x.bib", lambda: entry(b"{" * 10**5 + b"}" * 10**5)),
    "parts of a text": ("x.bib", lambda: b"@article{a, title = " + b'"x" # ' * 10**5 + b'"y"}'),
    "macros of macros": ("x.bib", lambda: MACROS + b"@article{a, title = a60}"),
    "macros of no macro": ("x.bib", lambda: MACROS[MACROS.index(b"\n") :] + b"@article{a, title = a60}"),
    "fields": ("x.bib", lambda: b"@article{a," + b"".join(b"f%d={x}," % n for n in range(5000)) + b"}"),
    "LaTeX": ("x.bib", lambda: entry(b"\\frac $a$ " * 50_000 + b"\\'" * 1000)),
    "names in braces": ("x.bib", lambda: entry(b"t", b", author = {" + b"{A} and " * (2 * 10**5) + b"B}")),
    "a name in braces": ("x.bib", lambda: entry(b"t", b", author = {" + b"{A}," * (2 * 10**5) + b"B}")),
    "tags": ("x.ris", lambda: b"TY  - JOUR\nTI  - x\n" + b"ZZ  - x\nTI  - y\n" * 50_000),
    "records": ("x.ris", lambda: b"TY  - JOUR\n" * 20_000),
}
QUERIES: dict[str, Callable[[], str]] = {
    "words that no paper has": lambda: " ".join("".join(chr(97 + (n * 7**place) % 26) for place in range(10)) for n in range(10_000)),
    "a word of 1 MB": lambda: "a" * 10**6,
    "known words": lambda: "graph networks " * 10_000,
    "marks upon marks": lambda: "a" + "\u0301" * 10**5 + "\u0323" * 10**5,
    "quotation marks": lambda: '"' * 10**5,
    "phrases": lambda: '"graph networks" ' * 10**5,
    "words to leave out": lambda: "graph " + "-nodes " * 10**5,
    "words in fields": lambda: "title:graph " * 10**5,
    "colons": lambda: "a:" * 10**5,
    "numbers": lambda: "1,234" * 30_000,
    "hyphens": lambda: "a-" * 10**5,
    "LaTeX": lambda: "\\frac{\\'   " * 20_000,
}
LONG_FILTERS: dict[str, Callable[[], str]] = {
    "or": lambda: " or ".join(["year > 3"] * 2000),
    "not": lambda: "not " * 30_000 + "year > 3",
    "brackets": lambda: "(" * 50_000 + "year > 3" + ")" * 50_000,
    "a text": lambda: 'title contains "' + "a" * 10**6 + '"',
    "values": lambda: "year in (" + ", ".join(map(str, range(20_000))) + ")",
    "backslashes": lambda: 'title contains "' + "\\a" * 10**5 + '"',
    "a column": lambda: "a" * 10**6 + " == 3",
    "digits": lambda: "year == " + "9" * 10**6,
}


def index_long(file: str, data: bytes) -> None:
    """Index a file, and show what is in it."""

    def work(folder: Path) -> None:
        (folder / file).write_bytes(data)
        sr.build(folder / file, folder / "index", encoder=None)
        for form in ("table", "json", "bibtex"):
            told("search", "graph", "-k", "1", "--format", form, *(["--explain"] if form == "table" else []), "-i", folder / "index")

    survives(work)


def ask_long(query: str) -> None:
    opened = sr.open(index(), encoder=LetterEncoder())
    survives(lambda _: opened.search(query, 5))
    survives(lambda _: sr.why_not(opened, "p0001", query))
    told("search", query, "-i", index())


def filter_long(text: str) -> None:
    survives(lambda _: sr.open(index(), encoder=LetterEncoder()).search("graph", 5, mode="bm25", filter=text))
    told("search", "graph", "--filter", text, "-i", index(), "--mode", "bm25")


SLOW = {"abstracts of 10 MB", "an abstract of one word", "a million authors", "a quotation without end", "rows of nothing"}
"""Those that take seconds as they should."""


def long_ones(every: int) -> None:
    """Each within the time for one example: every one, or the quick ones."""
    for name, (file, make) in CORPORA.items():
        if every or name not in SLOW:
            print("corpus:", name, flush=True)
            with limited(LONG_SECONDS):
                index_long(file, make())
    for name, text in QUERIES.items():
        print("query:", name, flush=True)
        with limited(LONG_SECONDS):
            ask_long(text())
    for name, text in LONG_FILTERS.items():
        print("filter:", name, flush=True)
        with limited(LONG_SECONDS):
            filter_long(text())


# what is small as a file and large when it is read

BLOCK = 8 << 20
"""Bytes of which a bomb is made, again and again: compressed files may follow each other."""
BOMBS: dict[str, tuple[bytes, bytes]] = {
    "x.jsonl": (b'{"id": "a", "title": "', b"a" * BLOCK),
    "x.json": (b"[", b" " * BLOCK),
    "x.csv": (b"id,title\n1,", b"a" * BLOCK),
    "x.tsv": (b"id\ttitle\n1\t", b"\0" * BLOCK),
    "x.bib": (b"@article{a, title = {", b"a\n" * (BLOCK // 2)),
    "x.ris": (b"TY  - JOUR\nTI  - ", b"a\n" * (BLOCK // 2)),
    "x.xml": (b"<PubmedArticleSet><PubmedArticle><a>", b"a" * BLOCK),
}
"""A beginning, and what follows it."""
SHORT: dict[str, tuple[bytes, bytes]] = {
    "x.jsonl": (b"", (b'{"id": "a", "title": "b", "abstract": "' + b"c" * 982 + b'"}\n') * (BLOCK >> 10)),
    "x.csv": (b"id,title\n", (b"a," + b"b" * 1021 + b"\n") * (BLOCK >> 10)),
}
"""The same, in lines."""


def compressed(data: bytes, compression: str) -> bytes:
    if compression == "gz":
        return gzip.compress(data, 1)
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def bombs(megabytes: int) -> None:
    """Files that expand to so much are refused, or read within less memory than that."""
    is_whole = megabytes > BOMB_MEMORY >> 20
    for kind, files, size in (("one line", BOMBS, megabytes), ("lines", SHORT, megabytes if is_whole else 16)):
        for file, (start, block) in files.items():
            for compression in ("gz", "zst") if is_whole else ("zst",):
                print("bomb:", kind, file, compression, flush=True)
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder, f"{file}.{compression}")
                    part = compressed(block, compression)
                    with path.open("wb") as target:
                        target.write(compressed(start, compression))
                        for _ in range((size << 20) // BLOCK):
                            target.write(part)
                    rejected = 0
                    try:
                        for batch in sr.open_corpus(path).batches():
                            rejected += len(batch.rejected)
                    except InvalidRequest:
                        assert kind == "one line"
                    else:
                        assert rejected == (size << 10) - 1, "all but the first have its id"


KINDS: dict[str, Any] = {
    "lists_of_dicts": lists_of_dicts,
    **{kind: corpus_files(kind) for kind in CORPUS_FILES},
    **{
        function.__name__: function
        for function in (
            *(searches, filters_alone, command_lines, ids_of_papers),
            *(judgements_and_runs, files_of_queries, files_of_vectors, faiss_indexes),
        )
    },
}


GREAT: dict[str, Callable[[int], None]] = {"long_ones": long_ones, "bombs": bombs}


def limit_memory(spare: int) -> None:
    """Limit what this process may take to what it has, and so much more."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + spare, resource.RLIM_INFINITY))


def main(orders: list[str]) -> None:
    vars(os).update(fsync=lambda handle: None)
    faulthandler.enable()
    signal.signal(signal.SIGPROF, _hangs)
    told("search", "graph networks", "-i", index(), "--cluster", "--explain")  # what is imported on first use is imported
    limit_memory(MEMORY)
    for order in orders:
        name, count = order.split(":")
        if name == "bombs":
            limit_memory(BOMB_MEMORY)
        if name in GREAT:
            GREAT[name](int(count))
        else:
            # as in all tests: where changes are checked, all get the same examples
            is_fixed = bool(os.environ.get("CI"))
            calm: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck), "print_blob": False}
            settings(max_examples=int(count), derandomize=is_fixed, **calm)(KINDS[name])()
        print(f"done: {name}", flush=True)


if __name__ == "__main__":
    with letters_by_name():
        main(sys.argv[1:])
