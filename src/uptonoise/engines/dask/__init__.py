"""Rows on a Dask cluster."""

from uptonoise.engines.dask.rows import connected, scan_dask

__all__ = [
    "connected",
    "scan_dask",
]
