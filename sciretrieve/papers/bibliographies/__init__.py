"""Papers as entries of a bibliography: BibTeX and RIS. Entries read from a bibliography are written unchanged."""
