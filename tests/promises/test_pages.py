"""The pages for people: every command on them runs, in their order, and prints what the page shows."""

import io
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import sciretrieve
from tests.promises import libraries

pytestmark = pytest.mark.embedded_encoder

DOCS = Path(__file__).parents[2] / "docs"
NUMBER = re.compile(r"[\d.,:+-]*\d")
"""What differs between machines and days: scores, sizes, times."""


def steps(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page's consoles, each with the lines that it shows below."""
    for block in re.findall(r"```console\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = step.replace("\\\n", "").splitlines()
            yield command, [line for line in lines if line.strip() not in ("", "…")]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory that is the working directory, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("DATA", "INDEX", "CONFIG"):
        monkeypatch.delenv(f"SCIRETRIEVE_{name}", raising=False)
    for name in ("DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / f".{name.lower()}"))
    return tmp_path


def walk_through(page: str, before: Mapping[str, Callable[[], None]] = {}) -> None:
    """Run a page's commands, as a shell would. `before` has what somebody does elsewhere before a command that begins so."""
    for command, shown_lines in steps(page):
        for beginning, act in before.items():
            if command.startswith(beginning):
                act()
        program, *arguments = (word.replace("~/", f"{Path.home()}/") for word in shlex.split(command))
        assert program == "sciretrieve", command
        target = Path(arguments.pop()) if ">" in arguments else None
        result = sciretrieve(*(argument for argument in arguments if argument != ">"))
        assert result.returncode == 0, (command, result.stderr)
        if target is not None:
            target.write_text(result.stdout, encoding="utf-8")
            assert result.stdout.strip(), command
        printed = {NUMBER.sub("#", line).strip() for line in (result.stdout + result.stderr).splitlines()}
        for line in shown_lines:
            assert NUMBER.sub("#", line).strip() in printed, (command, line, result.stdout, result.stderr)


def test_a_doctoral_student_with_zotero(home: Path) -> None:
    computing, biology = libraries.papers("computer science"), libraries.papers("biology")
    late = {"komor2016programmable", "anzalone2019searchandreplace"}
    first = [paper for paper in [*computing, *biology] if paper["id"] not in late]
    libraries.write_zotero(home / "Zotero", first)
    library = libraries.papers("biology")
    walk_through(
        "student.md",
        {"sciretrieve sync": lambda: libraries.write_zotero(home / "Zotero", [paper for paper in library if paper["id"] in late])},
    )


def test_a_librarian_with_openalex(home: Path) -> None:
    works = libraries.papers("computer science", "medicine", "epidemiology", "biology")
    libraries.write_openalex(home / "works" / "updated_date=2026-11-01", works)
    walk_through("librarian.md")


def test_a_search_strategy(home: Path) -> None:
    """Over two libraries that have papers in common; the page's own files are run."""
    for name, fields in (("mine", ("medicine", "epidemiology")), ("lab", ("biology", "medicine"))):
        rows = [paper | {"id": f"{name}-{paper['id']}"} for paper in libraries.papers(*fields)]
        sr.build(rows, home / "indexes" / name, encoder=None).close()
    page = (DOCS / "strategies.md").read_text(encoding="utf-8")
    for language, file in (("toml", "strategy.toml"), ("text", "ovid.txt")):
        (block,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
        (home / file).write_text(block)
    walk_through("strategies.md")


def test_a_developer_with_python(home: Path) -> None:
    """The page's code is one program."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "python-tutorial.md").read_text(encoding="utf-8"), re.DOTALL))
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "python-tutorial.md", "exec"), {"__name__": "__main__"})
    assert "did you mean 'year'" in printed.getvalue()


LIBRARY = """
@inproceedings{chieu2002named,
  author = {Chieu, Hai Leong and Ng, Hwee Tou},
  title = {Named Entity Recognition: A Maximum Entropy Approach Using Global Information},
  booktitle = {COLING},
  year = {2002},
}
@inproceedings{C08-1098,
  author = {Schmid, Helmut and Laws, Florian},
  title = {Estimation of Conditional Probabilities With Decision Trees and an Application to Fine-Grained POS Tagging},
  booktitle = {COLING},
  year = {2008},
}
@inproceedings{C00-2123,
  author = {Tillmann, Christoph and Ney, Hermann},
  title = {Word Re-ordering and DP-based Search in Statistical Machine Translation},
  booktitle = {COLING},
  year = {2000},
}
@misc{knuth1984literate,
  author = {Knuth, Donald E.},
  title = {Literate Programming},
  year = {1984},
}
"""
"""Papers of which two are among the PDFs; one of these is found by its title."""


def test_full_texts_of_a_library(home: Path) -> None:
    pdfs = Path(__file__).parents[3] / "shared" / "data" / "fulltext" / "pdf"
    if not pdfs.is_dir():
        pytest.skip("the shared PDFs are not here")
    (home / "library.bib").write_text(LIBRARY)
    (home / "pdf").mkdir()
    for name, file in (("Chieu and Ng", "C02-1025.pdf"), ("C08-1098", "C08-1098.pdf")):
        shutil.copy(pdfs / file, home / "pdf" / f"{name}.pdf")
    walk_through("fulltext.md")
