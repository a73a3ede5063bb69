"""The command line."""

from uptonoise.cli.app import main
