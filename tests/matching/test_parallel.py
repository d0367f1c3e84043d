"""Products in threads of their own against NumPy's, and the limit on the threads of NumPy's."""

from __future__ import annotations

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sciretrieve.matching import parallel


@pytest.fixture(autouse=True, params=["", "4"], ids=["threads wait", "threads sleep"])
def timeout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if request.param:
        monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", request.param)


def threads_of_products() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_products_are_numpys_for_any_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "threads", lambda: threads)
    monkeypatch.setattr(parallel, "LARGE", 100)
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (3, 40), (40, 3), (5, 0), (0, 5)):
        left, right = rng.standard_normal((rows, 16)).astype(np.float32), rng.standard_normal((columns, 16)).astype(np.float32)
        result = parallel.product(left, right)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, left.astype(float) @ right.T.astype(float), rtol=1e-4, atol=1e-5)


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "threads", lambda: 2)
    monkeypatch.setattr(parallel, "LARGE", 1)
    before = threads_of_products()
    with pytest.raises(ValueError, match="mismatch"):
        parallel.product(np.ones((4, 8), np.float32), np.ones((4, 7), np.float32))
    assert threads_of_products() == before


def test_uses_that_overlap_leave_no_limit_behind() -> None:
    before = threads_of_products()
    turn = Barrier(2, timeout=60)

    def first() -> None:
        with parallel.one_thread_a_product():
            turn.wait()
            turn.wait()
        turn.wait()

    thread = Thread(target=first)
    thread.start()
    turn.wait()
    with parallel.one_thread_a_product():
        both = threads_of_products()
        turn.wait()
        turn.wait()
    thread.join()
    assert both == [1] * len(before)
    assert threads_of_products() == before


def test_a_limit_holds_within_another() -> None:
    before = threads_of_products()
    with parallel.one_thread_a_product():
        with parallel.one_thread_a_product():
            pass
        assert threads_of_products() == [1] * len(before)
    assert threads_of_products() == before
