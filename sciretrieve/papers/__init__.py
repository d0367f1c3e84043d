"""Papers in and out: corpora of many formats, bibliographies, identifiers, and what a paper says that it cites."""
