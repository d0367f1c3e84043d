"""Batches of tokens: every text once, within the budget, with little padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.encoders.catalogue import MINILM
from sciretrieve.encoders.tokens import BUDGET, open_tokenizer, tokenise
from sciretrieve.encoders.weights import obtain

TOKENIZER = open_tokenizer(obtain(MINILM.parts["base"], "minilm") / "tokenizer.json", 256)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=80), max_size=40))
def test_every_text_is_in_one_batch_as_the_tokenizer_has_it(texts: list[str]) -> None:
    seen = []
    for batch in tokenise(TOKENIZER, texts).batches:
        assert batch.ids.shape == batch.mask.shape
        for place, ids, mask in zip(batch.places.tolist(), batch.ids, batch.mask, strict=True):
            assert ids[mask == 1].tolist() == TOKENIZER.encode(texts[place]).ids
            assert not ids[mask == 0].any()
            seen.append(place)
    assert sorted(seen) == list(range(len(texts)))


@pytest.mark.parametrize("words", [1, 30, 400])
def test_budget_and_cut(words: int) -> None:
    texts = ["word " * words] * 500
    for batch in tokenise(TOKENIZER, texts).batches:
        assert batch.ids.size <= BUDGET
        assert batch.ids.shape[1] <= 256


def test_padding_is_small_on_texts_of_many_lengths() -> None:
    lengths = np.random.default_rng(0).lognormal(4.7, 0.6, 1024).astype(int) + 1
    real = padded = 0
    for batch in tokenise(TOKENIZER, ["word " * length for length in lengths]).batches:
        real += int(batch.mask.sum())
        padded += batch.mask.size
    assert 1 - real / padded < 0.05


def test_padding_has_the_models_own_id_and_never_passes_its_positions() -> None:
    tokenizer = open_tokenizer(obtain(MINILM.parts["base"], "minilm") / "tokenizer.json", 30)
    tokens = tokenise(tokenizer, ["word " * 40, "word", ""], padding=7)
    assert tokens.texts == 3
    (batch,) = tokens.batches
    assert batch.ids.shape == (3, 30)
    assert (batch.ids[batch.mask == 0] == 7).all()
    assert batch.mask.sum(axis=1).tolist() == [30, 3, 2]


SHORT, WHOLE = (open_tokenizer(obtain(MINILM.parts["base"], "minilm") / "tokenizer.json", length) for length in (12, 100_000))
one_text = st.lists(st.sampled_from(["graph", "unbelievable", "漢字", "-", "x1y2"]), max_size=14).map(" ".join)


@settings(deadline=None, max_examples=50)
@given(st.lists(one_text | st.tuples(one_text, one_text), max_size=12))
def test_texts_that_are_read_in_part_are_counted(texts: list[str | tuple[str, str]]) -> None:
    """Cut by what the same tokenizer gives without a limit; two texts that are read together are cut as one."""
    lengths = [len(WHOLE.encode(*([text] if isinstance(text, str) else text)).ids) for text in texts]
    tokens = tokenise(SHORT, texts)
    assert tokens.truncated == sum(length > 12 for length in lengths)
    read = {place: int(mask.sum()) for batch in tokens.batches for place, mask in zip(batch.places.tolist(), batch.mask, strict=True)}
    assert read == {place: min(length, 12) for place, length in enumerate(lengths)}
