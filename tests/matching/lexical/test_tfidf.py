"""Papers as TF-IDF rows, against the same counted from their texts."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.lexical.tfidf import term_matrix


def test_rows_are_what_the_texts_say_over_all_shards(index: sr.Index) -> None:
    assert index.snapshot.bm25 is not None
    assert len(index.snapshot.shards) > 1
    analyzer, rows = Analyzer(), np.array([299, 3, 130, 4])
    papers = index.papers_at(index.snapshot.scope.places)
    counts = [Counter(analyzer.terms(paper.title) * 2 + analyzer.terms(paper.abstract)) for paper in papers]
    having = Counter(term for count in counts for term in count)
    rarity = {term: log(1 + (300 - number + 0.5) / (number + 0.5)) for term, number in having.items()}
    matrix = term_matrix(index.snapshot.bm25, rows)
    names = matrix.terms.to_pylist()
    assert sorted(names) == sorted(having)
    for place, row in enumerate(rows.tolist()):
        weights = {term: (1 + log(number)) * rarity[term] for term, number in counts[row].items()}
        length = sqrt(sum(weight**2 for weight in weights.values()))
        expected = [weights.get(name, 0.0) / length for name in names]
        np.testing.assert_allclose(matrix.weights[place].toarray()[0], expected, atol=1e-6)
    query = matrix.of({names[2]: 3.0, "unheard-of": 1.0, names[0]: 1.0}).toarray()[0]
    length = sqrt((3 * rarity[names[2]]) ** 2 + rarity[names[0]] ** 2)
    assert query[2] == pytest.approx(3 * rarity[names[2]] / length)
    assert query[0] == pytest.approx(rarity[names[0]] / length)
    assert np.count_nonzero(query) == 2
    assert not matrix.of({"unheard-of": 1.0}).nnz
