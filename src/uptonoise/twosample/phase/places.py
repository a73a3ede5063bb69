"""Which frequencies of two sketches a test looks at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.fourier import BLOCK_WEIGHTS, Sketch


class Places(NamedTuple):
    """The blocks of frequencies that are tested, with their weights, and the largest of them."""

    blocks: dict[str, slice]
    weights: Floats
    largest: slice

    @classmethod
    def of(cls, *sketches: Sketch) -> Places:
        """Return those of comparable sketches, some of which may have lost the names of their blocks."""
        named = next((sketch for sketch in sketches if sketch.has_blocks), sketches[0]).blocks
        blocks = {name: place for name, place in named.items() if BLOCK_WEIGHTS.get(name, 1.0) > 0} or named
        weights = np.array([BLOCK_WEIGHTS.get(name, 1.0) or 1.0 for name in blocks])
        return cls(blocks, weights / weights.sum(), max(blocks.values(), key=lambda place: place.stop - place.start))


def centre_of(X: Sketch) -> Floats:
    """Return a centre for the phases of both samples, on which no result depends."""
    return X.centre if X.centre is not None else np.zeros(X.n_columns)


def comparable(X: Any, Y: Any) -> tuple[Sketch, Sketch]:
    """Return two sketches that can be compared."""
    if not (isinstance(X, Sketch) and isinstance(Y, Sketch)):
        raise ValueError("X and Y must both be samples or both be sketches; make the other one with Sketch.like")
    X.check_comparable(Y)
    return X, Y
