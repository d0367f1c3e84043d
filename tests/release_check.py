"""Is this checkout ready for release? `make release-check` builds the packages and uses the wheel as its users will.

The sdist must hold what git holds. Sdist and checkout must build the same wheel, byte for byte. The wheel is installed into an empty
environment, and its commands run in a temporary folder without the checkout. What was built stays in `dist/`.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PACKAGES, MEGABYTES = 45, 750
"""At most so many packages, of so many megabytes, come with `pip install sciretrieve`."""
LIBRARY = """
@article{gat, title = {Graph attention networks}, author = {Veličković, Petar}, year = 2018}
@article{dust, title = {Dust around young stars}, author = {Doe, Jane}, year = 2011}
@article{cells, title = {Editing genes in human cells}, author = {Roe, Ann}, year = 2013}
"""
MORE = "@article{rna, title = {RNA guides the editing of a genome}, author = {Loe, Max}, year = 2014}\n"
PROGRAM = """
import sciretrieve as sr
with sr.open("indexes/library") as index:
    print(index.search("planets form in discs", k=1).hits[0].paper.id)
"""


def main() -> None:
    """All checks, one after the other; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--newest", action="store_true", help="install the newest packages, not those of constraints.txt")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the empty environment; default: this one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sciretrieve-release-") as folder:
        sdist, wheel = build(Path(folder) / "from-checkout")
        holds_what_git_holds(sdist)
        run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel])
        say("twine accepts both")
        environment = install(wheel, Path(folder) / "environment", options.python, options.newest)
        use(environment, Path(folder) / "elsewhere")
    say(f"ready: {sdist.name} and {wheel.name}")


def say(line: str) -> None:
    """One line of what was done."""
    print(f"release-check: {line}", flush=True)


def fail(line: str) -> None:
    """End here, with the reason."""
    sys.exit(f"release-check: {line}")


def run(command: Sequence[str | Path], code: int = 0, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """What a command prints; it must end with this exit code."""
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    if result.returncode != code:
        fail(f"{' '.join(map(str, command))} ended with {result.returncode}, not {code}\n{result.stdout}{result.stderr}")
    return result.stdout if code == 0 else result.stderr


def build(again: Path) -> tuple[Path, Path]:
    """The sdist and the wheel made of it, in `dist/`; a wheel of the checkout must equal it."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT])
    run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", again, ROOT])
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    if not filecmp.cmp(wheel, again / wheel.name, shallow=False):
        fail("the sdist and the checkout build different wheels")
    sizes = [path.stat().st_size / 1e6 for path in (sdist, wheel)]
    say(f"built {sdist.name} ({sizes[0]:.1f} MB) and {wheel.name} ({sizes[1]:.1f} MB), which the checkout builds alike")
    return sdist, wheel


def holds_what_git_holds(sdist: Path) -> None:
    """Every committed file and nothing else, but for the metadata."""
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
    committed = set(run(["git", "-C", ROOT, "-c", "core.quotePath=false", "ls-files"]).splitlines())
    if packed != committed:
        fail(f"the sdist lacks {sorted(committed - packed)}, and has {sorted(packed - committed)}, which git does not")
    say(f"the sdist has all {len(committed)} files that git has")


def install(wheel: Path, environment: Path, python: str, is_newest: bool) -> Path:
    """The folder of programs of a new environment that has the wheel and what it requires."""
    run([python, "-m", "venv", environment])
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    empty = size(environment)
    versions: list[str | Path] = [] if is_newest else ["-c", ROOT / "constraints.txt"]
    begin = time.perf_counter()
    run([programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *versions, wheel])
    seconds = time.perf_counter() - begin
    listed = json.loads(run([programs / "python", "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]))
    packages = len([package for package in listed if package["name"] not in ("pip", "setuptools")])
    version = run([programs / "python", "-V"]).strip()
    say(f"{version}: {packages} packages, {size(environment) - empty:.0f} MB, installed in {seconds:.0f} s")
    if packages > PACKAGES or size(environment) > MEGABYTES:
        fail(f"that is more than {PACKAGES} packages or {MEGABYTES} MB")
    return programs


def size(folder: Path) -> float:
    """Megabytes of the files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def use(programs: Path, folder: Path) -> None:
    """The first steps of a new user, where neither the checkout nor anything else of this machine is at hand."""
    folder.mkdir()
    (folder / "library.bib").write_text(LIBRARY, encoding="utf-8")
    (folder / "more.bib").write_text(MORE, encoding="utf-8")
    own = {f"SCIRETRIEVE_{name}": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SCIRETRIEVE_", "VIRTUAL_ENV"))}
    environment = inherited | own

    def sciretrieve(*words: str, code: int = 0) -> str:
        answer = run([programs / "sciretrieve", *words], code, folder, environment)
        say(f"sciretrieve {' '.join(words)}")
        return answer

    def expect(found: str, wanted: str) -> None:
        if found != wanted:
            fail(f"that gave {found!r}, not {wanted!r}")

    def first(*words: str) -> str:
        return str(json.loads(sciretrieve(*words, "-i", "indexes/library", "-f", "json"))["hits"][0]["id"])

    expect(sciretrieve("--version").split()[-1], tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    if "Graph Attention Networks" not in sciretrieve("demo"):
        fail("the demo did not find its paper")
    sciretrieve("index", "library.bib")
    expect(first("search", "planets form in discs"), "dust")
    sciretrieve("add", "more.bib", "-i", "indexes/library")
    expect(first("similar", "rna"), "cells")
    sciretrieve("verify", "-i", "indexes/library")
    expect(run([programs / "python", "-c", PROGRAM], 0, folder, environment).strip(), "dust")
    say("import sciretrieve as sr")
    refusal = sciretrieve("serve", "-i", "indexes/library", code=4).splitlines()
    if len(refusal) != 1 or 'pip install "sciretrieve[service]"' not in refusal[0]:
        fail(f"without its extra, serve says {refusal}")


if __name__ == "__main__":
    main()
