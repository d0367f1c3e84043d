"""A library with all that the API tells of: some papers with every kind of column, and so many others that they fill pages."""

from typing import Any

PAPERS: list[dict[str, Any]] = [
    {
        "id": "tides",
        "title": "Tides of the deep sea",
        "abstract": "The moon makes tides. Harbours wait for them. Tides move sand along the coast.",
        "year": 2019,
        "venue": "Ocean Letters",
        "authors": ["Lovelace, Ada", "Alan Turing"],
        "doi": "10.1000/Tides",
        "arxiv": "1901.00001",
        "pmid": "31000001",
        "externalIds": {"MAG": "2900000001", "ACL": "P19-1001", "PubMedCentral": "6000001", "CorpusId": 4001},
        "publicationDate": "2019-05-20",
        "publicationTypes": ["JournalArticle", "Review"],
        "fieldsOfStudy": ["Geology", "Environmental Science"],
        "isOpenAccess": True,
        "openAccessPdf": {"url": "https://example.org/tides.pdf", "status": "GOLD"},
        "journal": {"name": "Ocean Letters", "volume": "7", "pages": "1-9"},
        "tldr": {"model": "by hand", "text": "The moon did it."},
        "influentialCitationCount": 2,
        "references": ["salt", "10.1000/elsewhere", "winds"],
    },
    {
        "id": "salt",
        "title": "Salt in the sea",
        "abstract": "Rivers carry salt into the sea.",
        "year": 2001,
        "venue": "Rivers, Lakes and Seas",
        "authors": ["Ada Lovelace"],
        "doi": "10.1000/salt",
        "publicationDate": "2001-02-03",
        "publicationTypes": ["Conference"],
        "fieldsOfStudy": ["Chemistry"],
        "isOpenAccess": False,
        "references": [],
    },
    {
        "id": "winds",
        "title": "Winds over the sea: C++ and R programs",
        "abstract": "",
        "year": 2010,
        "venue": "Beaufort",
        "authors": ["Grace Hopper", "A. Turing"],
        "publicationDate": "2010-06",
        "references": ["salt"],
    },
    {
        "id": "waves",
        "title": "Waves",
        "abstract": "Waves break on rocks.",
        "year": 2021,
        "authors": ["Alan Turing"],
        "references": ["tides", "salt"],
    },
    {"id": "10.1000/slash/within", "title": "Currents", "abstract": "Currents turn.", "year": None, "authors": [], "references": ["tides"]},
]
BY_ID = {paper["id"]: paper for paper in PAPERS}

MANY = 2345
REPORTS: list[dict[str, Any]] = [
    {
        "id": f"r{number:04d}",
        "title": f"Report {number} on gauges",
        "abstract": "Gauges were read.",
        "year": 1950 + number % 60,
        "authors": ["Gauge Reader"],
    }
    for number in range(MANY)
]
"""Papers that are alike, of which a search finds more than it goes to."""
