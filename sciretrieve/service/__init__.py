"""A service over indexes: one process has Semantic Scholar's API, our own API and a search page; another has tools for assistants.

All use `answers.answering.answer` and its like: nothing is computed here that Python and the command line lack.
"""
