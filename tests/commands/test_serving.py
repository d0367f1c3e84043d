"""`sciretrieve serve`: it says where it is, answers, and ends in peace; what is wrong is said before it listens."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.service.access import new_token
from tests.command_line import answer, hear_interrupts, sciretrieve


@pytest.fixture(scope="module")
def words(built: Callable[..., sr.Index]) -> Path:
    """An index without vectors."""
    return built(encoder=None).path


@contextmanager
def started(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service in a process of its own, and its address; it is ready."""
    command = [sys.executable, "-m", "sciretrieve", "serve", "--port", "0", *map(str, arguments)]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts)
    try:
        assert service.stderr is not None
        line = service.stderr.readline()
        address = re.search(r"at (http://127\.0\.0\.1:\d+/); Ctrl-C ends it", line)
        assert address is not None, line
        while status(f"{address[1]}readyz") != 200:
            assert service.poll() is None
            threading.Event().wait(0.05)
        yield service, address[1]
    finally:
        service.kill()
        service.communicate()


def status(address: str, **headers: str) -> int:
    """The status of a request; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def test_it_answers_until_it_is_told_to_end(words: Path) -> None:
    with started("-i", words) as (service, address):
        service.send_signal(signal.SIGHUP)
        assert status(f"{address}v1/search?q=graph") == 200
        service.send_signal(signal.SIGINT)
        out, err = service.communicate(timeout=60)
        assert service.returncode == 130
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["route"], line["status"]) for line in lines if line["route"] != "/readyz"] == [("/v1/search", 200)]
    assert "Traceback" not in err


def test_several_processes_share_the_work_and_count_together(words: Path, tmp_path: Path) -> None:
    token = answer("serve", "token", "ada", tmp_path / "tokens").strip()
    with started("-i", words, "--set", "workers=2", "--set", "rate=6000", "--token-file", tmp_path / "tokens") as (service, address):
        assert status(f"{address}v1/indexes") == 403
        assert [status(f"{address}v1/indexes", Authorization=f"Bearer {token}") for _ in range(20)] == [200] * 20
        request = urllib.request.Request(f"{address}metrics", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            counts = re.findall(r'sciretrieve_requests_total\{[^}]*route="/v1/indexes",status="200"\} ([\d.]+)', response.read().decode())
        assert sum(map(float, counts)) == 20
        other = new_token(tmp_path / "tokens", "grace")
        (tmp_path / "tokens").write_text((tmp_path / "tokens").read_text().splitlines()[1])
        service.send_signal(signal.SIGHUP)
        while [status(f"{address}v1/indexes", Authorization=f"Bearer {other}") for _ in range(5)] != [200] * 5:
            assert service.poll() is None
            threading.Event().wait(0.1)  # or the rate is used up by asking
        assert status(f"{address}v1/indexes", Authorization=f"Bearer {token}") == 403
        service.send_signal(signal.SIGTERM)
        service.communicate(timeout=60)


def test_a_file_that_is_cut_is_said_and_answered_from_again_once_it_is_whole(tmp_path: Path) -> None:
    papers = [{"id": f"p{number}", "title": f"Star dust {number}"} for number in range(50)]
    sr.build(papers, tmp_path / "stars", encoder=None, progress=False).close()
    (file,) = (tmp_path / "stars").rglob("postings.arrow")
    with started("-i", tmp_path / "stars") as (service, address):
        assert status(f"{address}v1/search?q=star") == 200
        data = file.read_bytes()
        os.truncate(file, 0)
        assert status(f"{address}v1/search?q=star") == 500
        assert (status(f"{address}readyz"), status(f"{address}healthz")) == (503, 200)
        (tmp_path / "whole").write_bytes(data)
        (tmp_path / "whole").rename(file)
        while status(f"{address}readyz") != 200:
            assert service.poll() is None
            threading.Event().wait(0.1)
        assert status(f"{address}v1/search?q=star") == 200
        service.send_signal(signal.SIGTERM)
        service.communicate(timeout=60)
        assert service.returncode == -signal.SIGTERM


def test_a_port_that_is_taken_is_said_in_a_line(words: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = sciretrieve("serve", "-i", words, "--port", str(taken.getsockname()[1]))
    assert result.returncode == 2
    assert result.stderr.strip().endswith("Address already in use; choose another --port or --host")


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (["-i", "none"], "none"),
        (["--host", "no.such.host.invalid"], "nothing can listen at no.such.host.invalid"),
        (["--token-file", "none"], "there is no file none"),
        (["--rerank", "nothing-like-it"], "nothing-like-it"),
    ],
)
def test_what_is_wrong_is_said_before_anything_listens(words: Path, arguments: list[str], words_: str) -> None:
    result = sciretrieve("serve", *(() if "-i" in arguments else ("-i", str(words))), *arguments)
    assert (result.returncode, len(result.stderr.strip().splitlines())) == (2, 1 + ("--host" in arguments))
    assert words_ in result.stderr


def test_a_token_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    result = sciretrieve("serve", "token", "ada", tmp_path / "tokens")
    assert re.fullmatch(r"[\w-]{43}\n", result.stdout)
    assert "shown this once" in result.stderr
    assert result.stdout.strip() not in (tmp_path / "tokens").read_text()


def test_without_its_libraries_it_says_what_to_install() -> None:
    script = "import sys; sys.modules['fastapi'] = None; from sciretrieve.commands import main; sys.argv[1:] = ['serve']; main()"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 4
    assert 'pip install "sciretrieve[service]"' in result.stderr
