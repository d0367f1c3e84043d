"""Which papers may answer: the filter language, what a typed query demands, and both as one truth value a paper."""
