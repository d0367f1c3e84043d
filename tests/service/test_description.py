"""The OpenAPI description is true: what schemathesis makes of it is answered as it says, and never with a fault of our own."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import sciretrieve as sr
from sciretrieve.lifecycle import add_full_texts
from tests.conftest import Effort
from tests.service.served import app_of

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
"""Not that whatever fits the description is accepted: a query or a filter is a text, and not every text is one."""


@pytest.fixture(scope="module")
def description(papers: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The description of a service over papers that cite each other, some with a full text."""
    cited = [paper | {"references": [papers[place - 1]["id"]], "doi": f"10.1000/x.{place}"} for place, paper in enumerate(papers)]
    for paper in cited[::5]:
        paper["text"] = f"1 Results\n\n{paper['abstract']}\n"
    path = tmp_path_factory.mktemp("described") / "papers"
    sr.build(cited, path, encoder=None, progress=False).close()
    add_full_texts("text", path, progress=False)
    return schemathesis.openapi.from_asgi("/openapi.json", app_of(path))


def test_what_is_answered_is_what_is_described(description: Any, effort: Effort) -> None:
    operations = [operation.ok() for operation in description.get_all_operations()]
    for operation in operations:

        @given(operation.as_strategy())
        @settings(max_examples=effort(10, 300), suppress_health_check=list(HealthCheck))
        def ask(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        ask()
    assert len(operations) > 25
