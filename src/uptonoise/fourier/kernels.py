"""Kernels between bags, for models that take a precomputed kernel.

    embedding_kernel   mean of k(x, y) over the rows x of one bag and y of the other    exact
    fourier_kernel     mean Re(phi_P conj phi_Q) over m frequencies                     the same, approximately
    phase_kernel       mean Re(rho_P conj rho_Q), rho = phi/abs(phi)                    does not see symmetric noise

Each is an inner product of embeddings mu_P and mu_Q, so it is positive semidefinite. A second kernel layer is a
function of the distance between the embeddings: exp(-norm(mu_P - mu_Q)^2 / (2 length^2)) is the Gaussian one.

Fit a model on ``kernel(train)`` and predict from ``kernel(test, train)``: medians are those of the last bags given, so
they are the same in both.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike

from uptonoise._util.typing import Floats, Precision
from uptonoise.fourier.discrepancy import bag_sources, features_of_bags, matrix_of_pairs, squared_distances
from uptonoise.fourier.docs import described
from uptonoise.fourier.kernel_means import (
    BagRowsWithShares,
    Kernel,
    Strips,
    as_matrix,
    mean_kernel,
    row_kernel,
    squared_embedding_distances,
)

Second = Literal["gaussian"] | Callable[[Floats], Floats] | None

Embeddings = TypeVar("Embeddings")


@described
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
    {bags}
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
        A second kernel layer. None is the inner product of the embeddings, "gaussian" is
        exp(-squared / (2 second_scale^2)), and a function turns the matrix of squared distances into a kernel matrix.
    second_scale : "median" or float
        The length of the second layer; "median" is sqrt(median squared distance / 2) over the pairs of bags in
        `other` where it is given, else in `bags`.

    Returns
    -------
    array of shape (n_bags, n_bags), or (n_bags, n_other)
        Symmetric without `other`.

    {examples}
    >>> from sklearn.svm import SVC
    >>> bags = [rng.normal(size=(50, 2)) * spread for spread in np.repeat([1.0, 1.5], 20)]
    >>> labels = np.repeat([0, 1], 20)
    >>> train, test = bags[::2], bags[1::2]
    >>> model = SVC(kernel="precomputed", C=100).fit(un.embedding_kernel(train, second="gaussian"), labels[::2])
    >>> model.score(un.embedding_kernel(test, train, second="gaussian"), labels[1::2]) > 0.8
    True
    """
    _check_second(second, second_scale)
    sources = [source for source in bag_sources(bags, other) if source is not None]
    rows = [BagRowsWithShares(source) for source in sources]
    rowwise, lengths = row_kernel(kernel, scale, kernel_params, rows[-1])
    left, right = Strips(rows[0], lengths), Strips(rows[1], lengths) if len(rows) == 2 else None
    if second is None:
        return mean_kernel(rowwise, left, right)
    return _second_layer(partial(squared_embedding_distances, rowwise), left, right, second, second_scale)


@described
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

    {of_features_of_bags}

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
    features = features_of_bags(bags, other, frequencies, precision, phases=False)
    return _kernel_of_features(*features, second, second_scale)


@described
def phase_kernel(
    bags: Any,
    other: Any = None,
    frequencies: Any = None,
    *,
    second: Second = None,
    second_scale: float | Literal["median"] = "median",
    precision: Precision = "fast",
) -> Floats:
    """Return the kernel matrix of the phase features of bags: bags that differ by Gaussian noise look alike.

    It warns when the phase of the bags is not reliable at more than a tenth of the frequencies.

    {of_features_of_bags}

    {examples}
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
    features = features_of_bags(bags, other, frequencies, precision, phases=True)
    return _kernel_of_features(*features, second, second_scale)


def _kernel_of_features(left: Floats, right: Floats | None, second: Second, second_scale: float | str) -> Floats:
    if second is None:
        return matrix_of_pairs(lambda rows, others: rows @ others.T, left, right)
    return _second_layer(squared_distances, left, right, second, second_scale)


def _check_second(second: Any, second_scale: Any) -> None:
    is_function = callable(second) and not isinstance(second, type)
    if second is not None and not is_function and not (isinstance(second, str) and second == "gaussian"):
        raise ValueError(f'second must be None, "gaussian" or a function of squared distances; got {second!r}')
    if isinstance(second_scale, str) and second_scale == "median":
        return
    if not isinstance(second_scale, numbers.Real) or not 0 < float(second_scale) < np.inf:
        raise ValueError(f'second_scale must be "median" or a positive length; got {second_scale!r}')
    if second != "gaussian":
        raise ValueError(f'second_scale is the length of second="gaussian"; got it with second={second!r}')


def _second_layer(
    squared: Callable[[Embeddings, Embeddings | None], Floats],
    left: Embeddings,
    right: Embeddings | None,
    second: Second,
    second_scale: float | str,
) -> Floats:
    """Return a kernel of the squared distances between embeddings."""
    apart = squared(left, right)
    if callable(second):
        return as_matrix(second(apart), apart.shape, "second")
    if isinstance(second_scale, str):
        # Of the pairs that are not at 0 where most are.
        pairs = scipy.spatial.distance.squareform(apart if right is None else squared(right, None), checks=False)
        if not (pairs > 0).any():
            raise ValueError('second_scale="median" needs at least 2 bags that differ; give a length instead')
        median = np.median(pairs)
        length = float(np.sqrt((median if median > 0 else np.median(pairs[pairs > 0])) / 2))
    else:
        length = float(second_scale)
    with np.errstate(over="ignore", under="ignore"):
        # A tiny length has no square in float64, but a distance of 0 must still give 1.
        return np.exp(-((np.sqrt(apart) / length) ** 2) / 2)
