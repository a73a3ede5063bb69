"""Other row sources than what is in memory: files, read some thousand rows at a time, a Dask cluster, and a GPU."""

from uptonoise.engines.dask import connected, scan_dask
from uptonoise.engines.files import FORMATS, Choice, OpenFiles, chosen_columns, open_rows, scan_csv, scan_parquet
from uptonoise.engines.gpu import on_device, tensor_bags, tensor_features

__all__ = [
    "FORMATS",
    "Choice",
    "OpenFiles",
    "chosen_columns",
    "connected",
    "on_device",
    "open_rows",
    "scan_csv",
    "scan_dask",
    "scan_parquet",
    "tensor_bags",
    "tensor_features",
]
