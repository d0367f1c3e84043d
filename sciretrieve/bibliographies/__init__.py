"""Papers as entries of a bibliography: BibTeX and RIS. An entry that came in as one goes out as it came."""
