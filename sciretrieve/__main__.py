"""`python -m sciretrieve …` is the command line."""

from .commands import main

main()
