"""From what somebody typed to a ranking of papers: an opened index, what is meant, which papers may answer, and in which order."""
