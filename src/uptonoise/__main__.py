"""``python -m uptonoise``: the command line."""

from uptonoise.cli import main

main()
