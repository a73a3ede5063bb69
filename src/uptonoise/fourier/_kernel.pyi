import numpy as np
from numpy.typing import NDArray

def sums(
    values: NDArray[np.float64],
    projection: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    bounds: NDArray[np.int64],
    out: NDArray[np.complex128],
    /,
) -> None: ...
def features(
    values: NDArray[np.float64],
    projection: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    out: NDArray[np.float32],
    sums: NDArray[np.float64],
    /,
) -> None: ...
def instructions() -> str: ...
