"""Rows of files: CSV, Parquet, Arrow and numpy."""

from uptonoise.engines.files.arrow import scan_parquet
from uptonoise.engines.files.choice import Choice, chosen_columns
from uptonoise.engines.files.columns import categories_of
from uptonoise.engines.files.csv import scan_csv
from uptonoise.engines.files.formats import FORMATS, OpenFiles
from uptonoise.engines.files.groups import GroupIds, Groups, NoGroupError
from uptonoise.engines.files.rows import FileRows
from uptonoise.engines.files.table import TableFile
