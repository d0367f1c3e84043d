"""Citation keys put into a copy of a draft, whose text stays as it is otherwise."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from ..base.errors import InvalidRequest
from ..files.writing import check_parent, created
from ..papers.drafts.draft import DraftSentence, Manuscript

END = re.compile(r"[\s.!?:;。！？]*$")
"""What stays behind a citation at the end of a sentence."""


def insert(path: Path, draft: Manuscript, keys: Sequence[tuple[DraftSentence, str]]) -> Path:
    r"""Write a copy of a draft beside it, with a key before the last mark of each of some sentences: `\cite{key}`, or `[@key]`.

    Args:
        path: the draft's file. `paper.tex` becomes `paper.cited.tex`.
        draft: what was read from it.
        keys: sentences with their keys, in order.

    Returns:
        The copy's path.

    Raises:
        InvalidRequest: the file is no text in UTF-8, has changed since it was read, or the copy exists.
    """
    copy = path.with_name(f"{path.stem}.cited{path.suffix}")
    check_parent(copy)
    data = path.read_bytes()
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if mark + draft.source.encode(errors="replace") != data:
        raise InvalidRequest(f"{path} is no text in UTF-8, so no citation is put into it; save it as .tex, .md or .txt in UTF-8")
    parts, place = [], 0
    for sentence, key in keys:
        source = draft.source[sentence.start : sentence.end]
        end = sentence.start + END.search(source).start()  # type: ignore[union-attr]
        parts += [draft.source[place:end], _cited(key, draft)]
        place = end
    try:
        with created(copy, is_new=True) as file:
            file.write(mark + "".join([*parts, draft.source[place:]]).encode())
    except FileExistsError as error:
        raise InvalidRequest(f"{copy} exists already, and is not overwritten; rename or remove it") from error
    except OSError as error:
        raise InvalidRequest(f"{copy} cannot be written: {error.strerror or error}") from error
    return copy


def _cited(key: str, draft: Manuscript) -> str:
    if draft.notation == "latex":
        return f"~\\cite{{{key}}}"
    return f" [@{key}]"
