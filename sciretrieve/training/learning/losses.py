"""Losses of vectors: triplets with a margin, the right paper in a batch or triplet, classes, numbers, and the distance from former
vectors.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.linalg import vector_norm
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, kl_div, log_softmax, mse_loss, pairwise_distance

NEVER = -1e9
"""A similarity without weight in a softmax, also in bf16, with a gradient of zero."""


def triplet(queries: Any, positives: Any, negatives: Any, margin: float) -> Any:
    """The mean over triplets of max(|q - p| - |q - n| + margin, 0), Euclidean (Cohan et al. 2020, §3.2).

    Args:
        queries, positives, negatives: (n, dim).
        margin: how much nearer the positive must be.
    """
    return (pairwise_distance(queries, positives) - pairwise_distance(queries, negatives) + margin).clamp(min=0).mean()


def contrastive(queries: Any, papers: Any, right: Any, is_barred: Any, temperature: float, *, both: bool = False) -> Any:
    """The mean over queries of the cross entropy of the right paper among all papers of the batch (Zhang et al. 2023, SciMult, equation 1).

    Args:
        queries: (n, dim).
        papers: positives and hard negatives, (m, dim).
        right: the row of each query's right paper, (n,).
        is_barred: papers that are no candidates for a query, because they are also right or the query itself, (n, m).
        temperature: divides the inner products.
        both: whether to add the loss of finding the query for a paper, and to average the two.
    """
    similarities = (queries @ papers.T / temperature).masked_fill(is_barred, NEVER)
    loss = cross_entropy(similarities, right)
    if both:
        # a barred paper is also barred in the other direction, where another query has it as a right paper
        backwards = similarities[:, right].T
        loss = (loss + cross_entropy(backwards, torch.arange(len(queries), device=queries.device))) / 2
    return loss


def facets(queries: Any, positives: Any, negatives: Any, share: float) -> Any:
    """The mean over triplets of the cross entropy of the positive among the two papers, by the similarity
    share * (the greatest inner product of two facets) + (1 - share) * (the inner product of the facets' sums)
    (Seoh et al. 2023, Multi2SPE, equations 2 and 3).

    Args:
        queries, positives, negatives: (n, facets, dim).
        share: lambda there.
    """
    greatest, sums = _similarities(queries, positives, negatives)
    return _of_first(share * greatest + (1 - share) * sums)


def facets_apart(queries: Any, positives: Any, negatives: Any, share: float) -> Any:
    """The same with two cross entropies: share * (that of the facets' similarity) + (1 - share) * (that of the sums' similarity), as in the
    command in the README of the authors' code (0.1 and 0.9).
    """
    greatest, sums = _similarities(queries, positives, negatives)
    return share * _of_first(greatest) + (1 - share) * _of_first(sums)


def _similarities(queries: Any, positives: Any, negatives: Any) -> tuple[Any, Any]:
    """Two similarities of each query with its positive and its negative, (n, 2): the greatest inner product of two facets, and the inner
    product of the facets' sums.
    """
    papers = torch.stack([positives, negatives], dim=1)
    products = torch.einsum("nid,npjd->npij", queries, papers)
    return products.amax(dim=(2, 3)), products.sum(dim=(2, 3))


def _of_first(similarities: Any) -> Any:
    return cross_entropy(similarities, similarities.new_zeros(len(similarities)).long())


def classes(scores: Any, labels: Any) -> Any:
    """Cross entropy of one class per paper, (n,) whole numbers, or binary cross entropy of several, (n, classes) of 0 and 1 (SciRepEval,
    §4.1).

    Args:
        scores: (n, classes).
        labels: as above.
    """
    return cross_entropy(scores, labels) if labels.dim() == 1 else binary_cross_entropy_with_logits(scores, labels)


def numbers(scores: Any, values: Any) -> Any:
    """The mean squared error of one number per paper, both (n,) (SciRepEval, §4.1)."""
    return mse_loss(scores, values)


def nearness(vectors: Any, former: Any) -> Any:
    """The mean squared distance between the texts' vectors and their former ones, both (n, dim)."""
    return (vectors - former).square().sum(dim=1).mean()


def rank(similarities: Any, scores: Any, is_barred: Any, temperature: float) -> Any:
    """The mean over queries of the Kullback-Leibler divergence of the student's ranking from its teacher's, each a softmax of scores
    (Hinton et al. 2015, arXiv 1503.02531; over the papers of a batch Lin et al. 2020, arXiv 2010.11386, section 3).

    Args:
        similarities: the student's, (n, m).
        scores: the teacher's, (n, m).
        is_barred: papers that are no candidates for a query, (n, m).
        temperature: divides both.
    """
    student, teacher = (log_softmax((part / temperature).masked_fill(is_barred, NEVER), dim=1) for part in (similarities, scores))
    return kl_div(student, teacher, reduction="batchmean", log_target=True)


def distil(vectors: Any, teacher: Any) -> Any:
    """The mean distance between the student's vectors of texts and the teacher's, both (n, dim), as leaf-ir was trained (Vujanic and
    Rueckstiess 2025, LEAF, arXiv 2509.12539).
    """
    return vector_norm(vectors - teacher, dim=1).mean()
