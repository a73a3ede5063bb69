import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Complex, Floats

_Counts = NDArray[np.int64]
_Single = NDArray[np.float32]

def sums(values: Floats, projection: Floats, weights: Floats | None, bounds: _Counts, out: Complex, /) -> None: ...
def features(values: Floats, projection: Floats, weights: Floats | None, out: _Single, sums: Floats, /) -> None: ...
def instructions() -> str: ...
