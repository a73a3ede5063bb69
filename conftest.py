"""Which modules have doctests: those that need Triton only where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("triton") else [f"src/uptonoise/engines/{name}.py" for name in ("_kernels", "_triton")]
