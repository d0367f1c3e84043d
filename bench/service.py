"""How many searches a second does a service answer, how long do its clients wait, and what is that beside the library itself?

    python bench/service.py --index indexes/NAME

Starts `sciretrieve serve` on this machine, and has wrk (a package of that name) ask it over connections that are kept, each for its next
search as soon as it has its answer. Beside it the library answers the same queries in one process, in batches of 64 with their hits.
Both take turns, mode by mode. Clients, service and library share this machine's cores; its processes are as many as `workers`.

    python bench/service.py --index indexes/NAME --mixed 20000

sends so many requests of all kinds instead, right and wrong ones, of which no two are equal, and says what memory the service has after
each eighth of them: what grows for ever, shows.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.choices import MODES

CLIENTS = (1, 8, 32)
BATCH = 64
K = 10
HTTP_OK = 200
SCRIPT = """
local queries = {}
for line in io.lines("%s") do queries[#queries + 1] = line end
local place = 0
function request()
  place = place %% #queries + 1
  return wrk.format("GET", "/v1/search?k=%d&mode=%s&q=" .. queries[place])
end
"""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/demo", queries=512, seconds=8, workers=1, rounds=2, mixed=0)
    if chosen.mixed:
        report(list(growth(chosen.index, chosen.workers, chosen.mixed)), chosen.json)
        return
    if (wrk := shutil.which("wrk")) is None:
        sys.exit("wrk is not installed; on Debian and Ubuntu: apt-get install wrk")
    with sr.open(chosen.index) as index, tempfile.TemporaryDirectory() as folder:
        rows = random.Random(0).sample(range(len(index)), min(chosen.queries, len(index)))
        titles = [" ".join(re.findall(r"\w+", paper.title)) for paper in index.papers_at(index.snapshot.scope.places[rows])]
        queries = [" ".join(title.split()[:7]) for title in titles if title.split()]
        modes = [mode for mode in MODES if mode in index.modes]
        (Path(folder) / "queries").write_text("\n".join(map(quote, queries)), encoding="utf-8")
        rates: dict[str, list[float]] = {mode: [] for mode in modes}
        served: dict[tuple[str, int], list[tuple[float, ...]]] = {(mode, count): [] for mode in modes for count in CLIENTS}
        for mode in modes:
            asked(index, queries[:BATCH], mode)
        with serving(chosen.index, chosen.workers) as address:
            for _ in range(chosen.rounds):
                for mode in modes:
                    rates[mode].append(asked(index, queries, mode))
                    for count in CLIENTS:
                        script = Path(folder) / f"{mode}.lua"
                        script.write_text(SCRIPT % (Path(folder) / "queries", K, mode), encoding="utf-8")
                        before = processor_seconds(address)
                        rate, *waits = load(wrk, address, script, count, chosen.seconds)
                        taken = (
                            1000 * (now - then) / (rate * chosen.seconds)
                            for now, then in zip(processor_seconds(address), before, strict=True)
                        )
                        served[mode, count].append((rate, *waits, *taken))
        print(f"{len(index):,} papers, {len(queries)} queries, k = {K}, {chosen.workers} of the service's processes")
    report([row(mode, count, max(rates[mode]), served[mode, count]) for mode in modes for count in CLIENTS], chosen.json)


def growth(index: str, workers: int, requests: int) -> Iterator[dict[str, Any]]:
    """The service's memory after each eighth of the requests, of which some are sent at a time."""
    with sr.open(index) as opened:
        rows = random.Random(0).sample(range(len(opened)), min(2000, len(opened)))
        papers = opened.papers_at(opened.snapshot.scope.places[rows])
    with serving(index, workers) as address, ThreadPoolExecutor(8) as clients:
        first = 0.0
        for part in range(1, 9):
            numbers = range((part - 1) * requests // 8, part * requests // 8)
            begun = time.perf_counter()
            statuses = Counter(clients.map(partial(ask, address, papers), numbers))
            memory = sum(map(resident, children(address)))
            first = first or memory
            failed = statuses[0] + statuses[500] + statuses[504]
            rate = len(numbers) / (time.perf_counter() - begun)
            yield {"requests": numbers.stop, "MB": memory, "of the first": memory / first, "a second": rate, "failed": failed}


def ask(address: str, papers: Sequence[sr.Paper], number: int) -> int:
    """The status of one of many requests, each of which is another; 0 where nothing came back."""
    paper, other = papers[number % len(papers)], papers[(7 * number + 1) % len(papers)]
    words = quote(f"{' '.join(paper.title.split()[:4])} {' '.join(other.title.split()[-2:])} {number}")
    id = quote(paper.id, safe="")
    path = (
        f"v1/search?q={words}&k={1 + number % 50}",
        f"v1/search?q={words}&mode=bm25&explain=true&filter=year+%3E+{1900 + number % 130}",
        f"graph/v1/paper/search?query={words}&limit={1 + number % 100}&fields=title,authors,abstract",
        f"graph/v1/paper/search/bulk?query={quote(other.title.split()[0])}&fields=title",
        f"graph/v1/paper/{id}?fields=title,citations,references.title",
        f"graph/v1/paper/autocomplete?query={words[: number % 20]}",
        f"v1/papers/{id}",
        f"v1/count?q={words}",
        f"v1/similar?id={id}&k=5&mode=bm25",
        f"?q={words}",
        f"paper/{id}",
        f"export?q={words}&format=bibtex",
        f"v1/papers/none{number}",
        f"nowhere/{number}/{words}",
        f"v1/search?q={words}&colour{number}=1",
        f"v1/search?q={words}&filter=x{number}+%3E+2",
    )[number % 16]
    method = {14: f"M{number}", 15: "HEAD"}.get(number // 16 % 16, "GET")
    request = urllib.request.Request(f"{address}{path}", method=method, headers={"X-Request-ID": str(number)})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def resident(process: int) -> float:
    """The megabytes that a process has in memory for itself."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return sum(int(size) for size in re.findall(r"Rss(?:Anon|Shmem):\s+(\d+)", status)) / 1000


def processor_seconds(address: str) -> tuple[float, float]:
    """What a service's first threads, which read requests and write answers, have taken of the processor, and what all of its threads."""
    threads = [thread for process in children(address) for thread in Path(f"/proc/{process}/task").iterdir()]
    taken = {thread: int((thread / "schedstat").read_text(encoding="utf-8").split()[0]) / 1e9 for thread in threads}
    return sum(seconds for thread, seconds in taken.items() if thread.name == thread.parts[2]), sum(taken.values())


def row(mode: str, count: int, library: float, loads: Sequence[tuple[float, ...]]) -> dict[str, Any]:
    """A line of the table: the best of the rounds, as whatever else the machine does only takes away."""
    rate, half, slow, first, every = max(loads)
    return {
        "mode": mode,
        "clients": count,
        "searches a second": rate,
        "p50 ms": half,
        "p99 ms": slow,
        "p99 / p50": slow / half,
        "processor ms": every,
        "of first threads": first,
        "library a second": library,
        "of it": rate / library,
    }


def asked(index: sr.Index, queries: Sequence[str], mode: Any) -> float:
    """Searches a second of the library itself."""
    start = time.perf_counter()
    for first in range(0, len(queries), BATCH):
        index.search(queries[first : first + BATCH], K, mode=mode).hits_of_each  # noqa: B018 - it reads the papers
    return len(queries) / (time.perf_counter() - start)


SERVICES: dict[str, int] = {}
"""Processes of services by their addresses."""


def children(address: str) -> list[int]:
    """The processes of a service."""
    first = SERVICES[address]
    listed = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="utf-8").split()
    return [first, *map(int, listed)]


@contextmanager
def serving(index: str, workers: int) -> Iterator[str]:
    """The address of a service that is ready."""
    command = [sys.executable, "-m", "sciretrieve", "serve", "-i", index, "--port", "0", "--set", f"workers={workers}"]
    service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert service.stderr is not None
        line = service.stderr.readline()
        found = re.search(r"http://[\w.:]+/", line)
        if found is None:
            sys.exit(line)
        while not ready(found[0]):
            time.sleep(0.1)
        time.sleep(3 * (workers > 1))  # readiness is one process's
        SERVICES[found[0]] = service.pid
        yield found[0]
    finally:
        service.terminate()
        service.communicate()


def ready(address: str) -> bool:
    """Whether the service answers searches at once."""
    try:
        with urllib.request.urlopen(f"{address}readyz", timeout=5) as answer:
            return bool(answer.status == HTTP_OK)
    except OSError:
        return False


def load(wrk: str, address: str, script: Path, clients: int, seconds: int) -> tuple[float, float, float]:
    """Answers a second, and the milliseconds that half and 99 in 100 of them take at most."""
    command = [wrk, "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "--latency", "-s", str(script), address]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"not every search was answered:\n{text}")
    half, slow = (in_milliseconds(re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", text)) for share in (50, 99))
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    assert rate is not None
    return float(rate[1]), half, slow


def in_milliseconds(match: re.Match[str] | None) -> float:
    """What wrk prints of a time."""
    assert match is not None
    return float(match[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[match[2]]


if __name__ == "__main__":
    main()
