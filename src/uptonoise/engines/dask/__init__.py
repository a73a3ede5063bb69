"""Rows on a Dask cluster."""

from uptonoise.engines.dask.cluster import connected
from uptonoise.engines.dask.scan import scan_dask
