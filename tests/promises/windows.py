"""A process in which Python and the system have what they have on Windows, as far as Linux can refuse the rest; and the main jobs in it.

    python -m tests.promises.windows FOLDER

What is emulated: modules, functions, flags and signals that are missing; folders that cannot be opened or forced to disk; files that are
open, or mapped into memory, and can be neither removed nor replaced nor renamed nor emptied, nor the folders with them; names that Windows
does not take; text files that are in cp1252, with its line breaks. What is not: paths with backslashes, folders that do not tell capital
letters, processes that are started.
"""

# ruff: noqa: PTH112, PTH115, PTH119, PTH208

from __future__ import annotations

import builtins
import errno
import fcntl
import importlib
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import types
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

MODULES_WITHOUT = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty", "pty")
FUNCTIONS = (
    *("chroot", "fchmod", "fchown", "fdatasync", "fork", "forkpty", "fstatvfs", "getegid", "geteuid", "getgid", "getloadavg", "getuid"),
    *("killpg", "lockf", "mkfifo", "nice", "posix_fadvise", "posix_fallocate", "pread", "preadv", "pwrite", "pwritev", "sendfile"),
    *("sched_getaffinity", "sched_setaffinity", "setsid", "sync", "uname", "wait3", "wait4", "writev"),
    *("O_CLOEXEC", "O_DIRECTORY", "O_DSYNC", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
)
SIGNALS = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")
NO_NAME = re.compile(r'[<>:"|?*\x00-\x1f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
"""What names of files and folders may not have there."""
refused: list[str] = []
"""What was open, and stayed."""


def become_windows() -> None:
    """Make this process such a one, before it imports anything of the package. What asks for the system when it is imported is imported
    before: that part of other libraries works on Windows, and would not here."""
    for name in (
        "asyncio",
        "anyio",
        "faiss",
        "multiprocessing.connection",
        "openvino",
        "platformdirs.unix",
        "pyarrow.parquet",
        "subprocess",
        "uvicorn",
    ):
        importlib.import_module(name)
    module: Any = types.ModuleType("msvcrt")
    module.__dict__.update(LK_UNLCK=0, LK_NBLCK=2, locking=_locking(fcntl.flock))
    for name in MODULES_WITHOUT:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in FUNCTIONS:
        vars(os).pop(name, None)
    for name in SIGNALS:
        vars(signal).pop(name, None)
    vars(shutil).update(_use_fd_functions=False, _USE_CP_SENDFILE=False)
    vars(tempfile)["TemporaryFile"] = tempfile.NamedTemporaryFile
    vars(os).update(O_BINARY=0, process_cpu_count=os.cpu_count)
    _refuse()
    importlib.import_module("sciretrieve.base")
    linux, sys.platform = sys.platform, "win32"
    sys.modules["msvcrt"] = module
    importlib.import_module("sciretrieve.base.system")
    sys.platform = linux
    del sys.modules["msvcrt"]


def _locking(flock: Callable[[int, int], None]) -> Callable[[int, int, int], None]:
    """Windows's locks in terms of ours: exclusive, of a descriptor, never waited for."""

    def locking(handle: int, mode: int, size: int) -> None:
        assert size == 1
        assert os.lseek(handle, 0, os.SEEK_CUR) > os.fstat(handle).st_size  # else others could not read what is locked
        try:
            flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None

    return locking


def _open_files() -> set[str]:
    """The paths of what this process has open or mapped."""
    paths = _mapped()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            paths.add(os.readlink(f"/proc/self/fd/{number}"))
    return paths


def _mapped() -> set[str]:
    with real_open("/proc/self/maps", encoding="utf-8") as file:
        return {line.rstrip("\n").split(maxsplit=5)[5] for line in file if "/" in line}


real_open = io.open


def _check_free(*places: Any) -> None:
    """Raise PermissionError where one of the paths, or something below it, is open."""
    opened = _open_files()
    for path in map(os.path.realpath, places):
        if any(one == path or one.startswith(f"{path}/") for one in opened):
            refused.append(path)
            raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used by another process", path)


def _check_name(path: Any) -> None:
    name = os.path.basename(os.fspath(path))
    if NO_NAME.search(os.fsdecode(name)):
        raise OSError(errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect", os.fsdecode(path))


def _refuse() -> None:
    """Have the system's calls refuse what Windows refuses."""
    real = {name: getattr(os, name) for name in ("fsync", "mkdir", "open", "remove", "rename", "replace", "truncate", "unlink")}

    def changing(name: str, new: int = 0) -> Callable[..., Any]:
        def change(path: Any, *others: Any, **options: Any) -> Any:
            for other in others[:new]:
                _check_name(other)
            _check_free(path, *others[:new])
            if name == "rename" and os.path.lexists(others[0]):
                raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", os.fspath(path))
            if name == "replace" and os.path.isdir(others[0]):
                raise PermissionError(errno.EACCES, "Access is denied", os.fspath(path))
            return real[name](path, *others, **options)

        return change

    def mkdir(path: Any, *others: Any, **options: Any) -> None:
        _check_name(path)
        real["mkdir"](path, *others, **options)

    def open_(path: Any, flags: int, *others: Any, **options: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        if flags & os.O_CREAT:
            _check_name(path)
        return int(real["open"](path, flags, *others, **options))

    def fsync(handle: int) -> None:
        if real_flags(handle) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def open_text(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        *rest: Any,
        **options: Any,
    ) -> Any:
        if not (isinstance(file, int) or options) and set(mode) & set("wxa"):
            _check_name(file)
            if "w" in mode and os.path.realpath(file) in _mapped():
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), os.fspath(file))
        if "b" not in mode:
            encoding = "cp1252" if encoding in (None, "locale") else encoding
            newline = "\r\n" if newline is None and set(mode) & set("wxa") else newline
        return real_open(file, mode, buffering, encoding, errors, newline, *rest, **options)

    real_flags = _flags(fcntl.fcntl)
    changed: dict[str, Any] = {name: changing(name) for name in ("remove", "truncate", "unlink")}
    changed.update(rename=changing("rename", 1), replace=changing("replace", 1), mkdir=mkdir, open=open_, fsync=fsync)
    vars(os).update(changed)
    vars(io)["open"] = vars(builtins)["open"] = open_text


def _flags(control: Callable[[int, int], int]) -> Callable[[int], int]:
    return lambda handle: control(handle, fcntl.F_GETFL)


def main() -> None:
    """Do the main jobs in a folder, and say what was done."""
    become_windows()
    os.chdir(sys.argv[1])
    import sciretrieve as sr
    from tests.toy_encoder import letters_by_name

    for name in sr.__all__:
        getattr(sr, name)
    with letters_by_name():
        for job in (change, share, keep, review, write, serve):
            job(Path("indexes/papers"))
            print(job.__name__, flush=True)


def change(path: Path) -> None:
    """Everything that changes an index, while another reader has it open and answers as at the start; then nothing is left over."""
    import sciretrieve as sr
    from sciretrieve.storage.manifest import read_manifest
    from tests.made_up import made_up_papers

    papers = made_up_papers(300)
    sr.build(papers[:260], path, encoder="letters", dense="hnsw", shard_size=64, progress=False)
    readers = [sr.open(path)]
    first = [(hit.paper, hit.score) for hit in readers[0].search("graph networks", k=5).hits]

    def check() -> None:
        assert [(hit.paper, hit.score) for reader in readers for hit in reader.search("graph networks", k=5).hits] == first
        with sr.open(path) as current:
            assert len(current.search("market price", k=3).hits) == 3

    sr.add(papers[260:], path, progress=False)
    check()
    with (path / "manifest.json").open("rb") as file:  # somebody reads it while it is to be replaced
        threading.Timer(0.2, file.close).start()
        sr.delete(path, ["p0001", "p0002"])
    check()
    sr.sync([{**papers[0], "title": "Another title"}, *papers[3:290]], path, progress=False)
    check()
    sr.merge(path, progress=False)
    check()
    with sr.open(path) as merged:
        assert merged.papers(["p0000"])[0].title == "Another title"
    sr.restore(path, 1)
    check()
    sr.reindex(path, dense="flat", progress=False)
    check()
    readers.pop().close()
    del merged  # what is closed is freed with its last name
    sr.merge(path, progress=False)
    (path / "shards" / "000000" / "names.arrow").write_bytes(b"damaged")
    assert len(sr.verify(path, progress=False).faults) == 1
    assert not sr.repair(path, progress=False).faults
    sr.merge(path, progress=False)
    assert refused  # what was open stayed, until nobody had it open
    manifest = read_manifest(path)
    named = {path / name for name, _ in manifest.files()} | {path / "shards" / facts.name / "shard.json" for facts in manifest.shards}
    left = {file for file in path.rglob("*") if file.is_file()} - named
    assert sorted(file.name for file in left) == [".lock", f"{manifest.generation:06d}.json", "manifest.json"]


def share(path: Path) -> None:
    """One writer at a time; what it leaves gives way; a folder has its name when it is whole, or is not there."""
    import sciretrieve as sr
    from sciretrieve.evaluation.builders.folders import new_folder
    from sciretrieve.files.writing import write_lock
    from tests.made_up import made_up_papers

    busy = ""
    with write_lock(path):
        try:
            sr.delete(path, ["p0005"])
        except sr.IndexBusy as error:
            busy = str(error)
    assert f"process {os.getpid()}" in busy
    for part in ("1/2", "2/2"):
        sr.build_part(made_up_papers(40), "indexes/parts", part, encoder="letters", shard_size=20, progress=False)
    assert sr.index_parts("indexes/parts", progress=False).parts == 2
    Path("made").mkdir()
    with new_folder(Path("made")) as folder:
        (folder / "file").write_bytes(b"whole")
    assert Path("made/file").read_bytes() == b"whole"
    with suppress(InterruptedError), new_folder(Path("failed")) as folder:
        (folder / "file").write_bytes(b"half")
        raise InterruptedError
    with suppress(sr.InvalidRequest):
        sr.build([{"id": "a"}], "indexes/none", encoder="letters", progress=False)
    assert [file.name for file in Path().iterdir() if "failed" in file.name or "partial" in file.name] == []
    assert not Path("indexes/none").exists()


def keep(path: Path) -> None:
    """What a user keeps: a saved search, a bibliography, settings."""
    import sciretrieve as sr
    from tests.command_line import answer, sciretrieve

    with sr.open(path) as index:
        sr.save_search(index, sr.Request(query="graph networks"), "mine")
        sr.news(index, sr.saved_search("mine")).remember()
        assert sciretrieve("search", "graph", "--save", "con").returncode == 2
        for _ in range(2):
            sr.cite(index.papers(["p0010", "p0011"]), "references.bib")
        assert Path("references.bib").read_bytes().count(b"@") == 2
    assert b"\r" not in Path("references.bib").read_bytes()
    answer("news", "forget", "mine")
    answer("config", "set", "k", "7")
    assert sr.saved_searches() == []


def review(path: Path) -> None:
    """A systematic review: decisions, and a session that goes on."""
    import sciretrieve as sr

    with sr.open(path) as index:
        with sr.Screening(index, "review.jsonl", "graph networks") as session:
            session.decide(relevant=[session.next(1)[0].id])
            session.decide(irrelevant=[paper.id for paper in session.next(3)], note="neither \u2265 nor \u6f22")
        with sr.Screening(index, "review.jsonl") as session:
            assert len(session.decisions) == 4
            session.report("report")
    assert b"\r" not in Path("review.jsonl").read_bytes()


def write(path: Path) -> None:
    """Files for other programs, and theirs: vectors, a FAISS index of unknown origin, tables, standard input, weights that are compiled."""
    import faiss
    import numpy as np

    import sciretrieve as sr
    from sciretrieve.base.system import speak_utf8
    from tests.command_line import answer
    from tests.made_up import made_up_papers, write_jsonl

    papers = made_up_papers(30)
    assert sr.encode(papers, "vectors.npy", encoder="letters", progress=False) == 30
    given = faiss.IndexFlatIP(np.load("vectors.npy").shape[1])
    given.add(np.load("vectors.npy"))
    faiss.write_index(given, "given.faiss")
    Path("vectors.ids.txt").replace("given.ids.txt")
    assert len(sr.build(papers, "indexes/given", encoder="faiss:given.faiss", progress=False)) == 30
    answer("export", "-i", path, "-o", "papers.csv")
    answer("export", "-i", path, "-o", "papers.ris")
    corpus = write_jsonl(Path("corpus.jsonl"), [*papers, {"id": "bad"}])
    answer("index", corpus, "-o", "indexes/words", "--encoder", "")
    assert json.loads(Path("indexes/words/rejected.jsonl").read_bytes())["row"] == 31
    assert sr.estimate(corpus, encoder="letters", progress=False).memory > 0
    embedded = sr.build(papers, "indexes/embedded", progress=False)
    assert embedded.search("graph", k=3).hits
    assert "embedded" in answer("info", "indexes")
    speak_utf8(stream := io.TextIOWrapper(io.BytesIO(), "cp1252"))
    stream.write("≥\n")
    stream.flush()
    assert stream.buffer.getvalue() == "≥\n".encode()


def serve(path: Path) -> None:
    """The service, for those who have a token, until Ctrl-C."""
    from sciretrieve.service import running
    from sciretrieve.service.access import new_token
    from sciretrieve.service.rates import Rates, make_table
    from sciretrieve.service.settings import ServiceSettings

    token = new_token(Path("tokens"), "ada")
    answers: list[Any] = []

    def ask(port: int) -> None:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/search?q=graph", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answers.append(json.load(response))
        signal.raise_signal(signal.SIGINT)

    settings = ServiceSettings(token_file=Path("tokens"), rate=60)
    with suppress(KeyboardInterrupt):
        running.serve([path], settings, port=0, listens=lambda port: threading.Thread(target=ask, args=(port,)).start())
    assert answers[0]["hits"]
    shared = [Rates(1, table) for table in [make_table(Path("rates"))] * 2]
    assert [rates.allows("ada") for rates in shared] == [True, False]


if __name__ == "__main__":
    main()
