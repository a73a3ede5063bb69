"""The compiled kernel: cosine and sine features of rows, and their sums, without Python's lock.

It does in C what :mod:`~uptonoise.fourier.cosine_sine` does with numpy in fast precision, with an error of a feature
below 5e-7 as well. Where it was not compiled, numpy does the work. The environment variable ``UPTONOISE_KERNEL``, read
when uptonoise is imported, decides where there is a choice:

============  ===================================================================
``numpy``     never the kernel
``compiled``  the kernel, and an error where there is none
``baseline``  the kernel with the instructions that every machine of its kind has
``avx2``      the kernel with AVX2 at most, also where there is AVX-512
============  ===================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_VARIABLE = "UPTONOISE_KERNEL"
_CHOICES = ("numpy", "compiled", "baseline", "avx2")


def _loaded(asked: str) -> ModuleType | None:
    if asked and asked not in _CHOICES:
        raise ValueError(f"the environment variable {_VARIABLE} must be one of {', '.join(_CHOICES)}; got {asked!r}")
    if asked == "numpy":
        return None
    try:
        import uptonoise.fourier._kernel as compiled
    except ImportError as error:
        if asked:
            raise ImportError(f"{_VARIABLE} is {asked!r}, and the compiled kernel cannot be loaded: {error}") from error
        return None
    return compiled


kernel = _loaded(os.environ.get(_VARIABLE, ""))
"""The compiled kernel; None where numpy does the work."""


@contextmanager
def by_numpy() -> Iterator[None]:
    """Leave the work to numpy for a while, in all threads: for tests and benchmarks that compare the two.

    Examples
    --------
    >>> from uptonoise.fourier.compiled import by_numpy, kernel_name
    >>> with by_numpy():
    ...     print(kernel_name().split()[0])
    numpy
    """
    global kernel
    kept, kernel = kernel, None
    try:
        yield
    finally:
        kernel = kept


def kernel_name() -> str:
    """Return which kernel is in use, in words.

    Examples
    --------
    >>> from uptonoise.fourier.compiled import kernel_name
    >>> kernel_name().split()[0] in ("compiled", "numpy")
    True
    """
    if kernel is not None:
        return f"compiled ({kernel.instructions()})"
    return f"numpy ({_VARIABLE}=numpy)" if os.environ.get(_VARIABLE) == "numpy" else "numpy (no compiled kernel)"
