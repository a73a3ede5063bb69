"""Which modules have doctests (those that need Triton only where it is installed), and what is put away after tests."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

_GPU = "src/uptonoise/engines/gpu"
collect_ignore = [] if find_spec("triton") else [f"{_GPU}/kernels.py", f"{_GPU}/launch.py"]


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Close what a test or a page has drawn, so that the figures of several do not add up."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _closed_clusters_are_forgotten() -> None:
    """Forget the scheduler of a Dask client that was slow to close: later tests would look for it in vain."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        distributed.default_client()
    except ValueError:
        sys.modules["dask"].config.config.pop("scheduler", None)
