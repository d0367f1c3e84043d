"""Whom a request is said to come for is believed of the proxies that were named, and of nobody else."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.service.running import trusted
from tests.service.served import app_of, served


@pytest.mark.parametrize(
    ("proxies", "said", "client", "statuses"),
    [
        ((), "203.0.113.7", "127.0.0.1", [200, 429]),  # the rate is that of the one address that there is
        (("10.0.0.0/8", "::1"), "203.0.113.7", "127.0.0.1", [200, 429]),
        (("127.0.0.1",), "203.0.113.7", "203.0.113.7", [200, 200]),
        (("127.0.0.0/8", "10.0.0.0/8"), "198.51.100.1, 203.0.113.7, 10.0.0.9", "203.0.113.7", [200, 200]),  # the first that is not one
    ],
)
def test_the_client_is_who_a_known_proxy_asks_for(
    built: Callable[..., sr.Index], monkeypatch: pytest.MonkeyPatch, proxies: tuple[str, ...], said: str, client: str, statuses: list[int]
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # uvicorn's own way to name them, which would be a way round
    lines = list[dict[str, Any]]()
    with served(app_of(built(encoder=None).path, lines=lines, rate=1), proxies) as address:
        addresses = (said, said.replace("203.0.113.7", "203.0.113.8"))
        assert [httpx.get(f"{address}/v1/indexes", headers={"X-Forwarded-For": each}).status_code for each in addresses] == statuses
    assert lines[0]["client"] == client


@pytest.mark.parametrize("proxy", ["nginx", "10.0.0.0/33", "", "*"])
def test_what_is_no_address_is_refused(proxy: str) -> None:
    with pytest.raises(InvalidRequest, match="give a proxy's address"):
        trusted([proxy])
