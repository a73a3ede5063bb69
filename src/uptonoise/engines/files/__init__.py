"""Rows of files: CSV, Parquet, Arrow and numpy."""

from uptonoise.engines.files.csv import scan_csv
from uptonoise.engines.files.formats import described_columns, open_rows
from uptonoise.engines.files.parquet import scan_parquet
from uptonoise.engines.files.tables import FileRows, GroupIds, Groups, Missing, TableFile

__all__ = [
    "FileRows",
    "GroupIds",
    "Groups",
    "Missing",
    "TableFile",
    "described_columns",
    "open_rows",
    "scan_csv",
    "scan_parquet",
]
