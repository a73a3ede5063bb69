"""Noisy copies of bags whose noise depends on the bag and the seed only: the same in every fold of a search."""

from __future__ import annotations

import zlib

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags

N_COPIES = 4


def bags_with_copies(bags: Bags, level: float, variances: Floats, seed: int) -> Bags:
    """Return the bags as they are, and then noisy copies of all of them.

    Parameters
    ----------
    bags : Bags
        The bags.
    level : float
        The largest noise size: the noise of a copy has a variance between 0 and this times that of the column.
    variances : array of shape (d,)
        The variances of the columns.
    seed : int
        The seed; a bag's noise depends on it and on the bag's rows, not on the other bags.
    """
    if level == 0:
        return bags
    generators = [np.random.default_rng([seed, zlib.crc32(np.ascontiguousarray(bag).tobytes())]) for bag in bags]
    copies = [bags.values]
    for _ in range(N_COPIES):
        noise = [
            np.sqrt(generator.uniform(0, level) * variances) * generator.standard_normal(bag.shape)
            for generator, bag in zip(generators, bags, strict=True)
        ]
        copies.append(bags.values + np.concatenate(noise))
    number = len(copies)
    offsets = np.concatenate([[0], np.cumsum(np.tile(bags.sizes, number))])
    ids = np.arange(number * len(bags))
    return Bags.__new__(Bags)._set(np.concatenate(copies), offsets, ids, None, bags.columns, bags.named)
