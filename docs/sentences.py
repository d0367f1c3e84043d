"""Lists the longest and most nested sentences of README, documents, help texts and error messages: `python docs/sentences.py [N]`."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
SCREEN = 40
"""Lines of a document that are its first screen."""
END = re.compile(r"(?<!e\.g\.)(?<!al\.)(?<!App\.)(?<=[.!?])[)\"”*]*\s+(?=[\"“'(*\[]*[A-Z0-9`$/-])|(?<=\)\.)\s+")
CLAUSE = re.compile(
    r"\b(that|which|who|whom|whose|what|where|when|while|if|unless|because|since|as|than|those|but)\b|[;()—]|: ", re.IGNORECASE
)
"""What begins a clause or something put in between."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and where it is."""

    kind: str
    place: str
    text: str
    is_first: bool = True
    """Whether it is on a document's first screen; true of everything that is no document."""

    @property
    def words(self) -> int:
        """How many words it has; a piece of code is one."""
        return len(re.findall(r"\w[^\s]*|…", self.text))

    @property
    def nested(self) -> int:
        """How many clauses and insertions it has."""
        return len(CLAUSE.findall(self.text))


def cut(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence for sentence in END.split(" ".join(text.split())) if sentence]


def plain(markdown: str) -> str:
    """Markdown without links, pictures and marks; a piece of code is a word."""
    text = re.sub(r"!\[.*?\]\(.*?\)|<!--.*?-->", "", markdown, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", text)).replace("*", "")


def paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, items and cells of a page, each with its line; blocks of code and headings are left out."""
    kept, first, is_code = "", 1, False
    for number, line in enumerate([*page.splitlines(), ""], 1):
        is_code ^= line.lstrip().startswith("```")
        begins = re.match(r"\s*([-*#|>]|\d+\.\s|$)", line) is not None
        if begins or is_code or line.lstrip().startswith("```"):
            yield first, kept
            kept = ""
        if is_code or not line.strip() or line.lstrip().startswith(("```", "#", "![")):
            continue
        if line.lstrip().startswith("|"):
            yield from ((number, cell) for cell in line.split("|") if not re.fullmatch(r"[\s:-]*", cell))
            continue
        first = number if not kept else first
        kept += re.sub(r"^\s*([-*>]|\d+\.)\s", "", line) + "\n"


def of_pages() -> Iterator[Sentence]:
    """Those of README and of the documents that people write; the rest of the command reference is help."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        name = path.relative_to(ROOT).as_posix()
        if name == "docs/cli.md":
            continue
        for line, paragraph in paragraphs(path.read_text(encoding="utf-8")):
            for text in cut(plain(paragraph)):
                yield Sentence("README" if name == "README.md" else "docs", f"{name}:{line}", text, line <= SCREEN or name == "README.md")


def of_help() -> Iterator[Sentence]:
    """Those of commands, arguments, options and settings."""
    generator = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    for command in generator["all_commands"]():
        texts = [*command.about.split("\n\n"), *(about for rows in command.lists.values() for _, about in rows)]
        for text in dict.fromkeys(texts):
            yield from (
                Sentence("help", command.path, sentence) for sentence in cut(re.sub(r" ?\[(default: .*|required)\]$", "", plain(text)))
            )


def of_messages() -> Iterator[Sentence]:
    """Those of texts that the package raises; what is filled in is a word."""
    for path in sorted((ROOT / "sciretrieve").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                for text in (written(argument) for argument in node.exc.args):
                    place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
                    yield from (Sentence("messages", place, sentence) for sentence in cut(plain(text)))


def written(node: ast.expr) -> str:
    """The text of a literal; nothing for other expressions."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")


def sentences() -> list[Sentence]:
    """All of them."""
    return [*of_pages(), *of_help(), *of_messages()]


if __name__ == "__main__":
    found = sentences()
    for kind in ("README", "docs", "help", "messages"):
        counts = [sentence.words for sentence in found if sentence.kind == kind]
        long = sum(count > 30 for count in counts)
        say(f"{kind}: {len(counts):,} sentences, median {median(counts):g} words, longest {max(counts)}, {long} over 30")
    for sentence in sorted(found, key=lambda each: each.words + 2 * each.nested, reverse=True)[: int((sys.argv + ["100"])[1])]:
        say(f"{sentence.words:4}  {sentence.nested:3}  {sentence.place}: {sentence.text}")
