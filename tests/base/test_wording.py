"""Values of others in words: what JSON and its readers take."""

import datetime
import json

from sciretrieve.base.wording import plain


def test_plain_is_what_json_takes() -> None:
    value = {"a": [float("nan"), float("-inf"), (1, True, None)], "day": datetime.date(2020, 1, 2), 3: b"x"}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {"a": [None, None, [1, True, None]], "day": "2020-01-02", "3": "b'x'"}
