"""Kernels between bags, for models that take a precomputed kernel.

    embedding_kernel   mean of k(x, y) over the rows x of one bag and y of the other    exact
    fourier_kernel     mean Re(phi_P conj phi_Q) over m frequencies                     the same, approximately
    phase_kernel       mean Re(rho_P conj rho_Q), rho = phi/abs(phi)                    does not see symmetric noise

Each is an inner product of embeddings mu_P and mu_Q, so it is positive semidefinite. A second kernel on top of it is a
function of how far the embeddings are apart: exp(-norm(mu_P - mu_Q)^2 / (2 length^2)) is the Gaussian one.

For a model, fit on ``kernel(train)`` and predict from ``kernel(test, train)``: medians are those of the last argument
that is given, so they are the same in both.
"""

from __future__ import annotations

import inspect
import itertools
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, squareform

from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Floats, Precision
from uptonoise._util.wording import shown
from uptonoise.fourier.characteristic import unit, warn_where_unreliable
from uptonoise.fourier.discrepancy import bag_sources, fourier_features, matrix_of_pairs, of_bags, squared_distances
from uptonoise.fourier.frequencies import median_scale
from uptonoise.rows import RowSource, as_real_array

Kernel = Callable[[Floats, Floats], Floats]
Second = Literal["gaussian"] | Callable[[Floats], Floats] | None

Embeddings = TypeVar("Embeddings")

_READ_ROWS = 65_536
_STRIP_ROWS = 512
_LARGEST_SQUARE = 1e4  # a difference of squares up to this one is right to 1e-11
_ROUNDING = 1e-14


def embedding_kernel(
    bags: Any,
    other: Any = None,
    *,
    kernel: str | Kernel = "rbf",
    scale: ArrayLike | Literal["median"] = "median",
    kernel_params: Mapping[str, Any] | None = None,
    second: Second = None,
    second_scale: float | Literal["median"] = "median",
) -> Floats:
    """Return the kernel matrix of the mean embeddings of bags: means of a kernel over all pairs of rows.

    It takes a time proportional to the square of the number of rows; :func:`fourier_kernel` takes one proportional
    to the number of rows. Memory holds a small block of pairs of rows at a time.

    Parameters
    ----------
    bags : Bags, list of arrays or frames, or 3-D array
        The bags.
    other : Bags, list of arrays or frames, or 3-D array, optional
        Other bags, with the same columns; by default each bag is paired with every bag of `bags`.
    kernel : str or callable
        "rbf", exp(-norm(x - y)^2 / (2 scale^2)); "laplacian", exp(-sum abs(x - y) / scale); any other name of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`; or a function of two arrays that returns the symmetric
        kernel of each row of one with each row of the other, and that threads may call at the same time.
    scale : "median", float or array of shape (d,)
        The length of "rbf" and "laplacian", or one for each column; "median" is :func:`~uptonoise.median_scale` of
        `other` where it is given, else of `bags`.
    kernel_params : dict, optional
        What other kernels take, such as ``{"degree": 2}`` for "poly".
    second : None, "gaussian" or callable
        A kernel on top: None is the inner product of embeddings itself, "gaussian" is
        exp(-squared / (2 second_scale^2)), and a function turns the matrix of squared distances into another.
    second_scale : "median" or float
        The length of the Gaussian one on top; "median" is sqrt(median squared distance / 2) over the pairs of bags in
        `other` where it is given, else in `bags`.

    Returns
    -------
    array of shape (n_bags, n_bags), or (n_bags, n_other)
        Symmetric without `other`.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from sklearn.svm import SVC
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(50, 2)) * spread for spread in np.repeat([1.0, 1.5], 20)]
    >>> labels = np.repeat([0, 1], 20)
    >>> train, test = bags[::2], bags[1::2]
    >>> model = SVC(kernel="precomputed", C=100).fit(un.embedding_kernel(train, second="gaussian"), labels[::2])
    >>> model.score(un.embedding_kernel(test, train, second="gaussian"), labels[1::2]) > 0.8
    True
    """
    _check_second(second, second_scale)
    source, other_source = bag_sources(bags, other)
    rows, other_rows = _read(source), None if other_source is None else _read(other_source)
    rowwise, lengths = _first_level(kernel, scale, kernel_params, rows if other_rows is None else other_rows)
    left = _Strips(rows, lengths)
    right = None if other_rows is None else _Strips(other_rows, lengths)
    if second is None:
        return _mean_kernel(rowwise, left, right)
    return _second_level(partial(_squared_mmd, rowwise), left, right, second, second_scale)


def fourier_kernel(
    bags: Any,
    other: Any = None,
    frequencies: Any = None,
    *,
    second: Second = None,
    second_scale: float | Literal["median"] = "median",
    precision: Precision = "fast",
) -> Floats:
    """Return the kernel matrix of the Fourier features of bags: mean Re(phi_P conj phi_Q) over the frequencies.

    With many frequencies it is :func:`embedding_kernel` for the kernel that they stand for.

    Parameters
    ----------
    bags : Bags, list of arrays or frames, or 3-D array
        The bags.
    other : Bags, list of arrays or frames, or 3-D array, optional
        Other bags, with the same columns; by default each bag is paired with every bag of `bags`.
    frequencies : array of shape (m, d)
        One frequency a row, its columns in the order of those of `bags`.
    second, second_scale
        A kernel on top and its length, as for :func:`embedding_kernel`.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

    Returns
    -------
    array of shape (n_bags, n_bags), or (n_bags, n_other)
        Symmetric without `other`.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> bags = np.random.default_rng(0).normal(size=(4, 100, 2))
    >>> W = un.sample_frequencies(20_000, 2, scale=1.0, random_state=0)
    >>> np.allclose(un.fourier_kernel(bags, frequencies=W), un.embedding_kernel(bags, scale=1.0), atol=0.01)
    True
    """
    _check_second(second, second_scale)
    left, right = of_bags(bags, other, frequencies, precision)
    features = None if right is None else fourier_features(right.phi)
    return _of_features(fourier_features(left.phi), features, second, second_scale)


def phase_kernel(
    bags: Any,
    other: Any = None,
    frequencies: Any = None,
    *,
    second: Second = None,
    second_scale: float | Literal["median"] = "median",
    precision: Precision = "fast",
) -> Floats:
    """Return the kernel matrix of the phase features of bags: bags that differ by symmetric noise look the same.

    A warning says when the phase of the bags is not reliable at more than a tenth of the frequencies.

    Parameters
    ----------
    bags : Bags, list of arrays or frames, or 3-D array
        The bags.
    other : Bags, list of arrays or frames, or 3-D array, optional
        Other bags, with the same columns; by default each bag is paired with every bag of `bags`.
    frequencies : array of shape (m, d)
        One frequency a row, its columns in the order of those of `bags`.
    second, second_scale
        A kernel on top and its length, as for :func:`embedding_kernel`.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

    Returns
    -------
    array of shape (n_bags, n_bags), or (n_bags, n_other)
        Symmetric without `other`, and then 1 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.exponential(size=(2, 20_000))
    >>> bags = [X, Y + rng.normal(size=Y.shape)]
    >>> W = un.sample_frequencies(100, 1, scale=2.0, random_state=0)
    >>> un.phase_kernel(bags, frequencies=W).round(2)
    array([[1., 1.],
           [1., 1.]])
    >>> un.fourier_kernel(bags, frequencies=W).round(2)
    array([[0.85, 0.77],
           [0.77, 0.72]])
    """
    _check_second(second, second_scale)
    left, right = of_bags(bags, other, frequencies, precision)
    warn_where_unreliable(left, "bags")
    features = None
    if right is not None:
        warn_where_unreliable(right, "other")
        features = fourier_features(unit(right.phi))
    return _of_features(fourier_features(unit(left.phi)), features, second, second_scale)


def _of_features(left: Floats, right: Floats | None, second: Second, second_scale: float | str) -> Floats:
    if second is None:
        return matrix_of_pairs(lambda rows, others: rows @ others.T, left, right)
    return _second_level(squared_distances, left, right, second, second_scale)


def _check_second(second: Any, second_scale: Any) -> None:
    if second is not None and not callable(second) and not (isinstance(second, str) and second == "gaussian"):
        raise ValueError(f'second must be None, "gaussian" or a function of squared distances; got {second!r}')
    if isinstance(second_scale, str) and second_scale == "median":
        return
    if not isinstance(second_scale, numbers.Real) or not 0 < float(second_scale) < np.inf:
        raise ValueError(f'second_scale must be "median" or a positive length; got {second_scale!r}')
    if second != "gaussian":
        raise ValueError(f'second_scale is the length of second="gaussian"; got it with second={second!r}')


def _second_level(
    squared: Callable[[Embeddings, Embeddings | None], Floats],
    left: Embeddings,
    right: Embeddings | None,
    second: Second,
    second_scale: float | str,
) -> Floats:
    """Return a kernel of the squared distances between embeddings."""
    apart = squared(left, right)
    if callable(second):
        return _finite(_shaped(second(apart), apart.shape, "second"), "second")
    if isinstance(second_scale, str):
        length = _median_length(apart if right is None else squared(right, None))
    else:
        length = float(second_scale)
    with np.errstate(over="ignore", under="ignore"):
        # A tiny length has no square in float64, but a distance of 0 must still give 1.
        return np.exp(-((np.sqrt(apart) / length) ** 2) / 2)


def _median_length(squared: Floats) -> float:
    """Return sqrt(median / 2) of the squared distances of two bags, of those that are not 0 where most are."""
    pairs = squareform(squared, checks=False)
    if not (pairs > 0).any():
        raise ValueError('second_scale="median" needs at least 2 bags that differ; give a length instead')
    median = np.median(pairs)
    return float(np.sqrt((median if median > 0 else np.median(pairs[pairs > 0])) / 2))


def _shaped(matrix: Any, shape: tuple[int, ...], name: str) -> Floats:
    """Return what a function made as float64, or raise where it is not a matrix of this shape."""
    found = as_real_array(matrix, f"the result of {name}")
    if found.shape != shape:
        raise ValueError(f"{name} must return a matrix of shape {shape}; got shape {found.shape}")
    return found.astype(np.float64, copy=False)


def _finite(matrix: Floats, name: str) -> Floats:
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must return finite numbers; got NaN or infinite ones")
    return matrix


def _first_level(
    kernel: Any, scale: Any, kernel_params: Mapping[str, Any] | None, reference: _Rows
) -> tuple[Kernel, Floats]:
    """Return a kernel of rows, and the lengths that its rows are divided by beforehand."""
    params = {} if kernel_params is None else dict(kernel_params)
    no_lengths = np.ones(reference.values.shape[1])
    if isinstance(kernel, str) and kernel in _OWN:
        if params:
            raise ValueError(f"kernel_params must be left out for kernel={kernel!r}; its length is scale")
        return _OWN[kernel], _lengths(scale, reference)
    if not isinstance(scale, str) or scale != "median":
        raise ValueError(f'scale is the length of "rbf" and "laplacian"; kernel={kernel!r} takes kernel_params')
    if callable(kernel):
        return partial(kernel, **params), no_lengths
    return _scikit_learn_kernel(kernel, params), no_lengths


def _scikit_learn_kernel(name: Any, params: dict[str, Any]) -> Kernel:
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # it takes longer to import than all of this library

    if not isinstance(name, str) or name not in PAIRWISE_KERNEL_FUNCTIONS:
        names = ", ".join(sorted(PAIRWISE_KERNEL_FUNCTIONS))
        raise ValueError(f"kernel must be a function or one of {names}; got {name!r}")
    function = PAIRWISE_KERNEL_FUNCTIONS[name]
    try:
        inspect.signature(function).bind(None, None, **params)
    except TypeError as error:
        raise ValueError(f"kernel_params do not fit kernel={name!r}: {error}") from None
    return partial(function, **params)


def _lengths(scale: Any, reference: _Rows) -> Floats:
    n_columns = reference.values.shape[1]
    if isinstance(scale, str) and scale == "median":
        if (reference.values == reference.values[0]).all():
            raise ValueError(f'scale="median" needs rows of {reference.name} that differ; give a length instead')
        return np.full(n_columns, median_scale(reference.values))
    lengths = as_real_array(scale, "scale").astype(np.float64)
    if lengths.shape not in {(), (n_columns,)} or not ((lengths > 0) & np.isfinite(lengths)).all():
        raise ValueError(f'scale must be "median", a positive length, or one for each column; got {scale!r}')
    return np.broadcast_to(lengths, n_columns)


def _gaussian(left: Floats, right: Floats) -> Floats:
    """Return exp(-norm(x - y)^2 / 2) for all pairs of rows."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        centre = left.mean(axis=0)
        exponent = _by_product(left - centre, right - centre)
        if exponent is None:
            exponent = cdist(left, right, "sqeuclidean")
            exponent *= -0.5
        return np.exp(exponent, out=exponent)


def _by_product(left: Floats, right: Floats) -> Floats | None:
    """Return -norm(x - y)^2 / 2 as one product of matrices, or None where its rounding would show."""
    squares, other_squares = (np.einsum("ij,ij->i", one, one) for one in (left, right))
    if not max(squares.max(), other_squares.max()) < _LARGEST_SQUARE:
        return None
    augmented = np.column_stack([left, squares, np.ones_like(squares)])
    other_augmented = np.column_stack([right, np.full_like(other_squares, -0.5), -0.5 * other_squares])
    return np.asarray(augmented @ other_augmented.T)


def _laplacian(left: Floats, right: Floats) -> Floats:
    """Return exp(-sum abs(x - y)) for all pairs of rows."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-cdist(left, right, "cityblock")))


_OWN: dict[str, Kernel] = {"rbf": _gaussian, "laplacian": _laplacian}


class _Rows(NamedTuple):
    """The rows of bags, one bag after the other, with the share of each in the mean of its bag."""

    name: str
    values: Floats
    bags: NDArray[np.int64]
    shares: Floats


def _read(source: RowSource) -> _Rows:
    """Read the rows of bags, which may lie anywhere in the source, into memory."""
    blocks = list(source.blocks(_READ_ROWS))
    bags = np.concatenate([np.asarray(block.bags) for block in blocks])
    weights = np.concatenate([np.ones(len(one.values)) if one.weights is None else one.weights for one in blocks])
    totals = np.bincount(bags, weights=weights)
    if (totals == 0).any():
        bag = np.asarray(source.bag_ids)[int(np.argmin(totals))]
        raise ValueError(f"weights of {source.name} must not all be 0 in a bag; they are in bag {shown(bag)}")
    order = np.argsort(bags, kind="stable")
    values = np.concatenate([block.values for block in blocks])
    return _Rows(source.name, values[order], bags[order], (weights / totals[bags])[order])


class _Strip(NamedTuple):
    """Some adjacent rows, and the matrix that sums them by bag with their shares."""

    values: Floats
    first_bag: int
    by_bag: csr_array

    @property
    def place(self) -> slice:
        return slice(self.first_bag, self.first_bag + self.by_bag.shape[0])


class _Strips:
    """The rows of bags in strips, each small enough that the kernel of two of them stays in cache."""

    def __init__(self, rows: _Rows, lengths: Floats) -> None:
        self.n_bags = int(rows.bags[-1]) + 1
        self.strips = [
            _strip(rows.values[part] / lengths, rows.bags[part], rows.shares[part])
            for part in (slice(start, start + _STRIP_ROWS) for start in range(0, len(rows.values), _STRIP_ROWS))
        ]


def _strip(values: Floats, bags: NDArray[np.int64], shares: Floats) -> _Strip:
    first, last = int(bags[0]), int(bags[-1])
    bounds = np.searchsorted(bags, np.arange(first, last + 2))
    by_bag = csr_array((shares, np.arange(len(bags)), bounds), shape=(last + 1 - first, len(bags)))
    return _Strip(values, first, by_bag)


Pair = tuple[_Strip, _Strip]


def _means_of_pairs(rowwise: Kernel, pairs: Iterable[Pair]) -> Iterator[tuple[_Strip, _Strip, Floats]]:
    """Yield each pair of strips with the part of the mean kernel of their bags that it holds."""

    def part(pair: Pair) -> tuple[_Strip, _Strip, Floats]:
        left, right = pair
        shape = (len(left.values), len(right.values))
        matrix = _shaped(rowwise(left.values, right.values), shape, "kernel")
        return left, right, _finite((right.by_bag @ (left.by_bag @ matrix).T).T, "kernel")

    with single_threaded_blas:
        yield from ordered_map(part, pairs)


def _mean_kernel(rowwise: Kernel, left: _Strips, right: _Strips | None) -> Floats:
    """Return the mean of a kernel of rows for each pair of bags."""
    if right is not None:
        means = np.zeros((left.n_bags, right.n_bags))
        for one, two, part in _means_of_pairs(rowwise, itertools.product(left.strips, right.strips)):
            means[one.place, two.place] += part
        return means
    half = np.zeros((left.n_bags, left.n_bags))
    pairs = itertools.combinations_with_replacement(left.strips, 2)
    for one, two, part in _means_of_pairs(rowwise, pairs):
        half[one.place, two.place] += part / 2 if one is two else part
    return half + half.T


def _squared_mmd(rowwise: Kernel, left: _Strips, right: _Strips | None) -> Floats:
    """Return the squared distance of the embeddings of each pair of bags, 0 where it is within rounding."""
    means = _mean_kernel(rowwise, left, right)
    norms = np.diag(means) if right is None else _squared_norms(rowwise, left)
    other_norms = norms if right is None else _squared_norms(rowwise, right)
    sums = norms[:, None] + other_norms
    squared = sums - 2 * means
    return np.where(squared > _ROUNDING * sums, squared, 0.0)


def _squared_norms(rowwise: Kernel, strips: _Strips) -> Floats:
    """Return the mean of a kernel of rows within each bag."""
    norms = np.zeros(strips.n_bags)
    for one, two, part in _means_of_pairs(rowwise, _pairs_with_a_common_bag(strips)):
        within = np.diagonal(part, one.first_bag - two.first_bag)
        norms[two.first_bag : two.first_bag + len(within)] += within if one is two else 2 * within
    return norms


def _pairs_with_a_common_bag(strips: _Strips) -> Iterator[Pair]:
    for number, one in enumerate(strips.strips):
        for two in strips.strips[number:]:
            if two.first_bag >= one.place.stop:
                break
            yield one, two
