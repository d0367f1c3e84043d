"""What a package index gets: all files of the package, metadata that is true, and a README whose links lead somewhere from there."""

import re
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ABOUT = f"sciretrieve-{PROJECT['version']}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built in a second; `make release-check` does more."""
    if find_spec("hatchling") is None or find_spec("hatch_fancy_pypi_readme") is None:
        pytest.skip("hatchling, which the extra dev brings, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, capture_output=True, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(f"{ABOUT}/METADATA").decode())


def test_a_wheel_has_the_package_with_its_data_and_the_man_page(wheel: Path) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "sciretrieve").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files >= {"sciretrieve/py.typed", "sciretrieve/demo/papers.jsonl", "sciretrieve/encoders/granite_probes.npy"}
    about = {f"{ABOUT}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE")}
    man_page = f"sciretrieve-{PROJECT['version']}.data/data/share/man/man1/sciretrieve.1"
    with ZipFile(wheel) as archive:
        assert set(archive.namelist()) == files | about | {man_page}


def test_links_of_the_published_readme_lead_into_the_repository(metadata: Message) -> None:
    """As it was at this version; a picture is its bytes, not a page about it."""
    there = PROJECT["urls"]["Source"]
    text = str(metadata.get_payload())
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)#]+)", text)
    assert len(links) == len(re.findall(r"\]\(", (ROOT / "README.md").read_text(encoding="utf-8")))
    for picture, link in links:
        place = f"{there}/{'raw' if picture else 'blob'}/v{PROJECT['version']}/"
        assert not link.startswith(there) or (link.startswith(place) and (ROOT / link.removeprefix(place)).exists()), link
        assert link.startswith("https://"), link


def test_addresses_of_the_project_are_of_one_repository() -> None:
    there = PROJECT["urls"]["Source"]
    for address in PROJECT["urls"].values():
        assert address.startswith(there)
        _, _, path = address.removeprefix(there).partition("/main/")
        assert (ROOT / path).exists()


def test_versions_of_python_are_those_that_were_tried() -> None:
    named = {row.rpartition(" ")[2] for row in PROJECT["classifiers"] if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", row)}
    tried = re.findall(r"^\| Linux.*?Python (3\.\d+)", (ROOT / "docs" / "install.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert named == set(tried)
