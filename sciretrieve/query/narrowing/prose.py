"""Recognition of prose: sentences, titles, references and abstracts. Quotation marks, dashes, stars, AND and NOT are no operators in it.

A text is prose if it has more beside such signs than people type in a query:

- more than twelve adjacent words; five, with a word that only sentences have (is, we, which) or the end of a sentence or heading among
  them; a question of four words; NOT after a verb ("is NOT"); a dash between words ("Self -dual fields in …"); seven words all in capitals;
- if its only signs are quotation marks, and stars after names: four words, with a word that only sentences have, an article or punctuation;
  six words, with another small word (of, in, for); or a full stop or a question mark at the end;
- a single quotation of four words with a small word, or of three words with a full stop. It is required if any paper contains it.

A text in one pair of parentheses that contains AND, OR or NOT is not prose: `(what is known AND mice)`. Fields and exclusions at the end of
prose are operators: `how do transformers read tables? year:2020- -survey`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

LONGEST_SIDE = 12
"""Most adjacent words without AND, OR and NOT in a typed query. A longer run was pasted, as in "DESIGN AND METHODS: we asked …"."""
RUN, FEW, MANY, IN_CAPITALS = 5, 4, 6, 6
"""Adjacent words from which a run can be a sentence; words beside quotation marks, with a sign of a sentence and with a small word; and
most words in an all-capital query with AND, OR or NOT, but without quotes and parentheses."""
_VERBS = """
is are was were be been being am do does did has have had can could may might must shall should will would cannot why
"""
_OF_SENTENCES = """
we you he she it they me us them my our your his her its their who whom whose which what when where how whether this that these those there
because although while than if
"""
_SMALL = "of in on for with by to from at as into via using about between and or not but"
VERBS = frozenset(_VERBS.split())
OF_SENTENCES = VERBS | frozenset(_OF_SENTENCES.split())
OF_TITLES = OF_SENTENCES | {"the", "a", "an"}
SMALL = OF_TITLES | frozenset(_SMALL.split())
PIECE = re.compile(
    r'(?P<minus>-)?(?:(?P<of>[^\W\d][\w.-]*):)?"(?P<phrase>\s*[^\s"][^"]*)"(?P<slop>~\d)?'
    r'|[()]*(?P<sign>AND|OR|NOT|NEAR/\d{1,3})(?=[\s()"]|$)|(?P<word>[^\s"]+)|"'
)
FIELD = re.compile(r"-?\(*(?P<name>[^\W\d][\w.-]*):(?=[^\s:/])")
LEFT_OUT = re.compile(r"\(*-\(*[^\W\d_].*")
BEGINNING = re.compile(r"\(*[^\W\d_]*[a-z]\*[),;.:!?]*")
"""A truncated word, as opposed to a name such as PAC*."""
END, PAUSE = re.compile(r"[.?!…][)\"'\]]*$"), re.compile(r"[.:;?!…][)\"'\]]*$")
PUNCTUATION = ",.:;?!…"
OF_REFERENCES = ("doi", "id", "url", "pmid", "arxiv", "title", "abstract")
"""Fields that also occur in references and pasted pages: "doi:10.1000/182", "Abstract:We …"."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A text read as prose: the text itself, the operators at its end, its quotations, signs that would be operators in a query, and
    whether it is a single quotation."""

    text: str
    operators: str
    quotations: tuple[str, ...]
    signs: tuple[str, ...]
    is_quotation: bool


def prose(text: str, is_field: Callable[[str], bool]) -> Prose | None:
    """Read a typed text as prose; None if it is a query expression. `is_field` tells whether a name before a colon is a field."""
    pieces = [_Piece(match, is_field) for match in PIECE.finditer(text)]
    if any(piece.sign for piece in pieces) and _is_in_parentheses(text.strip()):
        return None
    count = len(pieces)
    while count and pieces[count - 1].is_at_end and not (count > 1 and pieces[count - 1].is_left_out and pieces[count - 2].word in SMALL):
        count -= 1
    body, end = pieces[:count], pieces[count].start if count < len(pieces) else len(text)
    if not _is_prose(body, text[:end]):
        return None
    quotations = dict.fromkeys(" ".join(piece.phrase.split()) for piece in body if piece.phrase)
    is_quotation = not any(piece.chunk for piece in body)
    signs = dict.fromkeys(piece.sign or piece.chunk for piece in body if piece.is_sign or piece.is_field or piece.is_left_out)
    text_itself = body[0].phrase if is_quotation else text[:end]
    return Prose(text_itself, text[end:], tuple(quotations), tuple(filter(None, signs)), is_quotation)


class _Piece:
    """A word, a quotation, or AND, OR or NOT of a typed text."""

    def __init__(self, match: re.Match[str], is_field: Callable[[str], bool]) -> None:
        self.start = match.start()
        self.phrase, self.sign, self.chunk = match["phrase"] or "", match["sign"] or "", match["word"] or ""
        field = FIELD.match(self.chunk)
        name = match["of"] or (field["name"] if field else "")
        self.is_field = bool(name) and is_field(name)
        is_apart = not self.start or match.string[self.start - 1].isspace()  # unlike in "g"-theorem
        self.is_left_out = is_apart and (bool(match["minus"]) or (not self.is_field and LEFT_OUT.fullmatch(self.chunk) is not None))
        self.is_sign = bool(self.sign or match["slop"] or (match["minus"] and self.phrase) or BEGINNING.fullmatch(self.chunk))
        """Whether it is an operator in any place."""
        self.is_at_end = (self.is_field and name.lower() not in OF_REFERENCES) or (self.is_left_out and not self.chunk.endswith("-"))
        """Whether it is also an operator at the end of prose."""
        self.is_word = bool(self.chunk) and not (self.is_sign or self.is_field or self.is_left_out)
        word = self.chunk.strip("()[].,:;?!…'")
        self.word = "" if word.isupper() and word not in ("A", "I") else word.lower()
        """The word, or "" for an abbreviation."""


def _is_in_parentheses(text: str) -> bool:
    """Whether one pair of parentheses encloses the whole text."""
    depths = list(accumulate((char == "(") - (char == ")") for char in text))
    return bool(depths) and depths[-1] == 0 and all(depths[:-1])


def _is_prose(pieces: Sequence[_Piece], text: str) -> bool:
    words = [piece for piece in pieces if piece.is_word]
    if not words:
        phrase = pieces[0].phrase if len(pieces) == 1 and not pieces[0].is_sign and not pieces[0].is_field else ""
        quoted = phrase.lower().split()
        if not quoted:
            return False
        least = FEW - 1 if END.search(quoted[-1]) else FEW
        return len(quoted) > LONGEST_SIDE or (len(quoted) >= least and (least < FEW or not SMALL.isdisjoint(quoted)))
    is_in_capitals = not re.search("[a-z]", text) and any(piece.chunk.isupper() for piece in words)
    if is_in_capitals:
        for piece in words:
            piece.word = piece.chunk.strip("()[].,:;?!…'").lower()
        if not set(text) & set('"()') and len(text.split()) > IN_CAPITALS:
            return True
    runs: list[list[_Piece]] = [[]]
    for place, piece in enumerate(pieces):
        if piece.sign:
            if piece.sign == "NOT" and place and pieces[place - 1].word in VERBS:
                return True
            runs.append([])
        elif piece.is_word:
            runs[-1].append(piece)
    small = SMALL if is_in_capitals else OF_SENTENCES
    if any(len(run) > LONGEST_SIDE or (len(run) >= RUN and _is_of_sentence(run, small)) for run in runs):
        return True
    is_question = text.rstrip().endswith("?")
    if is_question and len(words) >= FEW and any(piece.word in OF_SENTENCES for piece in words):
        return True
    if any(_is_dash(pieces, place) for place, piece in enumerate(pieces) if piece.is_left_out and piece.chunk[1:2].isalpha()):
        return True
    if any(piece.is_left_out or piece.is_sign or piece.is_field for piece in pieces):
        return False
    if any(len(piece.phrase.split()) > LONGEST_SIDE for piece in pieces):
        return True
    if len(words) >= (2 if is_question else 3) and END.search(text.rstrip()):
        return True
    is_marked = any(piece.word in OF_TITLES or piece.chunk[-1] in PUNCTUATION for piece in words)
    return (len(words) >= FEW and is_marked) or (len(words) >= MANY and any(piece.word in SMALL for piece in words))


def _is_of_sentence(run: Sequence[_Piece], small: frozenset[str]) -> bool:
    """Whether adjacent words contain a word that only sentences have, or the end of a sentence or heading."""
    return any(piece.word in small for piece in run) or any(PAUSE.search(piece.chunk) for piece in run[:-1])


def _is_dash(pieces: Sequence[_Piece], place: int) -> bool:
    """Whether a minus before a word is a dash: after a small word, a letter or a heading, before another dash, or in a title."""
    before, after = pieces[:place], [piece for piece in pieces[place + 1 :] if piece.is_word]
    chunk = pieces[place].chunk
    if chunk.endswith("-") or any(len(piece.chunk) > 1 and piece.chunk.endswith("-") for piece in after):
        return True
    last = before[-1] if before else None
    words = [piece for piece in before if piece.is_word] + after
    is_letter = last is not None and len(last.chunk) == 1 and len(words) >= FEW
    if last is not None and last.is_word and (is_letter or last.word in SMALL or PAUSE.search(last.chunk)):
        return True
    if last is None or not after:
        return False
    is_title = chunk[1].isupper() and all(not piece.chunk[0].islower() for piece in words)
    return is_title or (len(words) >= MANY and any(piece.word in SMALL for piece in words))
