"""British and American forms of a word are one term, and what only looks like them is not."""

import pytest

from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.lexical.american import _BRITISH, _MAY_BE_BRITISH, american

PAIRS = """
tumour tumor, tumours tumors, behaviour behavior, behavioural behavioral, colour color, discoloured discolored, favourable favorable,
neighbourhood neighborhood, vapour vapor, centre center, centres centers, centred centered, fibre fiber, nanofibres nanofibers, metre
meter, theatre theater, randomised randomized, randomisation randomization, organisations organizations, analyse analyze, analysed
analyzed, analysing analyzing, catalyse catalyze, paralysed paralyzed, normalisable normalizable, renormalisation renormalization,
optimise optimize, summariser summarizer, visualising visualizing, haemoglobin hemoglobin, leukaemia leukemia, anaemia anemia,
paediatric pediatric, orthopaedic orthopedic, anaesthesia anesthesia, gynaecology gynecology, oedema edema, oestrogen estrogen,
oesophagus esophagus, foetal fetal, diarrhoea diarrhea, apnoea apnea, coeliac celiac, aetiology etiology, caesarean cesarean, faeces
feces, sulphur sulfur, sulphide sulfide, aluminium aluminum, archaeology archeology, palaeontology paleontology, homoeopathy homeopathy,
modelling modeling, modelled modeled, labelled labeled, unlabelled unlabeled, travelling traveling, signalling signaling, channelling
channeling, defence defense, licence license, grey gray, greyscale grayscale, ageing aging, artefact artifact, artefacts artifacts,
programme program, programmes programs, catalogue catalog, analogue analog, dialogue dialog, judgement judgment, fulfil fulfill,
enrolment enrollment, sceptical skeptical, mould mold, moulding molding, manoeuvre maneuver
"""
ALIKE_EVERYWHERE = """
precise exercise exercises exercised advertise advertising revised revise surprise otherwise likewise supervised supervision compromise
promise premises noise noisy wise rise raised four hour hours source course tour contour pour journal our genre acre massacre mediocre
are more here square tablet compiler pencil called calling filling cell smaller controlling controlled spelling shell haunt paradise
expertise enterprise basis analysis thesis crisis virus science sequence evidence league synagogue vague plague could should would
shoulder moment cement statement aerial poem coexist goes shoes does phoenix
"""


@pytest.mark.parametrize("pair", [pair.strip() for pair in PAIRS.replace("\n", " ").split(",")])
def test_both_forms_give_one_term(pair: str) -> None:
    british, usual = pair.split()
    assert Analyzer().term(british) == Analyzer().term(usual)
    assert Analyzer().terms(f"{british.capitalize()}.") == Analyzer().terms(usual)


def test_the_quick_test_misses_no_word_that_a_rule_may_change() -> None:
    words = [word for start in ("", "non", "s") for word in map(start.__add__, PAIRS.replace(",", " ").split() + ALIKE_EVERYWHERE.split())]
    assert any(map(_BRITISH.search, words))
    assert [word for word in words if _BRITISH.search(word) and not _MAY_BE_BRITISH.search(word)] == []


@pytest.mark.parametrize("word", ALIKE_EVERYWHERE.split())
def test_what_is_written_so_everywhere_keeps_its_term(word: str) -> None:
    assert Analyzer().term(word) == Analyzer(form=2).term(word)


def test_the_american_form_stays() -> None:
    for pair in PAIRS.replace("\n", " ").split(","):
        usual = pair.split()[1]
        assert american(american(usual)) == american(usual)
