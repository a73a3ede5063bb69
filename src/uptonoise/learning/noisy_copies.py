"""Copies of bags with noise of many sizes: what a model is fitted on when the noise of new bags is not known.

A noise size is a standard deviation in units of each column's own, over all rows of fit. Every bag has one clean copy
and several noisy ones, each with a size from another range: so every bag is seen with little, moderate and much noise.
Some copies have noise of another size in each column, and some have heavy tails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning.bag_statistics import VALUES_AT_ONCE

LARGEST = 10.0
"""The largest noise size of noise="unknown"."""
SMALLEST = 0.1
_MOST = 1_000.0
_NAMED = {"unknown": LARGEST, "as in training": 0.0}
_HEAVY_SHARE = 0.2
_UNEQUAL_SHARE = 0.15
_HEAVY_FREEDOM = 3.0
_COPIES_OF_FEW, _COPIES_OF_MANY = 4, 2
_MANY = 3_000
BEYOND = 1.5
"""Times the largest size: so that the largest itself is not at the edge of what was seen."""
NOISE_BOUNDS = (SMALLEST, 0.35, 0.8, 2.0, BEYOND * LARGEST)
"""The bounds of the noise sizes of each copy of noise="unknown"."""


class NoisyCopy(NamedTuple):
    """Bags with noise."""

    bags: Bags
    sizes: Floats  # of the noise of each bag: the root mean square over columns
    heavy: NDArray[np.bool_]  # whether the tails of that noise are heavy


class NoisePlan(NamedTuple):
    """Up to which size noise is added, and the columns' standard deviations, which are its units."""

    largest: float
    deviations: Floats

    def copies(self, bags: Bags, generator: np.random.Generator) -> Iterator[NoisyCopy]:
        """Yield the bags as they are, and then their noisy copies, each in runs that take little memory."""
        for run in bags._runs(VALUES_AT_ONCE):
            yield NoisyCopy(run, np.zeros(len(run)), np.zeros(len(run), dtype=bool))
        if self.largest == 0:
            return
        number = _COPIES_OF_FEW if len(bags) < _MANY else _COPIES_OF_MANY
        # The bounds of the noise sizes of each copy: closer where noise is as large as the signal.
        if self.largest < LARGEST:
            bounds = np.geomspace(min(SMALLEST, self.largest / 4), BEYOND * self.largest, number + 1)
        else:
            inner = NOISE_BOUNDS[1:-1] if number == _COPIES_OF_FEW else NOISE_BOUNDS[2:3]
            bounds = np.array([SMALLEST, *inner, BEYOND * self.largest])
        for low, high in pairwise(np.log(bounds)):
            sizes = np.exp(generator.uniform(low, high, len(bags)))
            start = 0
            for run in bags._runs(VALUES_AT_ONCE):
                yield self._noisy(run, sizes[start : start + len(run)], generator)
                start += len(run)

    def _noisy(self, bags: Bags, sizes: Floats, generator: np.random.Generator) -> NoisyCopy:
        """Return bags with noise of a given size for each bag."""
        n_bags, d = len(bags), bags.n_columns
        shares = np.ones((n_bags, d))
        unequal = generator.random(n_bags) < _UNEQUAL_SHARE
        if d > 1:
            shares[unequal] = np.exp(generator.uniform(np.log(0.1), np.log(2.0), (int(unequal.sum()), d)))
        each = sizes[:, None] * shares
        noise = generator.standard_normal(bags.values.shape)
        heavy = generator.random(n_bags) < _HEAVY_SHARE
        heavy_rows = np.repeat(heavy, bags.sizes)
        chi2 = generator.chisquare(_HEAVY_FREEDOM, (int(heavy_rows.sum()), 1))
        noise[heavy_rows] /= np.sqrt(chi2 / (_HEAVY_FREEDOM - 2))
        noise *= np.repeat(each * self.deviations, bags.sizes, axis=0)
        noise += bags.values
        noisy = Bags._in_order(noise, bags.offsets, bags.ids, bags.labels, bags.columns, bags.named)
        return NoisyCopy(noisy, np.sqrt(np.mean(each**2, axis=1)), heavy)


def largest_noise(noise: Any) -> float:
    """Return the largest noise size that "unknown", "as in training", "up to 3" or a number stands for; 0 for none."""
    if isinstance(noise, str):
        if noise in _NAMED:
            return _NAMED[noise]
        match = re.fullmatch(r"up to (\d+(?:\.\d*)?|\.\d+)(?: SD)?", noise.strip())
        size = float(match.group(1)) if match else np.nan
    else:
        size = float(noise) if isinstance(noise, Real) and not isinstance(noise, bool) else np.nan
    if not 0 <= size <= _MOST:
        raise ValueError(
            'noise must be "unknown", "as in training", "up to 3", or the largest standard deviation of the noise in '
            f"units of each column's own, from 0 to {_MOST:g}; got {noise!r}"
        )
    return size
