r"""The macros that astronomy's bibliographies have in place of journals' names, as `journal = {\aap}` in the exports of ADS."""

from __future__ import annotations

import re

MACRO = re.compile(r"[{}\s]*\\([a-z]+)[{}\s]*")
_NAMES = r"""
aj The Astronomical Journal
actaa Acta Astronomica
araa Annual Review of Astronomy and Astrophysics
apj The Astrophysical Journal
apjl The Astrophysical Journal Letters
apjlett The Astrophysical Journal Letters
apjs The Astrophysical Journal Supplement Series
apjsupp The Astrophysical Journal Supplement Series
ao Applied Optics
applopt Applied Optics
apss Astrophysics and Space Science
aap Astronomy and Astrophysics
astap Astronomy and Astrophysics
aapr Astronomy and Astrophysics Reviews
aaps Astronomy and Astrophysics Supplement Series
azh Astronomicheskii Zhurnal
baas Bulletin of the American Astronomical Society
bac Bulletin of the Astronomical Institutes of Czechoslovakia
bain Bulletin of the Astronomical Institutes of the Netherlands
caa Chinese Astronomy and Astrophysics
cjaa Chinese Journal of Astronomy and Astrophysics
fcp Fundamentals of Cosmic Physics
gca Geochimica et Cosmochimica Acta
grl Geophysical Research Letters
iaucirc International Astronomical Union Circular
icarus Icarus
jaavso The Journal of the American Association of Variable Star Observers
jcap Journal of Cosmology and Astroparticle Physics
jcp The Journal of Chemical Physics
jgr Journal of Geophysical Research
jqsrt Journal of Quantitative Spectroscopy and Radiative Transfer
jrasc Journal of the Royal Astronomical Society of Canada
maps Meteoritics and Planetary Science
memras Memoirs of the Royal Astronomical Society
memsai Memorie della Società Astronomica Italiana
mnras Monthly Notices of the Royal Astronomical Society
na New Astronomy
nar New Astronomy Reviews
nat Nature
nphysa Nuclear Physics A
pasa Publications of the Astronomical Society of Australia
pasj Publications of the Astronomical Society of Japan
pasp Publications of the Astronomical Society of the Pacific
physrep Physics Reports
physscr Physica Scripta
planss Planetary and Space Science
pra Physical Review A
prb Physical Review B
prc Physical Review C
prd Physical Review D
pre Physical Review E
prl Physical Review Letters
procspie Proceedings of SPIE
psj The Planetary Science Journal
qjras Quarterly Journal of the Royal Astronomical Society
rmxaa Revista Mexicana de Astronomía y Astrofísica
skytel Sky and Telescope
solphys Solar Physics
sovast Soviet Astronomy
ssr Space Science Reviews
zap Zeitschrift für Astrophysik
"""
NAMES = {macro: name for line in _NAMES.strip().splitlines() for macro, _, name in [line.partition(" ")]}


def journal(latex: str) -> str:
    """A journal's name in place of its macro; any other text as it is."""
    match = MACRO.fullmatch(latex)
    return NAMES.get(match[1], latex) if match else latex
