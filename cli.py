"""The door for a checkout: `python cli.py …` is the same program as the installed command `sciretrieve …`."""

from sciretrieve.commands import main

if __name__ == "__main__":
    main()
