"""The compiled kernel: cosine and sine features of rows, and their sums, without Python's lock.

It does in C what :mod:`~uptonoise.fourier.characteristic` does with numpy in fast precision, with an error of a feature
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

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]

_VARIABLE = "UPTONOISE_KERNEL"
_CHOICES = ("numpy", "compiled", "baseline", "avx2")


def _loaded(asked: str) -> ModuleType | None:
    if asked and asked not in _CHOICES:
        raise ValueError(f"the environment variable {_VARIABLE} must be one of {', '.join(_CHOICES)}; got {asked!r}")
    if asked == "numpy":
        return None
    try:
        import uptonoise.fourier._kernel as kernel
    except ImportError as error:
        if asked:
            raise ImportError(f"{_VARIABLE} is {asked!r}, and the compiled kernel cannot be loaded: {error}") from error
        return None
    return kernel


_kernel = _loaded(os.environ.get(_VARIABLE, ""))


def is_compiled() -> bool:
    """Tell whether the compiled kernel is in use."""
    return _kernel is not None


@contextmanager
def by_numpy() -> Iterator[None]:
    """Leave the work to numpy for a while, in all threads: for tests and benchmarks that compare the two.

    Examples
    --------
    >>> from uptonoise.fourier.compiled import by_numpy, is_compiled
    >>> with by_numpy():
    ...     print(is_compiled())
    False
    """
    global _kernel
    kept, _kernel = _kernel, None
    try:
        yield
    finally:
        _kernel = kept


def kernel_name() -> str:
    """Return which kernel is in use, in words.

    Examples
    --------
    >>> from uptonoise.fourier.compiled import kernel_name
    >>> kernel_name().split()[0] in ("compiled", "numpy")
    True
    """
    if _kernel is not None:
        return f"compiled ({_kernel.instructions()})"
    return f"numpy ({_VARIABLE}=numpy)" if os.environ.get(_VARIABLE) == "numpy" else "numpy (no compiled kernel)"


def sums_between(
    values: Floats,
    projection: Floats,
    weights: Floats | None,
    bounds: NDArray[np.int64],
    out: Complex | None = None,
) -> Complex:
    """Return the sums of weight exp(2 pi i x.projection) over the rows between consecutive bounds.

    Parameters
    ----------
    values : array of shape (n, d)
        The rows: finite, and such that the angles stay below 1e15.
    projection : array of shape (d, m)
        The frequencies in turns.
    weights : array of shape (n,) or None
        A weight for each row.
    bounds : array of shape (b + 1,)
        Increasing row numbers.
    out : complex array of shape (b, m), optional
        Where the sums go.

    Returns
    -------
    complex array of shape (b, m)
    """
    assert _kernel is not None
    if out is None:
        out = np.empty((len(bounds) - 1, projection.shape[1]), dtype=np.complex128)
    _kernel.sums(*_in_place(values, projection, weights), bounds, out)
    return out


def features_of_rows(values: Floats, projection: Floats, weights: Floats | None, out: NDArray[np.float32]) -> Floats:
    """Write [cos, sin] of 2 pi x.projection of each row to `out`, of shape (n, 2m), and return their weighted sums."""
    assert _kernel is not None
    sums = np.empty(out.shape[1])
    _kernel.features(*_in_place(values, projection, weights), out, sums)
    return sums


def _in_place(*arrays: Floats | None) -> list[Floats | None]:
    """Return arrays as the kernel reads them: one number after the other, each at an address that suits it.

    Arrays that came from another process need not be so, and are copied then.
    """
    return [None if array is None else np.require(array, requirements=("C", "A")) for array in arrays]
