"""A service over indexes: Semantic Scholar's API, one of our own, and a search page from one process; tools for assistants from another.

Whatever they answer is `answers.answering.answer` and its like: nothing is computed here that Python and the command line do not have.
"""
