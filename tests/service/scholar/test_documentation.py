"""The page about this API: its example runs as it stands, and prints what the page shows."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import sciretrieve as sr
from tests.promises.libraries import ALL, CITED
from tests.service.conftest import Serve

PAGE = Path(__file__).parents[3] / "docs" / "semantic-scholar.md"


def test_the_example(serve: Serve, tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", text, re.DOTALL)
    assert match is not None
    rows = [paper | {"references": CITED.get(paper["id"], [])} for paper in ALL]
    sr.build(rows, tmp_path / "papers", encoder=None, progress=False).close()
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(match[1].replace("http://127.0.0.1:8080", serve(tmp_path / "papers")), {})
    assert printed.getvalue() == match[2]
