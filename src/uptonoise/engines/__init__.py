"""Other row sources than what is in memory: files, read some thousand rows at a time, a Dask cluster, and a GPU."""

from uptonoise.engines._csv import scan_csv
from uptonoise.engines._cuda import on_device, tensor_bags, tensor_features
from uptonoise.engines._dask import connected, scan_dask
from uptonoise.engines._files import described_columns, open_rows
from uptonoise.engines._parquet import scan_parquet

__all__ = [
    "connected",
    "described_columns",
    "on_device",
    "open_rows",
    "scan_csv",
    "scan_dask",
    "scan_parquet",
    "tensor_bags",
    "tensor_features",
]
