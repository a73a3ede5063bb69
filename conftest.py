"""Which modules have doctests: those that need Triton only where it is installed."""

from importlib.util import find_spec

_GPU = "src/uptonoise/engines/gpu"
collect_ignore = [] if find_spec("triton") else [f"{_GPU}/kernels.py", f"{_GPU}/launch.py"]
