"""Means of a kernel of rows over all pairs of rows of two bags, exactly, a small block of pairs at a time."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.fourier.scale import median_scale
from uptonoise.rows import RowSource, as_real_array

Kernel = Callable[[Floats, Floats], Floats]

_READ_ROWS = 65_536
_STRIP_ROWS = 512
_LARGEST_SQUARE = 1e4  # a difference of squares up to this size is right to 1e-11
_ROUNDING = 1e-14


class BagRowsWithShares:
    """The rows of bags, one bag after the other, with the share of each row in the mean of its bag.

    They are read into memory, and may lie anywhere in the source.
    """

    def __init__(self, source: RowSource) -> None:
        blocks = list(source.blocks(_READ_ROWS))
        bags = np.concatenate([np.asarray(block.bags) for block in blocks])
        weights = np.concatenate([np.ones(len(b.values)) if b.weights is None else b.weights for b in blocks])
        totals = np.bincount(bags, weights=weights)
        if (totals == 0).any():
            bag = np.asarray(source.bag_ids)[int(np.argmin(totals))]
            raise ValueError(f"weights of {source.name} must not all be 0 in a bag; they are in bag {shown(bag)}")
        order = np.argsort(bags, kind="stable")
        self.name, self.bags, self.shares = source.name, bags[order], (weights / totals[bags])[order]
        self.values = np.concatenate([block.values for block in blocks])[order]


class _Strip(NamedTuple):
    """Some adjacent rows, and the matrix that sums them by bag with their shares."""

    values: Floats
    first_bag: int
    by_bag: scipy.sparse.csr_array

    @property
    def place(self) -> slice:
        return slice(self.first_bag, self.first_bag + self.by_bag.shape[0])


class Strips:
    """The rows of bags in strips, each small enough that the kernel of two of them stays in cache."""

    def __init__(self, rows: BagRowsWithShares, lengths: Floats) -> None:
        self.n_bags = int(rows.bags[-1]) + 1
        self.strips = []
        for start in range(0, len(rows.values), _STRIP_ROWS):
            part = slice(start, start + _STRIP_ROWS)
            bags, first, last = rows.bags[part], int(rows.bags[start]), int(rows.bags[part][-1])
            shape, bounds = (last + 1 - first, len(bags)), np.searchsorted(bags, np.arange(first, last + 2))
            by_bag = scipy.sparse.csr_array((rows.shares[part], np.arange(len(bags)), bounds), shape=shape)
            self.strips.append(_Strip(rows.values[part] / lengths, first, by_bag))


def mean_kernel(kernel: Kernel, left: Strips, right: Strips | None) -> Floats:
    """Return the mean of a kernel of rows for each pair of bags; where `right` is None, of `left` with itself."""
    if right is not None:
        means = np.zeros((left.n_bags, right.n_bags))
        for row, column, part in _means_of_pairs(kernel, itertools.product(left.strips, right.strips)):
            means[row.place, column.place] += part
        return means
    half = np.zeros((left.n_bags, left.n_bags))
    pairs = itertools.combinations_with_replacement(left.strips, 2)
    for row, column, part in _means_of_pairs(kernel, pairs):
        half[row.place, column.place] += part / 2 if row is column else part
    return half + half.T


def squared_embedding_distances(kernel: Kernel, left: Strips, right: Strips | None) -> Floats:
    """Return the squared distance of the embeddings of each pair of bags, 0 where it is within rounding."""
    means = mean_kernel(kernel, left, right)
    norms = np.diag(means) if right is None else _squared_norms(kernel, left)
    other_norms = norms if right is None else _squared_norms(kernel, right)
    sums = norms[:, None] + other_norms
    squared = sums - 2 * means
    return np.where(squared > _ROUNDING * sums, squared, 0.0)


def _squared_norms(kernel: Kernel, strips: Strips) -> Floats:
    """Return the mean of a kernel of rows within each bag."""
    # Pairs of strips that have rows of the same bag.
    pairs = (
        (strip, later)
        for number, strip in enumerate(strips.strips)
        for later in strips.strips[number:]
        if later.first_bag < strip.place.stop
    )
    norms = np.zeros(strips.n_bags)
    for row, column, part in _means_of_pairs(kernel, pairs):
        within = np.diagonal(part, row.first_bag - column.first_bag)
        norms[column.first_bag : column.first_bag + len(within)] += within if row is column else 2 * within
    return norms


def _means_of_pairs(kernel: Kernel, pairs: Iterable[tuple[_Strip, _Strip]]) -> Iterator[tuple[_Strip, _Strip, Floats]]:
    """Yield each pair of strips with the part of the mean kernel of their bags that it holds."""

    def part(pair: tuple[_Strip, _Strip]) -> tuple[_Strip, _Strip, Floats]:
        left, right = pair
        shape = (len(left.values), len(right.values))
        matrix = as_matrix(kernel(left.values, right.values), shape, "kernel", finite=False)
        means = (right.by_bag @ (left.by_bag @ matrix).T).T
        return left, right, as_matrix(means, means.shape, "kernel")

    with single_threaded_blas():
        yield from ordered_map(part, pairs)


def as_matrix(matrix: Any, shape: tuple[int, ...], name: str, *, finite: bool = True) -> Floats:
    """Return the result of a user's function as float64; raise where it has another shape or is not finite."""
    array = as_real_array(matrix, f"the result of {name}")
    if array.shape != shape:
        raise ValueError(f"{name} must return a matrix of shape {shape}; got shape {array.shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} must return finite numbers; got NaN or infinite ones")
    return array.astype(np.float64, copy=False)


def row_kernel(
    kernel: Any, scale: Any, kernel_params: Mapping[str, Any] | None, reference: BagRowsWithShares
) -> tuple[Kernel, Floats]:
    """Return a kernel of rows, and the lengths that rows must be divided by first."""
    if not isinstance(kernel_params, Mapping | None):
        raise ValueError(f"kernel_params must be a dict of what the kernel takes, or None; got {kernel_params!r}")
    params = {} if kernel_params is None else dict(kernel_params)
    n_columns = reference.values.shape[1]
    if isinstance(kernel, str) and kernel in _OWN:
        if params:
            raise ValueError(f"kernel_params must be left out for kernel={kernel!r}; its length is scale")
        if isinstance(scale, str) and scale == "median":
            if (reference.values == reference.values[0]).all():
                raise ValueError(f'scale="median" needs rows of {reference.name} that differ; give a length instead')
            return _OWN[kernel], np.full(n_columns, median_scale(reference.values))
        lengths = as_real_array(scale, "scale").astype(np.float64)
        if lengths.shape not in {(), (n_columns,)} or not ((lengths > 0) & np.isfinite(lengths)).all():
            raise ValueError(f'scale must be "median", a positive length, or one for each column; got {scale!r}')
        return _OWN[kernel], np.broadcast_to(lengths, n_columns)
    if not isinstance(scale, str) or scale != "median":
        raise ValueError(f'scale is the length of "rbf" and "laplacian"; kernel={kernel!r} takes kernel_params')
    if callable(kernel) and not isinstance(kernel, type):
        return partial(kernel, **params), np.ones(n_columns)
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # it takes longer to import than all of this library

    if not isinstance(kernel, str) or kernel not in PAIRWISE_KERNEL_FUNCTIONS:
        names = ", ".join(sorted(PAIRWISE_KERNEL_FUNCTIONS))
        raise ValueError(f"kernel must be a function or one of {names}; got {kernel!r}")
    function = PAIRWISE_KERNEL_FUNCTIONS[kernel]
    try:
        inspect.signature(function).bind(None, None, **params)
    except TypeError as error:
        raise ValueError(f"kernel_params do not fit kernel={kernel!r}: {error}") from None
    return partial(function, **params), np.ones(n_columns)


def _gaussian(left: Floats, right: Floats) -> Floats:
    """Return exp(-norm(x - y)^2 / 2) for all pairs of rows."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        centre = left.mean(axis=0)
        rows, others = left - centre, right - centre
        squares, other_squares = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", others, others)
        if max(squares.max(), other_squares.max()) < _LARGEST_SQUARE:  # one product of matrices
            augmented = np.column_stack([rows, squares, np.ones_like(squares)])
            other_augmented = np.column_stack([others, np.full_like(other_squares, -0.5), -0.5 * other_squares])
            exponent = augmented @ other_augmented.T
        else:
            exponent = scipy.spatial.distance.cdist(left, right, "sqeuclidean")
            exponent *= -0.5
        return np.asarray(np.exp(exponent, out=exponent))


def _laplacian(left: Floats, right: Floats) -> Floats:
    """Return exp(-sum abs(x - y)) for all pairs of rows."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-scipy.spatial.distance.cdist(left, right, "cityblock")))


_OWN: dict[str, Kernel] = {"rbf": _gaussian, "laplacian": _laplacian}
