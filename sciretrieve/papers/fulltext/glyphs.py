"""The characters of a PDF's pages, as PDFium gives them: pieces of lines with their places.

Only this module imports pypdfium2. PDFium's own lines are kept as far as they go: it breaks a line wherever the next character stands
elsewhere, and sets blanks between words. Columns, paragraphs and all else are found by the modules that follow.
"""

from __future__ import annotations

import ctypes
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest

MOST_PAGES = 3_000
"""Pages that are read of one file: the longest of monographs have fewer."""
MOST_CHARACTERS = 200_000
"""Characters of a page above which it is no page of text."""
LARGEST = 512 << 20
"""Bytes of a file that is read."""
BROKEN_OFF = "\ufffe"
"""A hyphen at a line's end that may be due to it: no character of Unicode."""
HYPHENS_AT_ENDS = (0x02, 0xFFFE)
"""How versions of PDFium write it, in place of the line's break."""
OLD_LATEX = {0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl", 0x10: "ı", 0x19: "ß", 0x1A: "æ", 0x1B: "œ", 0x1C: "ø"}
OLD_LATEX |= {0x12: "`", 0x13: "´", 0x14: "ˇ", 0x15: "˘", 0x16: "¯", 0x17: "˚", 0x18: "¸", 0x7F: "¨"}
"""What stands at places of LaTeX's old fonts where Unicode has control characters; files from before 2005 do not say so."""
DASHES_OF_OLD_LATEX = str.maketrans({"{": "–", "|": "—"})
MOST_UNKNOWN = 0.3
"""The share of a file's characters that may be unknown: else it does not say which letters its fonts show."""
WIDE_GAP = 1.1
"""Sizes of the font between two characters above which they do not stand in one piece."""
SHIFT = 0.09
"""Sizes of the font by which what stands low or high is off the line."""
SLANT = 0.1
"""Radians above which a line is turned, as arXiv's stamp is in the margin."""
WORD_BEGINNINGS, WORD_ENDS = frozenset(map(ord, " \r\n-({[“\"'")), frozenset(map(ord, " \r\n-.,;:)}]”\"'"))
SMALLEST = 2.0
"""Points of a font in which anybody writes."""
TALL, TALL_HEIGHT = frozenset("bdfhklABDEFHIKLMNPRTXYZ0123456789"), 0.69
"""Letters as high as capitals, and their height as a share of their font's size."""
BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|cmbx|cmssbx|[-,]bd?\b|[-,]b$", re.IGNORECASE)
BOLD_WEIGHT = 600
FONT_NAME_BYTES = 128
ENCRYPTED = b"/Encrypt"
"""What every encrypted file has, in the clear."""
PASSWORD, SECURITY = 4, 5
"""PDFium's codes for a file that asks for a password, or is closed by other means."""


@dataclass(slots=True)
class Atom:
    """Characters that follow each other, in one size and on one base line.

    Attributes:
        left, right: in points from the page's left edge.
        base: their base line, in points from the page's upper edge.
        size: of their font, in points.
        is_apart: whether a blank is before them.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    is_apart: bool


@dataclass(slots=True)
class Stretch:
    """A part of a line that is set without a wide gap: its atoms, and whether its first and last characters are bold."""

    atoms: list[Atom]
    is_bold: bool = False
    left: float = field(init=False)
    right: float = field(init=False)
    base: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        sizes: Counter[float] = Counter()
        for atom in self.atoms:
            sizes[round(atom.size, 1)] += len(atom.text)
        usual = max(sizes, key=lambda size: (sizes[size], size))
        main = max((atom for atom in self.atoms if round(atom.size, 1) == usual), key=lambda atom: len(atom.text))
        self.left, self.right = min(atom.left for atom in self.atoms), max(atom.right for atom in self.atoms)
        self.base, self.size = main.base, main.size


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page.

    Attributes:
        number: from 1.
        width, height: in points, as it is seen.
        turned: what stands on it turned, such as arXiv's stamp in the margin.
        known, unknown: how many characters it has, and how many of which the file does not say what they mean.
    """

    number: int
    width: float
    height: float
    pieces: list[Stretch]
    turned: str
    known: int = 0
    unknown: int = 0


def title_and_pages(path: Path) -> tuple[str, list[SeenPage]]:
    """The title that a PDF says itself to have, often nonsense or nothing, and its pages.
    Raises InvalidRequest: it is no PDF, broken, encrypted, or too large.
    """
    import pypdfium2
    import pypdfium2.raw as pdfium

    if (size := path.stat().st_size) > LARGEST:
        raise InvalidRequest(f"{path} has {size >> 20:,} MB, more than the {LARGEST >> 20} that are read of a PDF")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        # the code may be that of the last file that could not be opened
        if getattr(error, "err_code", None) in (PASSWORD, SECURITY) and ENCRYPTED in path.read_bytes():
            raise InvalidRequest(f"{path} is encrypted, and asks for a password; remove it with the program that set it") from error
        raise InvalidRequest(f"{path} is broken, and cannot be read as a PDF") from error
    try:
        count = len(document)
        if count > MOST_PAGES:
            raise InvalidRequest(f"{path} has {count:,} pages, more than the {MOST_PAGES:,} that are read of a paper")
        pages = []
        known = unknown = 0
        for place in range(count):
            try:
                page = document[place]
            except pypdfium2.PdfiumError:  # the others may be whole
                continue
            pages.append(_page(pdfium, page, place + 1))
            known, unknown = known + pages[-1].known, unknown + pages[-1].unknown
            page.close()
        if unknown > MOST_UNKNOWN * (known + unknown):
            raise InvalidRequest(
                f"{path} does not say which letters its fonts show; recognise the text anew, as OCRmyPDF does with --force-ocr"
            )
        return document.get_metadata_value("Title") or "", pages
    finally:
        document.close()


def _is_known(code: int) -> bool:
    """Whether a code is of a character that means something: no control, of no private use, and no half of a pair."""
    return code >= 0x20 and not 0x7F <= code < 0xA0 and not 0xD800 <= code < 0xF900 and code not in (0xFFFD, 0xFFFE, 0xFFFF)


def _is_letter(code: int) -> bool:
    return chr(code).isalpha()


def _page(pdfium: Any, page: Any, number: int) -> SeenPage:
    text_page = page.get_textpage()
    try:
        reader = _Reader(pdfium, text_page.raw, page.get_rotation(), *page.get_size())
        pieces = list(reader.pieces())
        return SeenPage(number, reader.width, reader.height, pieces, " ".join(reader.turned), reader.known, reader.unknown)
    finally:
        text_page.close()


class _Reader:
    """One page's characters, gathered into pieces. Turned pages are read as they are seen."""

    def __init__(self, pdfium: Any, raw: Any, rotation: int, width: float, height: float) -> None:
        self._pdfium, self._raw, self._rotation = pdfium, raw, rotation
        self.width, self.height = width, height
        self.turned: list[str] = []
        self.known = self.unknown = 0
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._drawn: dict[int, float] | None = None
        self._name, self._flags = ctypes.create_string_buffer(FONT_NAME_BYTES), ctypes.c_int()

    def pieces(self) -> Iterator[Stretch]:
        """Yield the page's pieces in the order in which the file has them."""
        start, turned, atoms = -1, False, list[Atom]()
        last = -1
        is_apart = False
        for place, char in self._characters():
            if char == "\n":
                yield from self._done(atoms, start, last, turned)
                atoms, start, is_apart = [], -1, False
                continue
            if char.isspace():
                is_apart = True
                continue
            left, right, base = self._place(place)
            if start >= 0 and not turned and self._is_elsewhere(atoms[-1], left, right, base):
                yield from self._done(atoms, start, last, turned)
                atoms, start, is_apart = [], -1, False
            if start < 0:
                start, turned = place, self._is_turned(place)
            if atoms and not is_apart and abs(atoms[-1].base - base) <= SHIFT * atoms[-1].size:
                atom = atoms[-1]
                atom.text += char
                atom.left, atom.right = min(atom.left, left), max(atom.right, right)
            else:
                atoms.append(Atom(char, left, right, base, self._size(place), is_apart))
            is_apart, last = False, place
            if char == BROKEN_OFF:
                yield from self._done(atoms, start, last, turned)
                atoms, start = [], -1
        yield from self._done(atoms, start, last, turned)

    def _characters(self) -> Iterator[tuple[int, str]]:
        pdfium, raw = self._pdfium, self._raw
        codes = [pdfium.FPDFText_GetUnicode(raw, place) for place in range(min(pdfium.FPDFText_CountChars(raw), MOST_CHARACTERS))]
        has_old_latex = any(self._is_old_latex(codes, place) for place, code in enumerate(codes) if code in OLD_LATEX)
        self.known = self.unknown = 0
        for place, code in enumerate(codes):
            if code in HYPHENS_AT_ENDS and pdfium.FPDFText_IsHyphen(raw, place) == 1:
                yield place, BROKEN_OFF
            elif code in OLD_LATEX and self._is_old_latex(codes, place):
                yield place, OLD_LATEX[code]
            elif code in (0x09, 0x0A, 0x0D):
                yield place, " " if code == 0x09 else "\n"
            elif 0xDC00 <= code < 0xE000 and place and 0xD800 <= codes[place - 1] < 0xDC00:
                yield place, chr(0x10000 + ((codes[place - 1] - 0xD800) << 10) + code - 0xDC00)
            elif _is_known(code):
                self.known += 1
                yield place, chr(code).translate(DASHES_OF_OLD_LATEX) if has_old_latex else chr(code)
            else:
                self.unknown += 1

    def _is_old_latex(self, codes: Sequence[int], place: int) -> bool:
        """Whether a control character is a ligature or an accent: letters are beside it, and it is no break that PDFium put there."""
        before, after = (codes[near] if 0 <= near < len(codes) else 0x20 for near in (place - 1, place + 1))
        further = codes[place + 2] if place + 2 < len(codes) else 0x20
        is_beside = (_is_letter(before) and (_is_letter(after) or after in WORD_ENDS)) or (
            before in WORD_BEGINNINGS and _is_letter(after) and _is_letter(further)
        )
        return is_beside and not (codes[place] == 0x0D and self._pdfium.FPDFText_IsGenerated(self._raw, place) == 1)

    def _place(self, place: int) -> tuple[float, float, float]:
        """A character's left and right edge and its base line, as they are seen."""
        pdfium, box = self._pdfium, self._box
        pdfium.FPDFText_GetLooseCharBox(self._raw, place, ctypes.byref(box))
        pdfium.FPDFText_GetCharOrigin(self._raw, place, ctypes.byref(self._x), ctypes.byref(self._y))
        if self._rotation == 0:
            return box.left, box.right, self.height - self._y.value
        if self._rotation == 90:
            return box.bottom, box.top, self._x.value
        if self._rotation == 180:
            return self.width - box.right, self.width - box.left, self._y.value
        return self.width - box.top, self.width - box.bottom, self.height - self._x.value

    def _is_elsewhere(self, atom: Atom, left: float, right: float, base: float) -> bool:
        """Whether a character does not follow an atom in its line, from the left or from the right."""
        gap = max(left - atom.right, atom.left - right)
        return gap > WIDE_GAP * atom.size or abs(base - atom.base) > atom.size

    def _is_turned(self, place: int) -> bool:
        angle = self._pdfium.FPDFText_GetCharAngle(self._raw, place) + math.radians(self._rotation)  # clockwise
        return abs(math.remainder(angle, 2 * math.pi)) > SLANT

    def _size(self, place: int) -> float:
        pdfium, matrix = self._pdfium, self._matrix
        pdfium.FPDFText_GetMatrix(self._raw, place, ctypes.byref(matrix))
        size = float(pdfium.FPDFText_GetFontSize(self._raw, place) * math.hypot(matrix.c, matrix.d))
        if size >= SMALLEST:
            return size
        if self._drawn is None:
            self._drawn = self._drawn_sizes()
        return self._drawn.get(self._font(place)) or statistics.median(self._drawn.values() or (SMALLEST,))

    def _font(self, place: int) -> int:
        """What tells the font of a character from others; 0 if it has none."""
        text = self._pdfium.FPDFText_GetTextObject(self._raw, place)
        font = self._pdfium.FPDFTextObj_GetFont(text) if text else None
        return ctypes.addressof(font.contents) if font else 0

    def _drawn_sizes(self) -> dict[int, float]:
        """The sizes of fonts whose characters are drawings or pictures, as old LaTeX made them, by the height of their tall letters: such
        fonts do not say how large they are."""
        heights: dict[int, list[float]] = {}
        for place, char in self._characters():
            if char in TALL and (font := self._font(place)):
                box = self._box
                self._pdfium.FPDFText_GetLooseCharBox(self._raw, place, ctypes.byref(box))
                height = box.right - box.left if self._rotation in (90, 270) else box.top - box.bottom
                heights.setdefault(font, []).append(height / TALL_HEIGHT)
        return {font: max(statistics.median(own), SMALLEST) for font, own in heights.items()}

    def _is_bold(self, place: int) -> bool:
        pdfium = self._pdfium
        if pdfium.FPDFText_GetFontWeight(self._raw, place) >= BOLD_WEIGHT:
            return True
        pdfium.FPDFText_GetFontInfo(self._raw, place, self._name, FONT_NAME_BYTES, ctypes.byref(self._flags))
        return BOLD.search(self._name.value.decode(errors="replace")) is not None

    def _done(self, atoms: list[Atom], first: int, last: int, turned: bool) -> Iterator[Stretch]:
        if turned:
            self.turned.append("".join(" " * atom.is_apart + atom.text for atom in atoms))
        elif atoms:
            yield Stretch(atoms, self._is_bold(first) and self._is_bold(last))
