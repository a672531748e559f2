"""`python -m graphtide`: the command line, where the command `graphtide` is not on the path."""

from graphtide.cli.main import main

if __name__ == "__main__":
    main()
