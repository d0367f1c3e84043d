"""Batches of tokens: every text once, within the budget, with little padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.encoders.catalogue import MINILM
from sciretrieve.encoders.tokens import BUDGET, batches, open_tokenizer

TOKENIZER = open_tokenizer(MINILM.directory() / "tokenizer.json", 256)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=80), max_size=40))
def test_every_text_is_in_one_batch_as_the_tokenizer_has_it(texts: list[str]) -> None:
    seen = []
    for batch in batches(TOKENIZER, texts):
        assert batch.ids.shape == batch.mask.shape
        for place, ids, mask in zip(batch.places.tolist(), batch.ids, batch.mask, strict=True):
            assert ids[mask == 1].tolist() == TOKENIZER.encode(texts[place]).ids
            assert not ids[mask == 0].any()
            seen.append(place)
    assert sorted(seen) == list(range(len(texts)))


@pytest.mark.parametrize("words", [1, 30, 400])
def test_budget_and_cut(words: int) -> None:
    texts = ["word " * words] * 500
    for batch in batches(TOKENIZER, texts):
        assert batch.ids.size <= BUDGET
        assert batch.ids.shape[1] <= 256


def test_padding_is_small_on_texts_of_many_lengths() -> None:
    lengths = np.random.default_rng(0).lognormal(4.7, 0.6, 1024).astype(int) + 1
    real = padded = 0
    for batch in batches(TOKENIZER, ["word " * length for length in lengths]):
        real += int(batch.mask.sum())
        padded += batch.mask.size
    assert 1 - real / padded < 0.05
