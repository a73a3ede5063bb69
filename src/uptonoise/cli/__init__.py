"""The command line."""

from uptonoise.cli.app import app, main

__all__ = [
    "app",
    "main",
]
