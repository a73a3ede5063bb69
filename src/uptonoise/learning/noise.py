"""Noise on bags: the corruption of the paper's section 5.2, and the error of a fitted model against it.

Bag b gets independent noise in its rows, of variance z_bi in column i, with

    z_bi ~ U[0, level v_i],  v_i the variance of column i over all rows of all bags,

so that some bags are noisier than others, and no column's units matter. A seed fixes the noise up to its size: at level
l it is sqrt(l) times the noise at level 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uptonoise._util.progress import Progress
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.datasets import NOISE_KINDS, symmetric_noise
from uptonoise.rows import as_real_array

KINDS = (*NOISE_KINDS, "uniform")
"""The kinds of noise that bags can be given; all but the uniform one have a positive characteristic function."""

_RMSE = "RMSE"
_ERROR_RATE = "error rate"
_BASELINES = {_RMSE: "predicting the mean", _ERROR_RATE: "predicting the most common class"}
_QUANTILES = (0.05, 0.95)


def add_noise(
    bags: Any,
    level: float,
    kind: str = "gaussian",
    *,
    variances: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bags:
    """Add noise to bags, of a variance that is drawn for each bag and column.

    Parameters
    ----------
    bags : Bags, list of arrays, or 3-D array
        The bags.
    level : float
        The largest variance of the noise, in units of each column's own; the variances are uniform between 0 and that.
        0 adds nothing.
    kind : {"gaussian", "laplace", "cauchy", "t", "mixture", "uniform"}
        As for :func:`~uptonoise.datasets.symmetric_noise`: "t" has 3 degrees of freedom, "mixture" has a fifth of its
        rows with four times the standard deviation of the others. "cauchy" has no variance: the median of its absolute
        values is that of Gaussian noise with the variance drawn. "uniform" is for comparison: its characteristic
        function changes sign, so that it does change phases.
    variances : array of shape (n_columns,), optional
        The columns' variances, such as ``train.values.var(axis=0)`` for bags to test on; by default those over all rows
        of `bags`. A column of variance 0, which is constant, gets no noise.
    random_state : None, int, Generator or RandomState
        The seed. The same seed gives the same noise at every level, but for its size.

    Returns
    -------
    Bags
        With the ids, labels and columns of `bags`.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.learning.noise import add_noise
    >>> bags = un.Bags(np.random.default_rng(0).normal(size=(5_000, 10, 1)))
    >>> noisy = add_noise(bags, level=2.0, random_state=0)
    >>> print(f"{(noisy.values - bags.values).var():.1f}")  # on average half of what it is at most
    1.0
    """
    given = _as_bags(bags)
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 <= level < np.inf:
        raise ValueError(f"level must be a finite number that is not negative; got {level!r}")
    noise = _noise_at_level_one(
        given, _checked_kind(kind), _checked_variances(given, variances), as_generator(random_state)
    )
    return _at_level(given, noise, float(level))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RobustnessCurve:
    """The error of a model at several levels of noise, as :func:`robustness_curve` returns it.

    Attributes
    ----------
    levels : array of shape (n_levels,)
        The levels of noise.
    errors : array of shape (n_levels, n_repeats)
        The error at each level in each repeat.
    baseline : float
        The error of predicting the mean target, or the most common class, of the bags given.
    metric : {"RMSE", "error rate"}
        What the errors are.
    kind : str
        The kind of noise.
    mean, low, high : array of shape (n_levels,)
        The mean of the errors at each level, and their 5 % and 95 % quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.learning.noise import RobustnessCurve
    >>> errors = np.array([[0.5, 0.5], [0.75, 1.0]])
    >>> RobustnessCurve(levels=np.array([0.0, 2.0]), errors=errors, baseline=1.5, metric="RMSE", kind="laplace")
    RMSE with laplace noise, 2 repeats (predicting the mean: 1.5)
       level      mean       5 %      95 %
           0       0.5       0.5       0.5
           2     0.875    0.7625    0.9875
    """

    levels: Floats
    errors: Floats
    baseline: float
    metric: str
    kind: str

    @property
    def mean(self) -> Floats:
        """The mean error at each level."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def low(self) -> Floats:
        """The 5 % quantile of the errors at each level."""
        return np.asarray(np.quantile(self.errors, _QUANTILES[0], axis=1))

    @property
    def high(self) -> Floats:
        """The 95 % quantile of the errors at each level."""
        return np.asarray(np.quantile(self.errors, _QUANTILES[1], axis=1))

    @property
    def baseline_name(self) -> str:
        """What has the baseline's error, in words."""
        return _BASELINES[self.metric]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and what comes from them as what JSON knows."""
        arrays = {name: getattr(self, name).tolist() for name in ("levels", "mean", "low", "high", "errors")}
        return {"metric": self.metric, "kind": self.kind, "baseline": self.baseline, **arrays}

    def to_frame(self, native: Any = None) -> Any:
        """Return one row a level, as a pandas frame or of the backend named.

        Parameters
        ----------
        native : str or module, optional
            What narwhals calls the backend: "pandas", "polars" or "pyarrow"; by default pandas.

        Returns
        -------
        DataFrame
        """
        import narwhals as nw

        data = {
            "level": self.levels,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "baseline": np.full(len(self.levels), self.baseline),
        }
        return nw.from_dict(data, backend=native or "pandas").to_native()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the curve and return the Axes; :func:`uptonoise.plots.plot_robustness` tells how."""
        from uptonoise.plots import plot

        return plot(self, ax=ax, **options)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, RobustnessCurve) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.metric, self.kind, self.baseline, self.levels.tobytes(), self.errors.tobytes()))

    def __repr__(self) -> str:
        repeats = counted(self.errors.shape[1], "repeat")
        lines = [
            f"{self.metric} with {self.kind} noise, {repeats} ({self.baseline_name}: {self.baseline:.4g})",
            f"{'level':>8}{'mean':>10}{'5 %':>10}{'95 %':>10}",
        ]
        for level, *errors in zip(self.levels, self.mean, self.low, self.high, strict=True):
            lines.append(f"{level:8.4g}" + "".join(f"{error:10.4g}" for error in errors))
        return "\n".join(lines)


def robustness_curve(
    model: Any,
    bags: Any,
    y: Any = None,
    levels: Sequence[float] | NDArray[Any] = (0, 0.5, 1, 2, 3, 5, 10),
    *,
    repeats: int = 20,
    kind: str = "gaussian",
    variances: ArrayLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> RobustnessCurve:
    """Return the error of a fitted model on bags with more and more noise.

    Parameters
    ----------
    model : regressor or classifier
        A fitted estimator of bags, also a Pipeline or a GridSearchCV.
    bags : Bags, list of arrays, or 3-D array
        The bags to test on; they should not be those that the model was fitted on.
    y : array of shape (n_bags,) or (n_bags, n_targets), optional
        The targets, or one class for each bag; by default the labels of the bags.
    levels : sequence of float
        The levels of noise, as for :func:`add_noise`.
    repeats : int
        How often noise is drawn.
    kind : {"gaussian", "laplace", "cauchy", "t", "mixture", "uniform"}
        The kind of noise, as for :func:`add_noise`.
    variances : array of shape (n_columns,), optional
        The columns' variances, as for :func:`add_noise`: those of the bags that the model was fitted on, if they differ
        from those of `bags`, which are the default.
    random_state : None, int, Generator or RandomState
        The seed. Each repeat has noise of one direction at all levels, and the same seed has it for all models.
    n_jobs : int, optional
        How many repeats run at a time, as joblib counts them; the errors do not depend on it.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    RobustnessCurve
        Regressors have the root mean squared error, averaged over targets; classifiers the share of wrong classes.

    Warns
    -----
    UserWarning
        Where a level is beyond the range that the model was fitted against.

    Examples
    --------
    >>> import uptonoise as un
    >>> from uptonoise.datasets import make_gamma_bags
    >>> from uptonoise.learning.noise import robustness_curve
    >>> bags, _ = make_gamma_bags(200, noise=0.0, random_state=0)  # which have labels
    >>> model = un.plrr(random_state=0).fit(bags[:100])
    >>> curve = robustness_curve(model, bags[100:], levels=[0, 0.5, 1], repeats=5)
    >>> curve.metric, curve.errors.shape
    ('RMSE', (3, 5))
    >>> bool(curve.mean[0] < curve.mean[1] < curve.mean[2])
    True
    """
    from joblib import Parallel, delayed

    metric = _metric_of(model)
    given = _as_bags(bags)
    targets = _checked_targets(given, y, metric)
    at = _checked_levels(levels)
    n_repeats = positive_int(repeats, "repeats")
    _warn_beyond(model, at)
    noisy = _Noisy(given, targets, at[at > 0], _checked_kind(kind), _checked_variances(given, variances))
    seeds = as_generator(random_state).integers(2**63, size=n_repeats).tolist()
    errors = np.empty((len(at), n_repeats))
    errors[at == 0] = _error(model, given, targets, metric)
    found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_errors)(model, noisy, metric, s) for s in seeds)
    bar = Progress("predicting from noisy bags", n_repeats, progress, units="repeats")
    errors[at > 0] = np.array(list(bar.over(found))).T
    return RobustnessCurve(
        levels=at, errors=errors, baseline=_baseline(targets, metric), metric=metric, kind=noisy.kind
    )


def _warn_beyond(model: Any, levels: Floats) -> None:
    """Warn where a model was fitted against noise of smaller levels than those asked for."""
    inner = getattr(model, "best_estimator_", model)
    inner = inner[-1] if hasattr(inner, "named_steps") else inner
    known = getattr(inner, "noise_range_", None)
    if known is not None and levels.max() > known[1]:
        warnings.warn(
            f"the model was fitted against noise levels from {known[0]:g} to {known[1]:g}; got levels up to "
            f"{levels.max():g}",
            UserWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class _Noisy:
    """Bags with their targets, and how noise is added to them."""

    bags: Bags
    targets: NDArray[Any]
    levels: Floats
    kind: str
    variances: Floats


def _errors(model: Any, noisy: _Noisy, metric: str, seed: int) -> list[float]:
    """Return the errors at all levels with the noise of one seed."""
    noise = _noise_at_level_one(noisy.bags, noisy.kind, noisy.variances, np.random.default_rng(seed))
    at_levels = (_at_level(noisy.bags, noise, level) for level in noisy.levels.tolist())
    return [_error(model, bags, noisy.targets, metric) for bags in at_levels]


def _error(model: Any, bags: Bags, targets: NDArray[Any], metric: str) -> float:
    with single_threaded_blas:  # the order of its sums must not depend on the number of jobs
        return _compared(targets, model.predict(bags), metric)


def _baseline(targets: NDArray[Any], metric: str) -> float:
    if metric == _RMSE:
        return _compared(targets, np.broadcast_to(targets.mean(axis=0), targets.shape), metric)
    classes, counts = np.unique(targets, return_counts=True)
    return _compared(targets, np.repeat(classes[[counts.argmax()]], len(targets)), metric)


def _compared(targets: NDArray[Any], predicted: Any, metric: str) -> float:
    from sklearn.metrics import root_mean_squared_error, zero_one_loss

    return float((root_mean_squared_error if metric == _RMSE else zero_one_loss)(targets, predicted))


def _noise_at_level_one(bags: Bags, kind: str, variances: Floats, generator: np.random.Generator) -> Floats:
    shares = generator.random((len(bags), bags.n_columns))
    if kind == "uniform":
        noise = generator.uniform(-np.sqrt(3), np.sqrt(3), size=bags.values.shape)
    else:
        noise = symmetric_noise(len(bags.values), bags.n_columns, 1.0, kind, generator)
    noise *= np.repeat(np.sqrt(shares * variances), bags.sizes, axis=0)
    return noise


def _at_level(bags: Bags, noise: Floats, level: float) -> Bags:
    with np.errstate(over="ignore"):
        values = (bags.values + np.sqrt(level) * noise).astype(bags.values.dtype, copy=False)
    if not np.isfinite(values).all():
        raise ValueError(f"level={level:g} makes noise too large for numbers of type {values.dtype}")
    return Bags.__new__(Bags)._set(values, bags.offsets, bags.ids, bags.labels, bags.columns, bags.named)


def _as_bags(bags: Any) -> Bags:
    return bags if isinstance(bags, Bags) else Bags(bags)


def _metric_of(model: Any) -> str:
    """Return what the errors of a model are, or raise where it cannot predict."""
    # scikit-learn takes longer to import than all of this library, and plots of other results import this module.
    from sklearn.base import is_classifier, is_regressor
    from sklearn.utils.validation import check_is_fitted

    is_estimator = hasattr(model, "fit") and hasattr(model, "__sklearn_tags__") and not isinstance(model, type)
    if not is_estimator or not (is_regressor(model) or is_classifier(model)):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise ValueError(f"model must be a fitted regressor or classifier of scikit-learn's kind; got {what}")
    check_is_fitted(model, msg="model must be fitted, and this %(name)s is not: call its fit with other bags first")
    return _RMSE if is_regressor(model) else _ERROR_RATE


def _checked_targets(bags: Bags, y: Any, metric: str) -> NDArray[Any]:
    if y is None:
        if bags.labels is None:
            raise ValueError("y must be given where the bags have no labels; got None")
        y = bags.labels
    targets = as_real_array(y, "y").astype(np.float64) if metric == _RMSE else np.asarray(y)
    what, dimensions = ("target", (1, 2)) if metric == _RMSE else ("class", (1,))
    if targets.ndim not in dimensions or len(targets) != len(bags):
        raise ValueError(f"y must have one {what} for each of {counted(len(bags), 'bag')}; got shape {targets.shape}")
    if metric == _RMSE and not np.isfinite(targets).all():
        place = int(np.argwhere(~np.isfinite(targets))[0][0])
        raise ValueError(f"y must be finite; got {targets[place]} for bag {place}. Leave such bags out")
    return targets


def _checked_levels(levels: Any) -> Floats:
    checked = np.atleast_1d(as_real_array(levels, "levels")).astype(np.float64)
    if checked.ndim != 1 or len(checked) == 0 or not (np.isfinite(checked).all() and (checked >= 0).all()):
        raise ValueError(f"levels must be one or more finite numbers that are not negative; got {levels!r}")
    return checked


def _checked_kind(kind: Any) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    return str(kind)


def _checked_variances(bags: Bags, variances: Any) -> Floats:
    """Return the variance of each column, that over all rows where none are given."""
    if variances is None:
        with np.errstate(over="ignore", invalid="ignore"):
            checked = bags.values.var(axis=0, dtype=np.float64)
        checked[bags.values.min(axis=0) == bags.values.max(axis=0)] = 0.0  # rounding gives constants a little
        if not np.isfinite(checked).all():
            raise ValueError("bags must have columns of finite variance; divide those with huge values by a constant")
        return np.asarray(checked)
    checked = as_real_array(variances, "variances").astype(np.float64)
    if checked.shape != (bags.n_columns,) or not (np.isfinite(checked).all() and (checked >= 0).all()):
        raise ValueError(
            f"variances must be a finite number, not negative, for each of {counted(bags.n_columns, 'column')}; "
            f"got {variances!r}"
        )
    return checked
