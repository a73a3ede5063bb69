"""Other row sources than what is in memory: Parquet, CSV, Arrow and numpy files, read some thousand rows at a time."""

from uptonoise.engines._csv import scan_csv
from uptonoise.engines._files import described_columns, open_rows
from uptonoise.engines._parquet import scan_parquet

__all__ = ["described_columns", "open_rows", "scan_csv", "scan_parquet"]
