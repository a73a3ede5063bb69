"""The paper's section 4: equal up to symmetric noise means that X - Y is symmetric.

Rows are paired at random. W = X - Y on one half of the pairs and Z = Y - X on the other are independent samples, of the
same distribution where X and Y are equal up to symmetric noise, whatever the two noises. So any two-sample test of W
against Z is a test of that, valid at every noise size.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise.twosample.canonical import canonical
from uptonoise.twosample.docs import explained
from uptonoise.twosample.paper.mean_embedding import me_test
from uptonoise.twosample.result import TwoSampleResult
from uptonoise.twosample.samples import read_samples


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PairedDifferenceResult(TwoSampleResult):
    """The outcome of :func:`paired_difference_test`.

    Attributes
    ----------
    n_pairs : int
        How many pairs of rows were used; half of them gave X - Y, the other half Y - X.
    inner : object
        What the test of the differences returned.
    """

    test: ClassVar[str] = "Paired-difference test"

    n_pairs: int
    inner: Any

    def _more(self) -> list[str]:
        inner = repr(self.inner).splitlines()
        return [f"{self.n_pairs:,} pairs; the test of X - Y on one half against Y - X on the other:", *inner]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SmeResult(PairedDifferenceResult):
    """The outcome of :func:`sme_test`; `inner` is the ME test of the differences, with its locations."""

    test: ClassVar[str] = "SME test"


@explained
@described()
def paired_difference_test(
    X: Any,
    Y: Any,
    *,
    test: Callable[..., Any] = me_test,
    clusters: Any = None,
    random_state: RandomState = 0,
    **options: Any,
) -> PairedDifferenceResult:
    """Test whether two samples differ up to symmetric noise, by any two-sample test of their paired differences.

    Null hypothesis: X - Y is symmetric, so any symmetric noise is allowed, of any size in X and in Y. Half of the rows'
    information is lost by the pairing.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples; they are read into memory. Of the larger one only as many rows as the other has are used, and
        an odd number of pairs drops one.
    test : callable
        ``test(W, Z, **options)`` returns something with a `pvalue` and a `statistic`, or the tuple (statistic,
        p-value), as scipy's tests do. One column comes as a 1-D array. Where it takes a `random_state` it is given one.
    clusters : pair of arrays, or str, optional
        Which rows belong together, as for :func:`phase_test`; one random row of each is used.
    random_state : None, int, Generator or RandomState
        The seed of the pairing and of the test.
    **options
        Further arguments of `test`.

    Returns
    -------
    PairedDifferenceResult

    {examples}
    >>> from scipy.stats import ks_2samp
    >>> X = rng.exponential(size=2_000)
    >>> noisy = rng.exponential(size=2_000) + rng.normal(size=2_000)
    >>> un.paired_difference_test(X, noisy, test=ks_2samp, random_state=0).pvalue > 0.05
    True
    """
    return PairedDifferenceResult(**_fields(X, Y, test, clusters, random_state, options))


@explained
def sme_test(X: Any, Y: Any, *, clusters: Any = None, random_state: RandomState = 0, **options: Any) -> SmeResult:
    """Test whether two samples differ up to symmetric noise: the paper's SME test, ME on paired differences.

    Null hypothesis: X - Y is symmetric, so any symmetric noise is allowed, of any size in X and in Y.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples, as for :func:`paired_difference_test`.
    clusters : pair of arrays, or str, optional
        Which rows belong together, as for :func:`phase_test`; one random row of each is used.
    random_state : None, int, Generator or RandomState
        The seed.
    **options
        Further arguments of :func:`me_test`.

    Returns
    -------
    SmeResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(2_000, 2))
    >>> noisy, other = rng.exponential(size=(2_000, 2)) + rng.normal(size=(2_000, 2)), 2 - X[::-1]
    >>> un.sme_test(X, noisy, random_state=0).pvalue > 0.05, un.sme_test(X, other, random_state=0).pvalue < 0.01
    (True, True)
    """
    return SmeResult(**_fields(X, Y, me_test, clusters, random_state, options))


def _fields(
    X: Any, Y: Any, test: Callable[..., Any], clusters: Any, random_state: RandomState, options: dict[str, Any]
) -> dict[str, Any]:
    if not callable(test):
        raise ValueError(f"test must be a two-sample test, something to call; got {test!r}")
    samples = read_samples(X, Y, needed=4, why="two differences in each half", clusters=clusters)
    generator, seed = seeded_generator(random_state)
    own = canonical(samples)
    half = min(own.samples.n_units) // 2
    left, right = (rows[: 2 * half] for rows in own.samples.one_row_each(generator))
    differences = own.samples.X[left] - own.samples.Y[right]
    if differences.shape[1] == 1:
        differences = differences[:, 0]
    module = getattr(test, "__module__", "")
    if own.is_swapped and not module.startswith("uptonoise."):
        differences = -differences  # X - Y, as others may want it; ours see no difference in the sign
    # Some of scipy's have the argument for resampling that is off by default, and warn that it is going.
    if not module.startswith("scipy.") and _takes_random_state(test):
        options = {"random_state": generator} | options
    inner = _tested(test, differences[:half], -differences[half:], options)
    try:
        statistic, pvalue = (inner.statistic, inner.pvalue) if hasattr(inner, "pvalue") else inner
        statistic, pvalue = float(statistic), float(pvalue)
    except (TypeError, ValueError, AttributeError):
        raise ValueError(
            f"test must return something with a statistic and a pvalue, or these two; got a {type(inner).__name__}"
        ) from None
    return {
        "statistic": statistic,
        "pvalue": pvalue,
        "sizes": samples.sizes,
        "columns": samples.columns,
        "null": getattr(inner, "null", "that of the test used"),
        "seed": seed,
        "n_clusters": samples.n_clusters,
        "n_pairs": 2 * half,
        "inner": inner,
    }


def _takes_random_state(test: Callable[..., Any]) -> bool:
    try:
        return "random_state" in inspect.signature(test).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing about themselves
        return False


def _tested(test: Callable[..., Any], forward: Floats, backward: Floats, options: dict[str, Any]) -> Any:
    try:
        return test(forward, backward, **options)
    except TypeError as error:
        if isinstance(test, FunctionType):
            raise
        # What is built in, or a class, says in words of its own that it is no test.
        raise ValueError(f"test must be a two-sample test, a function of two arrays; got {test!r}") from error
