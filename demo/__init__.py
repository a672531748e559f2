"""The demo: `make demo`, or `python -m demo`. Not shipped with the package."""
