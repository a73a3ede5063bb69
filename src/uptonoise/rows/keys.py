"""Sampling without replacement by random keys: every row gets a key, and the rows with the smallest keys are chosen.

So the choice is the same whether the number of rows is known beforehand or not, and samples of parts can be merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.rows.block import Block


def keyed_rows(
    blocks: Iterable[Block],
    n_columns: int,
    n_rows: int,
    generator: np.random.Generator,
    earlier: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Return the `n_rows` smallest of random keys, one for each row, and the values of those rows, in one pass.

    `earlier` is what blocks before these gave. The smallest keys belong to rows that are sampled in proportion to their
    weights; equal weights choose the same rows as no weights (Efraimidis and Spirakis 2006).
    """
    keys, values = (np.empty(0), np.empty((0, n_columns))) if earlier is None else earlier
    for block in blocks:
        new = -np.log1p(-generator.random(len(block.values)))
        if block.weights is not None:
            # The pass over all rows judges weights that are not positive numbers.
            positive = np.asarray(block.weights, dtype=np.float64) > 0
            new = np.divide(new, block.weights, out=np.full(len(new), np.inf), where=positive)
        keys = np.append(keys, new)
        kept = np.arange(len(keys)) if len(keys) <= n_rows else np.sort(np.argpartition(keys, n_rows)[:n_rows])
        n_held = np.searchsorted(kept, len(values))  # of those before
        values = np.concatenate([values[kept[:n_held]], block.values[kept[n_held:] - len(values)]])
        keys = keys[kept]
    return keys, values


class BagSample(NamedTuple):
    """Rows that were sampled from bags: their random keys, the numbers of their bags, and their values."""

    keys: Floats
    bags: NDArray[np.int64]
    values: Floats

    def best(self, other: BagSample, n_rows: int) -> BagSample:
        """Return the rows of both with the smallest keys, at most `n_rows` of each bag, in the order that they have."""
        keys, bags, values = (np.concatenate(fields) for fields in zip(self, other, strict=True))
        order = np.lexsort((keys, bags))
        first = np.searchsorted(bags[order], bags[order])
        kept = np.sort(order[np.arange(len(order)) - first < n_rows])
        return BagSample(keys[kept], bags[kept], values[kept])


def bag_keys(
    blocks: Iterable[Block], n_columns: int, n_rows: int, seed: int, earlier: Mapping[int, int] | None = None
) -> BagSample:
    """Return at most `n_rows` rows of each bag in one pass over blocks.

    Each bag has a generator of its own, so that it does not matter what lies between its rows. `earlier` gives the
    number of rows of each bag that came before these blocks.
    """
    generators: dict[int, np.random.Generator] = {}
    sample = BagSample(np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, n_columns)))
    for block in blocks:
        assert block.bags is not None
        keys = np.empty(len(block.bags))
        order = np.argsort(block.bags, kind="stable")
        bags, starts = np.unique(block.bags[order], return_index=True)
        for bag, rows in zip(bags.tolist(), np.split(order, starts[1:]), strict=True):
            if bag not in generators:
                bits = np.random.PCG64([seed, bag]).advance((earlier or {}).get(bag, 0))
                generators[bag] = np.random.Generator(bits)
            keys[rows] = generators[bag].random(len(rows))
        sample = sample.best(BagSample(keys, block.bags, block.values), n_rows)
    return sample


def rows_by_bag(sample: BagSample) -> list[Floats]:
    """Return the rows of each bag."""
    order = np.argsort(sample.bags, kind="stable")
    bags = sample.bags[order]
    return np.split(sample.values[order], np.searchsorted(bags, np.arange(1, bags.max() + 1)))
