"""Where papers come from: files, directories and globs of many formats, all read as one stream of Arrow tables.

Each format has its own file here with a function `rows(path)` that yields its rows by number, and each kind of records one in `dialects`;
`formats.py` says which format a file has; `papers.py` turns rows into papers and rejects bad ones. Nothing reads a whole corpus into
memory, except the parsing libraries for BibTeX and RIS (such files are personal libraries, not corpora of millions).
"""

from ...options import ColumnMap
from .attributes import FIELDS, Attribute, AttributedPapers, fields_in, read_attributed
from .column_notes import Reading
from .corpus import Corpus, PaperCorpus, Sources, TableCorpus, open_corpus
from .papers import Batch
from .query_files import read_queries
from .raw import CutOff, Rejected, Withdrawn
from .rejections import Rejections, Tally, accepted, read_rejections, warn_of

__all__ = [
    "FIELDS",
    "Attribute",
    "AttributedPapers",
    "Batch",
    "ColumnMap",
    "Corpus",
    "CutOff",
    "PaperCorpus",
    "Reading",
    "Rejected",
    "Rejections",
    "Sources",
    "TableCorpus",
    "Tally",
    "Withdrawn",
    "accepted",
    "fields_in",
    "open_corpus",
    "read_attributed",
    "read_queries",
    "read_rejections",
    "warn_of",
]
