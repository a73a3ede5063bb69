"""Rows of files of any format in one call, as tests need them."""

from uptonoise.engines import OpenFiles

HOW = ("delimiter", "decimal", "encoding", "header", "comment", "format", "sheet")


def open_rows(path, **options):
    """Return the rows of files, with the options of OpenFiles and of its rows."""
    how = {name: options.pop(name) for name in HOW if name in options}
    return OpenFiles(path, **how).rows(**options)
