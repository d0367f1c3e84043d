"""Antonyms of the adjectives that abstracts have: a list of our own, since WordNet, which paper 003's authors asked, is a download."""

from __future__ import annotations

from collections.abc import Mapping

_PAIRS = """
able unable, absent present, abstract concrete, abundant scarce, accurate inaccurate, active passive, acute chronic, adequate inadequate,
advantageous disadvantageous, ancient modern, appropriate inappropriate, artificial natural, asymmetric symmetric,
asynchronous synchronous, automatic manual, available unavailable, aware unaware, bad good, balanced unbalanced, beneficial harmful,
benign malignant, big little, blind sighted, bright dim, broad narrow, busy idle, central peripheral, certain uncertain, cheap expensive,
classical quantum, clean dirty, clear unclear, close distant, cold hot, common rare, compact bulky, comparable incomparable,
compatible incompatible, complete incomplete, complex simple, comprehensive partial, conscious unconscious, consistent inconsistent,
constant variable, constrained unconstrained, contextual literal, continuous discrete, conventional unconventional, convex concave,
correct incorrect, costly inexpensive, critical uncritical, dangerous safe, dark light, deep shallow, definite indefinite, dense sparse,
dependent independent, deterministic stochastic, different same, difficult easy, digital analogue, direct indirect,
distributed centralised, diverse uniform, dominant recessive, dry wet, dynamic static, early late, effective ineffective,
efficient inefficient, elastic inelastic, empty full, enormous tiny, equal unequal, essential inessential, even odd, exact approximate,
explicit implicit, external internal, extrinsic intrinsic, fair unfair, familiar unfamiliar, famous unknown, fast slow,
favourable unfavourable, female male, final initial, finite infinite, first last, fixed movable, flat steep, flexible rigid,
foreign domestic, formal informal, forward backward, frequent infrequent, fresh stale, front rear, fundamental superficial,
general specific, global local, gradual sudden, greater lesser, hard soft, healthy sick, heavy lightweight, heterogeneous homogeneous,
hidden visible, high low, higher lower, highest lowest, holistic piecemeal, horizontal vertical, human inhuman, ideal imperfect,
identical distinct, important unimportant, impossible possible, inner outer, innovative traditional, intact damaged, interesting boring,
invariant variant, inverse straight, irrelevant relevant, large small, larger smaller, largest smallest, latter former, lean fat,
left right, legal illegal, likely unlikely, limited unlimited, linear nonlinear, linked unlinked, long short, longer shorter, loose tight,
major minor, many few, massive massless, mature immature, maximal minimal, maximum minimum, meaningful meaningless, mobile stationary,
moderate extreme, more less, most least, multiple single, mutual unilateral, necessary unnecessary, negative positive, new old,
noisy quiet, normal abnormal, novel conventional, numerous few, objective subjective, obvious obscure, old young, open closed,
optimal suboptimal, optional mandatory, ordered disordered, ordinary extraordinary, original derivative, overall partial, parallel serial,
perfect flawed, perturbative nonperturbative, physical mental, plausible implausible, pleasant unpleasant, poor rich, popular unpopular,
powerful powerless, practical theoretical, precise imprecise, predictable unpredictable, primary secondary, private public,
probable improbable, productive unproductive, proper improper, pure impure, qualitative quantitative, random systematic, rapid slow,
rational irrational, raw processed, real imaginary, realistic unrealistic, recent ancient, regular irregular, reliable unreliable,
renormalizable nonrenormalizable, responsible irresponsible, robust frail, rough smooth, scalable unscalable, scientific unscientific,
secure insecure, semantic syntactic, sensitive insensitive, separate joint, severe mild, sharp blunt, significant insignificant,
similar dissimilar, singular regular, solid liquid, special ordinary, specific general, spontaneous forced, stable unstable,
standard nonstandard, strict lenient, strong weak, stronger weaker, structured unstructured, successful unsuccessful,
sufficient insufficient, suitable unsuitable, superior inferior, supersymmetric nonsupersymmetric, supervised unsupervised, sweet sour,
tall short, temporal atemporal, temporary permanent, thick thin, total partial, transparent opaque, trivial nontrivial, true false,
typical atypical, uniform nonuniform, unique common, universal particular, upper lower, urban rural, useful useless, usual unusual,
vague precise, valid invalid, valuable worthless, viable unviable, warm cool, weak strong, wide narrow, worse better, worst best,
wrong right
"""


def _table() -> Mapping[str, str]:
    """Both directions of each pair; a word's own pair counts before one in which it is the second, and of several the first."""
    pairs = [pair.split() for pair in reversed(_PAIRS.replace("\n", " ").split(","))]
    return {second: first for first, second in pairs} | {first: second for first, second in pairs}  # noqa: C416 - `dict` has another type


ANTONYMS = _table()


def antonym(word: str) -> str:
    """The antonym, with a capital if the word has one; the word itself if none is known."""
    other = ANTONYMS.get(word.lower())
    if other is None:
        return word
    return other.capitalize() if word.istitle() else other
