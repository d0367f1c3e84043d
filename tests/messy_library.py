r"""A bibliography as people keep it for fifteen years, made up from a seed: macros, crossref, accents, braces, suffixes, others, comments,
odd kinds and fields, keys of any letters, repeated and broken entries. What each entry says in plain text is known."""

import random
from dataclasses import dataclass

SYLLABLES = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeiou"]
FAMILIES = [
    (r"M{\"u}ller", "Müller"),
    (r"{M\"uller}", "Müller"),
    (r"Garc{\'\i}a M{\'a}rquez", "García Márquez"),
    (r"Erd{\H o}s", "Erdős"),
    (r"{\O}stergaard", "Østergaard"),
    (r"van der Ber{\ss}", "van der Berß"),
    (r"de la Cruz", "de la Cruz"),
    (r"Nguy{\~{\^e}}n", "Nguyễn"),
    (r"Fran{\c c}ois", "François"),
    (r"\v{S}im\'{o}n\'a", "Šimóná"),
    ("O'Brien", "O'Brien"),
    ("Łukasiewicz", "Łukasiewicz"),
    ("Smith-Jones", "Smith-Jones"),
    ("李", "李"),
]
FIRSTS = [(r"J{\"o}rg", "Jörg"), ("Ada M.", "Ada M."), (r"Jos{\'e}", "José"), ("K.~A.", "K. A."), ("明", "明"), (r"Zo\"e", "Zoë")]
KINDS = [
    "article",
    "Article",
    "INPROCEEDINGS",
    "inproceedings",
    "book",
    "incollection",
    "phdthesis",
    "techreport",
    "misc",
    "online",
    "patent",
]
KINDS += ["software", "unpublished", "newtype"]
OWN_FIELDS = ["file = {Full Text:/home/x/{n}.pdf:application/pdf}", "x-rating = 5", "timestamp = {2011.02.03}", "keywords = {a, b; c}"]
OWN_FIELDS += [r'note = "100\% of {\em it} \& more"', "month = may", 'month = "10~" # jan', "owner = {}", r"annote = {a % b @ c # d}"]
BROKEN = [
    "@article{broken{n},\n  title = {Never {closed, year = 2001\n",
    "@misc{broken{n}, title {No sign of equality}}\n",
    '@book{broken{n},\n  title = "Not closed either, year = 2001\n',
    "@article{broken{n},\n  title : {Closed}\n}\n",
]
BETWEEN = ["% a comment, by me@example.org\n", "@comment{jabref-meta: groups;}\n", "Some words between.\n", "\n\n", "@COMMENT nothing\n"]


@dataclass(frozen=True)
class Entry:
    """What an entry says: its key, DOI, title, and the authors as they are shown."""

    key: str
    doi: str | None
    title: str
    authors: tuple[str, ...]
    has_more: bool
    venue: str | None


@dataclass(frozen=True)
class Library:
    """A bibliography, its papers in order, and the keys of its broken and of its repeated entries."""

    text: str
    entries: tuple[Entry, ...]
    broken: tuple[str, ...]
    repeated: tuple[str, ...]


def messy_library(papers: int, seed: int = 0) -> Library:
    """A bibliography of so many papers, a twentieth of which are proceedings that others are in."""
    chance = random.Random(seed)
    parts = [
        '@string{nips = "Advances in {Neural} Systems"}\n@STRING(lncs = {Lecture Notes } # {in X})\n@preamble{"\\newcommand{\\x}{y}"}\n'
    ]
    parts.append("@xdata{press, publisher = {A Press}, location = {K{\\o}benhavn}}\n")
    entries: list[Entry] = []
    broken: list[str] = []
    repeated: list[str] = []
    proceedings = papers // 20
    for number in range(papers - proceedings):
        entry, text = _entry(chance, number, proceedings)
        entries.append(entry)
        parts.append(text)
        if chance.random() < 0.1:
            parts.append(chance.choice(BETWEEN))
        if chance.random() < 0.02:
            parts.append(chance.choice(BROKEN).replace("{n}", str(number)))
            broken.append(f"broken{number}")
        if chance.random() < 0.01:
            parts.append(f"@misc{{{entry.key}, title = {{The same key again}}}}\n")
            repeated.append(entry.key)
    for number in range(proceedings):
        title = f"Proceedings of the {_words(chance, 3)} {number}"
        parts.append(
            f"@proceedings{{proc:{number},\n  title = {{{title}}}, booktitle = {{Proc.\\ {number}}}, year = {{{1990 + number % 30}}}\n}}\n"
        )
        entries.append(Entry(f"proc:{number}", None, title, (), False, f"Proc. {number}"))
    return Library("\n".join(parts), tuple(entries), tuple(broken), tuple(repeated))


def _words(chance: random.Random, count: int) -> str:
    return " ".join("".join(chance.choices(SYLLABLES, k=3)) for _ in range(count))


def _entry(chance: random.Random, number: int, proceedings: int) -> tuple[Entry, str]:
    key = chance.choice(["{w}{n}", "Müller:{n}", "DBLP:conf/{w}/{n}", "{w}+{n}.x", "图{n}", "{w}_{n}", "10.1000/key.{n}"])
    key = key.replace("{w}", _words(chance, 1)).replace("{n}", str(number))
    latex, title = _title(chance, number)
    names = [_name(chance) for _ in range(chance.randint(1, 4))]
    has_more = chance.random() < 0.1
    authors = " and ".join([name for name, _ in names] + ["others"] * has_more)
    doi = f"10.1000/j.{number}_{chance.randint(0, 99)}" if chance.random() < 0.7 else None
    kind, venue = chance.choice(KINDS), None
    fields = [("title", latex), ("author", f"{{{authors}}}"), ("year", chance.choice(["{2001}", "1999", '"2010"', r"{\noopsort{a}2012}"]))]
    place = chance.random()
    if place < 0.2:
        parent = chance.randrange(proceedings)
        fields.append((chance.choice(["crossref", "CROSSREF"]), f"{{proc:{parent}}}"))
        kind, venue = "inproceedings", f"Proc. {parent}"
    elif place < 0.4:
        fields.append(("journal", 'nips # " " # lncs'))
        venue = "Advances in Neural Systems Lecture Notes in X"
    elif place < 0.7:
        fields.append(("Journal", r"{Z. f{\"u}r Physik}"))
        venue = "Z. für Physik"
    if doi:
        fields.append(("doi", chance.choice(["{%s}", '"https://doi.org/%s"', "{%s}"]) % doi.replace("_", chance.choice(["_", r"\_"]))))
    if chance.random() < 0.1:
        fields.append(("xdata", "{press}"))
    if chance.random() < 0.4:
        abstract = " ".join([_words(chance, 20), r"with $O(n^{2})$, 5\,\% of {\it it}~--- ``so''", _words(chance, 20)])
        fields.append(("abstract", f"{{{abstract}}}"))
    lines = [f"{name} = {value}" for name, value in fields]
    lines += [field.replace("{n}", str(number)) for field in chance.sample(OWN_FIELDS, chance.randint(0, 3)) if "month" not in str(lines)]
    first, *others = lines
    chance.shuffle(others)
    opening, closing = chance.choice([("{", "}"), ("{", "}"), ("(", ")")])
    layout = chance.choice([",\n  ", ", ", ",\n\t"])
    text = f"@{kind}{opening}{key}{layout}{layout.join([first, *others])}{chance.choice(['', ','])}\n{closing}\n"
    return Entry(key, doi or (key if key.startswith("10.") else None), title, tuple(name for _, name in names), has_more, venue), text


def _title(chance: random.Random, number: int) -> tuple[str, str]:
    words = _words(chance, 5)
    latex, plain = chance.choice(
        [
            ("{%s {%s} study}", "%s %s study"),
            ('"The {%s} of {\\TeX} %s"', "The %s of TeX %s"),
            (r"{{\"U}ber %s \& \emph{%s}}", "Über %s & %s"),
            ("{{%s:\n   the $\\alpha$-%s\n   problem}}", "%s: the α-%s problem"),
            (r"{%s \textit{in vivo}~\cite{x}: \url{https://a.org/~%s}}", "%s in vivo: https://a.org/~%s"),
        ]
    )
    return latex % (words, f"n{number}"), plain % (words, f"n{number}")


def _name(chance: random.Random) -> tuple[str, str]:
    (family, shown), (first, shown_first) = chance.choice(FAMILIES), chance.choice(FIRSTS)
    kind = chance.random()
    if kind < 0.1 and family != "李":
        return f"{family}, Jr., {first}", f"{shown_first} {shown} Jr."
    if kind < 0.2:
        return "{The LIGO and Virgo Team}", "The LIGO and Virgo Team"
    return f"{family}, {first}", "李明" if family + first == "李明" else f"{shown_first} {shown}"
