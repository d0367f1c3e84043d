"""Documents that cannot go stale: the command reference, the layout in the architecture, links, and Python examples."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.made_up import made_up_papers, write_jsonl
from tests.promises.test_layers import LAYERS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"])


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What writes the documents that are generated."""
    generator = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    return generator | {"reference": cache(generator["reference"])}


@pytest.mark.parametrize(("target", "made"), [("TARGET", "reference"), ("MAN_TARGET", "man_page"), ("KEYWORDS_TARGET", "keywords")])
def test_what_is_generated_is_not_stale(page: dict[str, Any], target: str, made: str) -> None:
    """The command reference, the man page, and keyword arguments."""
    assert page[target].read_text(encoding="utf-8") == page[made](), "stale: run `make docs`"


@pytest.mark.parametrize("program", [["groff", "-man", "-Tutf8", "-Kutf8", "-ww"], ["mandoc", "-Tlint", "-Wwarning"]], ids=" ".join)
def test_the_man_page_can_be_read(program: list[str]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]}, which reads man pages, is not installed")
    result = subprocess.run([*program, ROOT / "docs" / "sciretrieve.1"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_man_page_has_every_command_and_no_accidental_request(page: dict[str, Any]) -> None:
    lines = (ROOT / "docs" / "sciretrieve.1").read_text(encoding="utf-8").splitlines()
    commands = re.findall(r"^## (?!sciretrieve$)([a-z -]+)$", page["reference"](), re.MULTILINE)
    shown = [line for line in lines if line.startswith('.SS "sciretrieve ')]
    for command in commands:
        assert any(line.startswith(f'.SS "sciretrieve {command} '.replace("-", r"\-")) for line in shown), command
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B"}


def test_the_architecture_shows_the_layers_that_are_tested() -> None:
    """One line a level, the highest first; what follows the names, after four blanks or more, says what they are."""
    drawing = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1].strip()
    levels = [re.findall(r"[a-z_]+", re.split(" {4,}", line)[0]) for line in drawing.splitlines()]
    assert [sorted(names) for names in levels] == [sorted(names) for names in reversed(LAYERS) if names != {"__main__"}]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http", "mailto")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_site_has_every_page_once() -> None:
    """All but the decisions, which their first page lists; a link that is broken on the site alone stops `make site`."""
    site = runpy.run_path(str(ROOT / "docs" / "build_site.py"))
    listed = re.findall(r'= "(.+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8"))
    there = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md") if not path.name[0].isdigit()]
    there += [page for page in site["MOVED"].values() if page.endswith(".md")] + [page for page, _ in site["LISTS"].values()]
    assert sorted(listed) == sorted(there)
    assert site["linked"]("[a](../README.md#b), [c](decisions/)", "docs/search.md", "search.md") == "[a](index.md#b), [c](decisions)"


def defines(module: Path, name: str) -> bool:
    """Whether a module, or a folder by its `__init__`, has a name of its own, or of a class, or hands one on."""
    file = module.with_suffix(".py") if module.with_suffix(".py").is_file() else module / "__init__.py"
    return (
        re.search(rf"^ *(async def|def|class) {name}\b|^{name}\b|import .*\b{name}\b|^    {name},$", file.read_text("utf-8"), re.MULTILINE)
        is not None
    )


@cache
def modules_called(name: str) -> list[Path]:
    """The package's modules, without suffix, and its folders of a name."""
    return [path.with_suffix("") for path in (ROOT / "sciretrieve").rglob(f"{name}*") if path.name in (name, f"{name}.py")]


def is_there(named: str) -> bool:
    """Whether `folder.module.name`, from the package's root or from any folder of it, leads somewhere; true of what is no module's name."""
    first, *names = named.removeprefix("sciretrieve.").split(".")
    for start in modules_called(first):
        module, rest = start, names
        while rest and ((module / rest[0]).is_dir() or (module / rest[0]).with_suffix(".py").is_file()):
            module, rest = module / rest[0], rest[1:]
        if not rest or (len(rest) == 1 and defines(module, rest[0])):
            return True
    return not modules_called(first)


@pytest.mark.parametrize(
    ("named", "found"), [("query.reading.rocchio", True), ("name_terms.cited_names", True), ("matching.search.rocchio", False)]
)
def test_a_module_that_is_gone_is_noticed(named: str, found: bool) -> None:
    assert is_there(named) == found


def test_modules_and_files_that_are_named_exist() -> None:
    """In docstrings and comments of the package `folder.module.name`; in documents, too, paths below the folders of the sources."""
    gone = [
        f"{path.relative_to(ROOT)}: {named}"
        for path in (ROOT / "sciretrieve").rglob("*.py")
        for named in re.findall(r"`((?:[a-z][a-z_0-9]*\.)+[A-Za-z_]+)(?:\(.*?\))?`", path.read_text(encoding="utf-8"))
        if not FILE_NAME.search(named) and not is_there(named)
    ]
    folders = "|".join(path.name for path in (ROOT / "sciretrieve").iterdir() if path.is_dir())
    for page in PAGES:
        text = page.read_text(encoding="utf-8") if page.name != "CHANGELOG.md" else ""  # which tells of what is gone
        paths = re.findall(rf"`((?:{folders})/[a-z_/]+(?:\.py)?)`|((?:sciretrieve|tests|bench|docs)/[a-z_/]+\.(?:py|md|toml))\b", text)
        for inside, whole in paths:
            places = [ROOT / whole] if whole else [ROOT / "sciretrieve" / inside, ROOT / "tests" / inside]
            if not any(place.exists() or place.with_suffix(".py").exists() for place in places):
                gone.append(f"{page.name}: {inside or whole}")
    assert gone == []


FILE_NAME = re.compile(r"\.(csv|json|jsonl|parquet|py|ris|bib|npy|md|svg|toml|html|txt)$")
FILTERS = re.compile(r"""--filter '([^'\n]+)'|--filter "([^"\n]+)"|\bfilter="([^"\n]+)"|\bfilter='([^'\n]+)'""")
COMPARISON = re.compile(r"(not )?\w+ (>=|<=|==|!=|<|>|contains|between|is|in \(|not in \() ?.+")


def test_filters_that_are_shown_can_be_read() -> None:
    """Those of examples, and what stands as code with a comparison; `COLUMN` is any column, `a` and `b` are any values."""
    from sciretrieve.query.narrowing.filters import parse

    shown = []
    for path in [*PAGES, *(ROOT / "sciretrieve").rglob("*.py")]:
        text = path.read_text(encoding="utf-8") if path.name != "CHANGELOG.md" else ""
        shown += ["".join(groups) for groups in FILTERS.findall(text)]
        if path.suffix == ".md":
            shown += [
                code
                for code in re.findall(r"`([^`\n]+)`", text.replace("```", ""))
                if COMPARISON.fullmatch(code) and not re.search(r"--|filter=|[\[\]]|: | for |^for |field", code)
            ]
    assert len(shown) > 20
    for text in shown:
        parse(re.sub(r"\b[ab]\b", "1", text))


def test_the_architecture_names_modules_where_they_are() -> None:
    """What stands there as one word is a module or a folder: of those in its section's heading, of base/, or of the root."""
    package, gone = ROOT / "sciretrieve", []
    for section in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        folders = [package / name for name in (*re.findall(r"([a-z]+)/", heading), "base")]
        names = {path.stem for folder in folders for path in folder.rglob("*")} | {path.stem for path in package.iterdir()}
        words = re.findall(r"`([a-z_0-9]+)/?`", re.sub("```.*?```", "", body, flags=re.DOTALL))
        gone += [f"{heading}: {word}" for word in words if word not in names]
    assert gone == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_folders_are_counted(page: str) -> None:
    folders = {
        path.parent.relative_to(ROOT / "sciretrieve").parts[0]
        for path in (ROOT / "sciretrieve").rglob("*.py")
        if path.parent != ROOT / "sciretrieve"
    }
    numbers = {"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20}
    (word,) = re.findall(r"package is (\w+) folders", (ROOT / page).read_text(encoding="utf-8"))
    assert numbers[word] == len(folders)


class Embeddings(BaseHTTPRequestHandler):
    """The web service of the examples, which counts bytes."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
        vectors = [[text.encode().count(byte % 256) for byte in range(384)] for text in texts]
        data = json.dumps({"vectors": vectors}).encode() if self.path == "/embed" else b""
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def embeddings() -> Iterator[str]:
    """The address of that service."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Embeddings) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/embed"
        server.shutdown()


def test_python_examples_run(embeddings: str, tmp_path: Path) -> None:
    """Those of a page in a folder of its own, and all in one process, since most of the time goes into imports."""
    examples = {
        name: re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL) for name in ("docs/python.md", "README.md")
    }
    for name in examples:
        (tmp_path / name).mkdir(parents=True)
        write_jsonl(tmp_path / name / "papers.jsonl", made_up_papers(60))
    run_all = f"""
import os
for name, codes in {examples!r}.items():
    os.chdir({str(tmp_path)!r} + "/" + name)
    for code in codes:
        exec(compile(code, code, "exec"), {{"__name__": "__main__"}})
"""
    environment = os.environ | {"EMBEDDINGS": embeddings, "NO_PROXY": "*"}
    result = subprocess.run([sys.executable, "-c", run_all], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
