"""American spelling: British and American forms of a word become one, by rules of spelling, or by lists where there is no rule.

Both forms only have to become the same string, which need not be a word: it is stemmed next and never shown.
"""

from __future__ import annotations

import re

_OUR = "ard|arm|behavi|clam|col|demean|endeav|fav|ferv|flav|harb|hon|hum|lab|neighb|od|parl|ranc|rig|rum|sav|splend|succ|tum|val|vap|vig"
"""Stems before -our that Americans write with -or: tumour."""
_RE = "calib|cent|fib|lit|lust|meag|met|sab|somb|spect|theat|tit"
"""Stems before -re that Americans write with -er: centre."""
_LL = (
    "barrel|bevel|cancel|channel|chisel|counsel|dial|duel|equal|fuel|funnel|grovel|initial|jewel|label|level|marvel|model|panel|pencil|"
    "quarrel|rival|shovel|signal|spiral|stencil|total|travel|tunnel"
)
"""Verbs whose last letter is doubled in Britain before an ending: modelling."""
_ISE = (
    "absc|adv|advert|appr|appra|circumc|compr|comprom|conc|dem|desp|dev|disgu|enterpr|exc|exerc|expert|franch|improv|imprec|inc|likew|"
    "merchand|mort|otherw|parad|pra|prec|prem|prom|rev|superv|supr|surm|surpr|telev|treat|\\w*wa"
)
"""Stems before -ise that end so everywhere, or that share a stem with words in -is."""
_ENDING = r"(?:e[ds]?|ers?|ings?|able|abilit(?:y|ies)|ations?|ational)"
_PLAIN = (
    "haem hem, aemi emi, anaesth anesth, gynaec gynec, aetiolog etiolog, archaeo archeo, palaeo paleo, caec cec, caesar cesar, faec fec, "
    "oesoph esoph, oestr estr, oedem edem, foet fet, coeliac celiac, amoeb ameb, homoeo homeo, sulph sulf, aluminium aluminum"
)
"""Greek and Latin spellings, in any place: haemoglobin, leukaemia, oedema."""
_RULES: tuple[tuple[str, str], ...] = (
    *((british, american) for british, american in map(str.split, _PLAIN.split(", "))),
    (r"paed(?=i|o)", "ped"),
    (r"(?<=rrh|.pn)oe(?=a|i)", "e"),
    (r"manoeuv(?:re|er)", "maneuver"),
    # -our, -re, -ll-
    (rf"(?<=^)(\w*(?:{_OUR}))our", r"\1or"),
    (rf"^(\w*(?:{_RE}))re(?=s?$)", r"\1er"),
    (rf"^(\w*(?:{_RE}))red$", r"\1ered"),
    (rf"^(\w*(?:{_LL}))l(?=ed$|ers?$|ings?$)", r"\1"),
    # -yse, -ogue, -ence
    (rf"(?<=[a-z]al|[a-z]ol)ys(?={_ENDING}$)", "yz"),
    (r"(?<=[a-z]al|[a-z]ol|[a-z]at)ogue(?=s?$)", "og"),
    (r"^(def|off|pret)ence(?=s?$)", r"\1ense"),
    # single words
    (r"^(\w*)programme(?=s?$)", r"\1program"),
    (r"^licence(?=s?$)", "license"),
    (r"^grey(?=s?$|scale$|ish$)", "gray"),
    (r"^ageing$", "aging"),
    (r"^artefact", "artifact"),
    (r"^sceptic", "skeptic"),
    (r"^(mo|smo)uld(?=s?$|ing$|ed$)", r"\1ld"),
    (r"^(judg|acknowledg)ement", r"\1ment"),
    (r"^(fulfil|enrol|instil|distil)(?=s?$|ment)", r"\1l"),
    (r"^skilful", "skillful"),
)
_BRITISH = re.compile("|".join(rule for rule, _ in _RULES))
"""Matches every word that a rule may change."""
_MAY_BE_BRITISH = re.compile(
    "|".join(rule.split()[0] for rule in _PLAIN.split(", "))
    + r"|paed|[hn]oe|our|re[ds]?$|ll(?:ed|ers?|ings?)$|[ao]lys|[lt]ogue|[ft]ence|programme|licence|grey|ageing|artefact|sceptic|mould"
    r"|dgement|fulfil|enrol|instil|distil|skilful"
)
"""Letters without which no rule matches: four times as fast to test, and few words have them."""
_COMPILED = tuple((re.compile(rule), american) for rule, american in _RULES)
_RANDOMISE = re.compile(rf"^(?!(?:{_ISE})is)([a-z]{{3,}})is(?={_ENDING}$)")


def american(word: str) -> str:
    """A lower-case word without accents, in American spelling.

    >>> american("tumours"), american("randomised"), american("precise")
    ('tumors', 'randomized', 'precise')
    """
    if "is" in word:
        word = _RANDOMISE.sub(r"\1iz", word)
    if _MAY_BE_BRITISH.search(word) and _BRITISH.search(word):
        for rule, spelling in _COMPILED:
            word = rule.sub(spelling, word)
    return word
