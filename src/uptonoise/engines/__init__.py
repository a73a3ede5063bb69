"""Other row sources than what is in memory: files, read some thousand rows at a time, a Dask cluster, and a GPU."""

# Bags register their types before the engines do: the type that was registered last is tried first.
import uptonoise.bags
from uptonoise.engines.dask import connected, scan_dask
from uptonoise.engines.files import (
    FORMATS,
    Choice,
    OpenFiles,
    categories_of,
    chosen_columns,
    scan_csv,
    scan_parquet,
)
from uptonoise.engines.gpu import on_device, tensor_bags, tensor_features
