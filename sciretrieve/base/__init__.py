"""The base of all other packages: errors, papers and queries, option values, and text for people."""
