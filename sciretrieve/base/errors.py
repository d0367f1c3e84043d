"""Every error that sciretrieve raises on purpose, as one tree.

    SciretrieveError
    ├── InvalidRequest      the caller can fix it                exit 2
    │   ├── UnknownName     says which names are similar
    │   ├── Ambiguous       lists the papers that are meant
    │   ├── IndexExists     says how to resume or overwrite
    │   ├── IndexClosed     says to open it again
    │   ├── EncoderMismatch names both encoders
    │   └── BadPaper        a row of a corpus that `strict` refuses
    ├── NotFound            no such index, file or paper         exit 2
    │   ├── NoSuchIndex     lists those that there are
    │   └── NoSuchPaper     a KeyError, too, for `index["id"]`
    ├── CorruptData         a file is damaged or has another     exit 3
    │                       format version
    └── Unavailable         a dependency or lock is unavailable  exit 4
        ├── MissingExtra    says the command that installs it
        ├── PluginFailed    names the plug-in's package
        ├── IndexBusy       another process writes this index
        ├── ResultAwaited   says how another program computes it
        └── TimedOut        nobody waits for the result any more

    UserWarning
    ├── RowsRejected        rows of a corpus are left out
    └── WordsAlone          an index with vectors is searched by BM25 alone

Python has them all as `sr.NoSuchPaper` and so on. The command line and every other front end map the four classes directly under the root,
and only those.
Constructor arguments stay in `args`, so that errors survive pickling between processes.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable


class SciretrieveError(Exception):
    """Base class of all errors that sciretrieve raises on purpose.

    >>> try:
    ...     index.search("graph", k=0)
    ... except sr.SciretrieveError as error:
    ...     print(error)
    k must be a whole number, at least 1, not 0
    """

    exit_code = 1


class InvalidRequest(SciretrieveError):
    """The request cannot be carried out as it stands. The message says what to change."""

    exit_code = 2


class NotFound(SciretrieveError):
    """An index, file or paper does not exist."""

    exit_code = 2


class NoSuchIndex(NotFound):
    """There is no index at a path or with a name, it is not finished, or it has no such generation."""


class NoSuchPaper(NotFound, KeyError):
    """No paper of an index has the id or name. It is a KeyError, since `index["id"]` raises it."""

    __str__ = Exception.__str__  # KeyError would show its argument's repr


class CorruptData(SciretrieveError):
    """A file is damaged, incomplete or of another format version."""

    exit_code = 3


class Unavailable(SciretrieveError):
    """A dependency, a download or a lock is unavailable now."""

    exit_code = 4


class UnknownName(InvalidRequest):
    """An unknown name. The message lists the most similar ones, or all if asked to."""

    def __init__(self, kind: str, name: str, known: Iterable[str], list_all: bool = False) -> None:
        super().__init__(kind, name, tuple(known), list_all)

    def __str__(self) -> str:
        kind, name, known, list_all = self.args
        near_names = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        near = f"; did you mean {' or '.join(map(repr, near_names))}?" if near_names else ""
        if near and not list_all:
            return f"unknown {kind} {name!r}{near}"
        most = len(known) if list_all else 12
        ending = f" and {len(known) - most} more" if len(known) > most else ""
        listing = ", ".join(sorted(known)[:most]) + ending or "none"
        return f"unknown {kind} {name!r}{f'{near} There' if near else '; there'} are: {listing}"


class Ambiguous(InvalidRequest):
    """A name for one paper matches several. The message lists the first of them."""

    def __init__(self, name: str, by: str, count: int, papers: Iterable[tuple[str, str, int | None]]) -> None:
        super().__init__(name, by, count, tuple(papers))

    def __str__(self) -> str:
        name, by, count, papers = self.args
        listing = [f"{id} ({', '.join(part for part in (' '.join(title.split()), str(year or '')) if part)})" for id, title, year in papers]
        ending = f" and {count - len(papers):,} more" if count > len(papers) else ""
        return f"{name!r} is the {by} of {count:,} papers; name one by its id: {'; '.join(listing)}{ending}"


class IndexExists(InvalidRequest):
    """A build would overwrite an index, or a partial build with other settings."""

    def __init__(self, path: str, what: str, offer: str = "") -> None:
        super().__init__(path, what, offer)

    def __str__(self) -> str:
        path, what, offer = self.args
        return f"{path} {what}; {offer}choose another folder, or pass `overwrite` to rebuild it"


class IndexClosed(InvalidRequest):
    """An index was used after it was closed."""

    def __str__(self) -> str:
        return f"{self.args[0]} is closed; open it again to use it, and close it after its last search, when its runs have been read"


class BadPaper(InvalidRequest):
    """A row that cannot be indexed in a strict build."""

    def __init__(self, source: str, row: int, reason: str) -> None:
        super().__init__(source, row, reason)

    def __str__(self) -> str:
        source, row, reason = self.args
        return f"{source}, row {row}: {reason}; fix the row, or leave out `strict` to skip such rows"


class MissingExtra(Unavailable):
    """An optional dependency is not installed."""

    def __init__(self, package: str, needed_for: str, install: str) -> None:
        super().__init__(package, needed_for, install)

    def __str__(self) -> str:
        package, needed_for, install = self.args
        return f"{needed_for} needs the package {package}, which is not installed: {install}"


class PluginFailed(Unavailable):
    """A plug-in cannot be imported, or does not do what its kind does."""

    def __init__(self, kind: str, name: str, package: str, what: str) -> None:
        super().__init__(kind, name, package, what)

    def __str__(self) -> str:
        kind, name, package, what = self.args
        return f"the {kind} {name!r} of the package {package} fails: {what}; update that package, or uninstall it"


class IndexBusy(Unavailable):
    """Another process holds the index's write lock."""

    def __init__(self, path: str, holder: str) -> None:
        super().__init__(path, holder)

    def __str__(self) -> str:
        path, holder = self.args
        return f"{path} is being written by {holder or 'another process'}; wait until it ends, then run the command again"


class ResultAwaited(Unavailable):
    """A result that another program computes is missing. The message says how to run the program."""


class TimedOut(Unavailable):
    """The work took longer than its caller waits."""


class EncoderMismatch(InvalidRequest):
    """An index would be searched with an encoder other than the one that built it."""

    def __init__(self, built_with: str, requested: str, what: str) -> None:
        super().__init__(built_with, requested, what)

    def __str__(self) -> str:
        built_with, requested, what = self.args
        return (
            f"the index was built with the encoder {built_with}, and {requested} here differs in its {what}; their vectors do not compare"
        )


def warn(message: str, category: type[Warning]) -> None:
    """Warn, at the line outside this package that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("sciretrieve."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class RowsRejected(UserWarning):
    """Warning: rows of a corpus could not be read and are left out. The message names the first, and the file that lists all."""


class WordsAlone(UserWarning):
    """Warning: an index with vectors is searched by BM25 alone, since the query cannot be encoded. The message says why."""
