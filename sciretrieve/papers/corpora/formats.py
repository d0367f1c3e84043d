"""The formats of files: what each looks like, how it is read, and which one a file has.

Content decides: a file's format is the first whose look the file's beginning has, and its suffix only where that says nothing
(many a CSV file looks like nothing in particular, a damaged file like nothing at all). Compression is no part of a format: `streams`
removes it. Where no format has a file's suffix, a plug-in of that name reads it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...base.plugins import Plugin, found, names
from ...base.wording import shortened
from ...files.streams import COMPRESSIONS, STDIN, bare_name, beginning, blocks, is_compressed, open_binary, readable
from . import (
    anthology,
    atom,
    bibtex,
    delimited,
    endnote,
    jats,
    json_document,
    jsonl,
    mods,
    nbib,
    parquet,
    pubmed,
    refer,
    refworks,
    ris,
    spreadsheet,
    tei,
    web_of_science,
    zotero_library,
)
from .bibtex_syntax import HEAD
from .encodings import in_utf8
from .jsonl import BEIR_NAMES
from .raw import RawBatch, Rejected, Row, batches_of_rows
from .tables import is_header
from .xml import root_of

ENTRY = re.compile(rb"\s*(?:%[^\n]*\n\s*)*@\s*\w+\s*[{(]")
ANSWER = re.compile(
    rb'\s*\{\s*"(?:@context|config|data|hitCount|items|message|message-type|meta|next|offset|request|response|responseHeader|'
    rb'result|resultList|results|search-results|status|token|total|version)"\s*:'
)
XML = ".xml"
OPEN_LINE = re.compile(rb"[\[{,]\s*$")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Attributes:
        suffixes: what such files are called, without the suffix of a compression.
        looks: whether the first bytes of a file are those of this format, and of no other.
        read: yields the rows of a file in batches.
        count: how many rows a file has, or None if that needs parsing all of it.
    """

    name: str
    suffixes: tuple[str, ...]
    looks: Callable[[bytes], bool]
    read: Callable[[Path], Iterator[RawBatch]]
    count: Callable[[Path], int | None] = lambda _: None


def _is_json_lines(head: bytes) -> bool:
    """Whether the first line is an object, or a broken one: what goes on in the next line is a document, and so is an answer."""
    line = head.lstrip().partition(b"\n")[0]
    return line.startswith(b"{") and not OPEN_LINE.search(line) and not _is_answer(line)


def _is_document(head: bytes) -> bool:
    line = head.lstrip().partition(b"\n")[0]
    return line.startswith(b"[") or (line.startswith(b"{") and not _is_json_lines(head))


def _is_answer(line: bytes) -> bool:
    """Whether a line begins like a service's answer, unless it is a whole object with a title: a paper."""
    if not ANSWER.match(line):
        return False
    try:
        return "title" not in json.loads(line)
    except (ValueError, RecursionError):
        return True


def _is_bibliography(head: bytes) -> bool:
    """Whether the first thing is an entry of BibTeX; or there is one below lines that JabRef and others begin a file with."""
    return ENTRY.match(head) is not None or (
        head.lstrip()[:1] not in (b"<", b"{", b"[") and HEAD.search(head.decode(errors="replace")) is not None
    )


def _is_table(head: bytes) -> bool:
    """Whether the first line has several names, one of them that of a title or an abstract: what else has no format may be a table."""
    line = head.lstrip().partition(b"\n")[0].decode(errors="replace")
    return is_header([name.strip(' "\r\ufeff') for name in re.split(r"[,;\t|]", line)])


def _has_lines(look: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    """Whether a text has such lines, whatever its system ends them with."""
    return lambda head: look.search(head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")) is not None


def _lines(path: Path, header: int = 0) -> int | None:
    return None if is_compressed(path) else sum(block.count(b"\n") for block in blocks(path)) - header


def _by_rows(
    rows: Callable[[Path], Iterable[tuple[int, Row | Rejected]]], *, untyped: bool = False, has_weak_ids: bool = False
) -> Callable[[Path], Iterator[RawBatch]]:
    """How files are read of which `rows` gives one numbered row after the other, as `batches_of_rows` takes them."""
    return lambda path: batches_of_rows(str(path), rows(path), untyped=untyped, has_weak_ids=has_weak_ids)


PARQUET = Format("Parquet", (".parquet",), lambda head: head.startswith(b"PAR1"), parquet.read, parquet.count)
JSON_LINES = Format("JSON Lines", (".jsonl", ".ndjson", ".json"), _is_json_lines, _by_rows(jsonl.rows), _lines)
BEIR = Format("BEIR", (".jsonl",), _is_json_lines, _by_rows(jsonl.beir_rows), _lines)
EXCEL = Format("Excel", (".xlsx",), lambda head: head.startswith(spreadsheet.BEGINNING), _by_rows(spreadsheet.rows))
JSON = Format("JSON", (".json",), _is_document, _by_rows(json_document.rows))
BIBTEX = Format("BibTeX", (".bib", ".bibtex"), _is_bibliography, _by_rows(bibtex.rows, has_weak_ids=True))
RIS = Format("RIS", (".ris",), _has_lines(ris.LOOK), _by_rows(ris.rows, has_weak_ids=True))
CSV = Format("CSV", (".csv", ".tsv"), lambda _: False, _by_rows(delimited.rows, untyped=True), partial(_lines, header=1))
FORMATS = (
    PARQUET,
    JSON_LINES,
    Format("Zotero", (".sqlite",), lambda head: head.startswith(zotero_library.SIGNATURE), _by_rows(zotero_library.rows)),
    EXCEL,
    JSON,
    BIBTEX,
    RIS,
    Format("Web of Science", (".ciw", ".isi"), _has_lines(web_of_science.LOOK), _by_rows(web_of_science.rows)),
    Format("EndNote .enw", (".enw",), _has_lines(refer.LOOK), _by_rows(refer.rows, has_weak_ids=True)),
    Format("RefWorks", (".refworks",), _has_lines(refworks.LOOK), _by_rows(refworks.rows, has_weak_ids=True)),
    Format("PubMed XML", (XML,), lambda head: root_of(head) in pubmed.ROOTS, _by_rows(pubmed.rows)),
    Format("PubMed .nbib", (".nbib",), _has_lines(nbib.LOOK), _by_rows(nbib.rows)),
    Format("arXiv's Atom", (XML, ".atom"), lambda head: root_of(head) in ("feed", "entry"), _by_rows(atom.rows)),
    Format("TEI", (XML, ".tei"), lambda head: root_of(head) in ("TEI", "teiCorpus"), _by_rows(tei.rows)),
    Format("JATS", (XML, ".nxml"), lambda head: root_of(head) in jats.ROOTS, _by_rows(jats.rows)),
    Format("MODS", (XML, ".mods"), lambda head: root_of(head) in ("modsCollection", "mods"), _by_rows(mods.rows)),
    Format("ACL Anthology XML", (XML,), lambda head: root_of(head) == anthology.ROOT, _by_rows(anthology.rows)),
    Format("EndNote XML", (XML,), lambda head: endnote.RECORDS.search(head) is not None, _by_rows(endnote.rows, has_weak_ids=True)),
    CSV,
)
"""In the order in which a file's look is compared with theirs."""
SUFFIXES = tuple(sorted({suffix for format in FORMATS for suffix in format.suffixes}))
ANY_SUFFIXES = ("", ".txt")
"""Suffixes of any format, or of none: such files are read if they look like one."""
TITLE = re.compile(rb'"(?:\w+_)?(?:title|display_name)"\s*:', re.IGNORECASE)
PRINTED = re.compile(rb"\A\s*1[.:] .*(?:\r?\n.+)?\b(?:1[89]|20)\d\d\b")
"""How PubMed's lists begin that are printed for reading, with the journal and the year, and what else is in them."""
PRINTED_ID = re.compile(rb"^(?:PMID|PMCID|DOI): |\bPMID: \d|\bdoi: 10\.", re.MULTILINE)


def format_of(file: Path) -> Format:
    """A file's format. Raises InvalidRequest: it has none that is read here."""
    if file.name in BEIR_NAMES:
        return BEIR
    if (plugin := plugged(file)) is not None:
        return Format(plugin.name, (f".{plugin.name}",), lambda _: False, _by_rows(partial(_rows_of_plugin, plugin)))
    head = in_utf8(beginning(file))
    suffix = suffix_of(file)
    if suffix in CSV.suffixes and _is_table(head):  # whatever its texts look like
        return CSV
    of_suffix = [format for format in FORMATS if suffix in format.suffixes]
    format = next((format for format in [*of_suffix, *FORMATS] if format.looks(head)), None)
    if format is None and suffix == XML:  # XML of other kinds would be read as having no papers
        kinds = ", ".join(format.name.removesuffix(" XML") for format in of_suffix)
        raise InvalidRequest(f"{file} is no XML that is read here ({kinds})")
    format = format or next(iter(of_suffix), None) or (CSV if _is_table(head) else None)
    if format is None and file == STDIN:
        return JSON_LINES
    if format is None and PRINTED.match(head) and PRINTED_ID.search(head):
        raise InvalidRequest(f"{file} is a list as PubMed prints it, without names of fields; save it there as PubMed (.nbib)")
    if format is None:
        raise InvalidRequest(f"{file} has no supported format ({', '.join(supported())}, also with {', '.join(COMPRESSIONS)})")
    return format


def plugged(file: Path) -> Plugin | None:
    """The plug-in that reads a file, by its suffix, if no built-in format has that."""
    suffix = suffix_of(file)
    return None if suffix in (*ANY_SUFFIXES, *SUFFIXES) else found("format", suffix[1:])


def supported() -> list[str]:
    """The suffixes of all formats, plug-ins' included."""
    return [f".{name}" for name in names("format", [suffix[1:] for suffix in SUFFIXES])]


def _rows_of_plugin(plugin: Plugin, path: Path) -> Iterator[tuple[int, Row]]:
    """A plug-in's rows of a file. Raises PluginFailed."""
    read = plugin.loaded()
    opened: Any = open_binary(path)
    with readable(path), io.BufferedReader(opened) as stream, plugin.answering(but=OSError):  # Arrow's stream of a .gz lacks lines
        for number, row in enumerate(read(stream), 1):
            if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
                raise InvalidRequest(f"row {number} is no dict of columns by their names, but {shortened(row)}")
            yield number, dict(row)


def looks_like_papers(file: Path) -> bool:
    """Whether a file whose suffix says nothing has a format, and if it is JSON, which is anything, a title."""
    try:
        format = format_of(file)
    except InvalidRequest:
        return False
    return format not in (JSON, JSON_LINES) or TITLE.search(in_utf8(beginning(file))) is not None


def suffix_of(path: Path) -> str:
    """The suffix of the format, without that of a compression: .jsonl of papers.jsonl.gz."""
    return Path(bare_name(path)).suffix.lower()
