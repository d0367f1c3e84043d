"""How fast is BibTeX read beside pybtex alone? Entries as Zotero exports them, made up here."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from pybtex.database import parse_file
from reporting import arguments, report, taking_turns

from sciretrieve.papers.corpora import open_corpus

WORDS = (
    r"graph neural na{\"i}ve {Bayes} M{\"u}nchen $\alpha$-helix 5\% R\&D caf\'e data-driven retrieval of the in search -- \emph{in vivo}"
)


def entry(number: int, chance: random.Random) -> str:
    """One entry with an abstract of 200 words, every eighth of which has markup."""
    words = WORDS.split(" ")
    plain = [word for word in words if word.isalpha()]

    def text(length: int) -> str:
        return (
            " ".join(chance.choice(words if at % 8 == 0 else plain) for at in range(length))
            .replace(r"\emph{in", "in")
            .replace("vivo}", "vivo")
        )

    fields = {
        "title": text(10),
        "author": r"M{\"u}ller, J{\"o}rg and Lovelace, Ada and {The Google Team} and Garc{\'\i}a, Jos{\'e}",
        "journal": "Journal of " + text(2),
        "year": str(1990 + number % 30),
        "pages": f"{number}--{number + 9}",
        "doi": f"10.1000/{number}",
        "url": f"https://example.org/a_{number}?q=a%20b",
        "abstract": text(200),
        "file": rf"Full Text:/home/x/{number}.pdf:application/pdf",
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@article{{key{number},\n{lines}\n}}\n"


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, entries=5000, rounds=1)
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.bib"
        path.write_text("\n".join(entry(number, chance) for number in range(chosen.entries)), encoding="utf-8")
        seconds = taking_turns(
            {"sciretrieve": lambda: list(open_corpus(path).batches()), "pybtex.parse_file": lambda: parse_file(path)}, chosen.rounds
        )
    report(
        [{"reader": name, "seconds": value, "entries/s": chosen.entries / value} for name, value in seconds.items()],
        chosen.json,
    )


if __name__ == "__main__":
    main()
