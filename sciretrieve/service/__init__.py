"""A service over indexes: Semantic Scholar's API, one of our own, a search page, and tools for assistants, all from one process.

Whatever they answer is `answers.answering.answer` and its like: nothing is computed here that Python and the command line do not have.
"""
