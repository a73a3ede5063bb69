"""The error of a fitted model against noise that its bags did not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import root_mean_squared_error, zero_one_loss
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.docs import described
from uptonoise._util.progress import Progress
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.results import Result
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_jobs, positive_int
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.learning.inputs import as_bags
from uptonoise.learning.noise import KINDS, checked_variances, noise_of_size_one, with_noise_of_size
from uptonoise.learning.search import checked_numbers
from uptonoise.learning.targets import checked_classes, checked_targets, given_targets

_RMSE = "RMSE"
_ERROR_RATE = "error rate"
_BASELINES = {_RMSE: "predicting the mean", _ERROR_RATE: "predicting the most common class"}
_QUANTILES = (0.05, 0.95)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RobustnessCurve(Result):
    """The error of a model at several noise sizes, as :func:`robustness_curve` returns it.

    Attributes
    ----------
    levels : array of shape (n_levels,)
        The noise sizes.
    errors : array of shape (n_levels, n_repeats)
        The error at each noise size in each repeat.
    baseline : float
        The error of predicting the mean target, or the most common class, of the bags given.
    metric : {"RMSE", "error rate"}
        What the errors are.
    kind : str
        The kind of noise.
    mean, low, high : array of shape (n_levels,)
        The mean of the errors at each noise size, and their 5 % and 95 % quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise import RobustnessCurve
    >>> errors = np.array([[0.5, 0.5], [0.75, 1.0]])
    >>> RobustnessCurve(levels=np.array([0.0, 2.0]), errors=errors, baseline=1.5, metric="RMSE", kind="laplace")
    RMSE with laplace noise, 2 repeats (predicting the mean: 1.5)
       level      mean       5 %      95 %
           0       0.5       0.5       0.5
           2     0.875    0.7625    0.9875
    """

    derived = ("mean", "low", "high")

    levels: Floats
    errors: Floats
    baseline: float
    metric: str
    kind: str

    @property
    def mean(self) -> Floats:
        """The mean error at each noise size."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def low(self) -> Floats:
        """The 5 % quantile of the errors at each noise size."""
        return np.asarray(np.quantile(self.errors, _QUANTILES[0], axis=1))

    @property
    def high(self) -> Floats:
        """The 95 % quantile of the errors at each noise size."""
        return np.asarray(np.quantile(self.errors, _QUANTILES[1], axis=1))

    @property
    def baseline_name(self) -> str:
        """What has the baseline's error, in words."""
        return _BASELINES[self.metric]

    def table(self) -> dict[str, Any]:
        """Return the columns of the table: one row per noise size."""
        return {
            "level": self.levels,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "baseline": np.full(len(self.levels), self.baseline),
        }

    def __repr__(self) -> str:
        repeats = counted(self.errors.shape[1], "repeat")
        lines = [
            f"{self.metric} with {self.kind} noise, {repeats} ({self.baseline_name}: {self.baseline:.4g})",
            f"{'level':>8}{'mean':>10}{'5 %':>10}{'95 %':>10}",
        ]
        for level, *errors in zip(self.levels, self.mean, self.low, self.high, strict=True):
            lines.append(f"{level:8.4g}" + "".join(f"{error:10.4g}" for error in errors))
        return "\n".join(lines)


_PARAMETERS = """
model : regressor or classifier
    A fitted estimator of bags, also a Pipeline or a GridSearchCV.
bags : Bags, list of arrays, or 3-D array
    The bags to test on; they should not be those that the model was fitted on.
y : array of shape (n_bags,) or (n_bags, n_targets), optional
    The targets, or one class for each bag; by default the labels of the bags.
levels : sequence of float
    The noise sizes, as for :func:`add_noise`.
n_repeats : int
    How often noise is sampled.
kind : {"gaussian", "laplace", "cauchy", "t", "mixture", "uniform"}
    The kind of noise, as for :func:`add_noise`.
variances : array of shape (n_columns,), optional
    The columns' variances, as for :func:`add_noise`: those of the bags that the model was fitted on, if they differ
    from those of `bags`, which are the default.
random_state : None, int, Generator or RandomState
    The seed. Within a repeat, noise of all sizes is the same but for its size. The seed is fixed by default, so
    that curves of different models have the same noise.
n_jobs : int, optional
    How many repeats run at a time, as joblib counts them; the errors do not depend on it.
progress : bool, optional
    Whether to show a progress bar; by default on a terminal.
repeats : int, optional
    The former name of `n_repeats`; deprecated.
"""


@described(parameters=_PARAMETERS)
def robustness_curve(
    model: Any,
    bags: Any,
    y: Any = None,
    levels: Sequence[float] | NDArray[Any] = (0, 0.5, 1, 2, 3, 5, 10),
    *,
    n_repeats: int = 20,
    kind: str = "gaussian",
    variances: ArrayLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    repeats: int | None = None,
) -> RobustnessCurve:
    """Return the error of a fitted model on bags with noise of increasing size.

    Parameters
    ----------
    {parameters}

    Returns
    -------
    RobustnessCurve
        Regressors have the root mean squared error, averaged over targets; classifiers the share of wrong classes.

    Warns
    -----
    UserWarning
        Where a noise size is beyond the range that the model was fitted against.

    Examples
    --------
    >>> import uptonoise as un
    >>> from uptonoise.datasets import make_gamma_bags
    >>> bags, _ = make_gamma_bags(200, noise=0.0, random_state=0)  # which have labels
    >>> model = un.plrr(random_state=0).fit(bags[:100])
    >>> curve = un.robustness_curve(model, bags[100:], levels=[0, 0.5, 1], n_repeats=5)
    >>> curve.metric, curve.errors.shape
    ('RMSE', (3, 5))
    >>> bool(curve.mean[0] < curve.mean[1] < curve.mean[2])
    True
    """
    if repeats is not None:
        warn("repeats is now called n_repeats", DeprecationWarning)
        n_repeats = repeats
    metric, given = _metric_of(model), as_bags(bags)
    targets, baseline = _with_baseline(given_targets(y, given), len(given), metric)
    sizes = checked_numbers("levels", levels)
    checked_choice(kind, KINDS, "kind")
    seeds = as_generator(random_state).integers(2**63, size=positive_int(n_repeats, "n_repeats")).tolist()
    _warn_beyond(model, sizes)
    noise = given, sizes[sizes > 0].tolist(), kind, checked_variances(given, variances)
    jobs = (delayed(_errors)(model, targets, metric, *noise, seed) for seed in seeds)
    of_repeats = Parallel(n_jobs=checked_jobs(n_jobs), return_as="generator")(jobs)
    bar = Progress("predicting from noisy bags", n_repeats, progress, units="repeats")
    errors = np.empty((len(sizes), n_repeats))
    errors[sizes == 0] = _error(model, given, targets, metric)
    errors[sizes > 0] = np.array(list(bar.over(of_repeats))).T
    return RobustnessCurve(levels=sizes, errors=errors, baseline=baseline, metric=metric, kind=kind)


def _with_baseline(y: Any, n_bags: int, metric: str) -> tuple[NDArray[Any], float]:
    """Return the targets, checked, and the error of guessing the same for all bags."""
    if metric == _RMSE:
        targets: NDArray[Any] = checked_targets(y, n_bags, vary=False)
        return targets, _compared(targets, np.broadcast_to(targets.mean(axis=0), targets.shape), metric)
    targets = checked_classes(y, n_bags)
    classes, counts = np.unique(targets, return_counts=True)
    return targets, _compared(targets, np.repeat(classes[[counts.argmax()]], n_bags), metric)


def _warn_beyond(model: Any, sizes: Floats) -> None:
    """Warn where a model was fitted against smaller noise sizes than those asked for."""
    inner = getattr(model, "best_estimator_", model)
    inner = inner[-1] if hasattr(inner, "named_steps") else inner
    known = getattr(inner, "noise_range_", None)
    if known is not None and sizes.max() > known[1]:
        warn(
            f"the model was fitted against noise sizes from {known[0]:g} to {known[1]:g}; got `levels` up to "
            f"{sizes.max():g}",
            UserWarning,
        )


def _errors(
    model: Any,
    targets: NDArray[Any],
    metric: str,
    bags: Bags,
    sizes: list[float],
    kind: str,
    variances: Floats,
    seed: int,
) -> list[float]:
    """Return the errors at all noise sizes with the noise of one seed."""
    noise = noise_of_size_one(bags, kind, variances, np.random.default_rng(seed))
    return [_error(model, with_noise_of_size(bags, noise, size), targets, metric) for size in sizes]


def _error(model: Any, bags: Bags, targets: NDArray[Any], metric: str) -> float:
    with single_threaded_blas():  # the order of its sums must not depend on the number of jobs
        return _compared(targets, model.predict(bags), metric)


def _compared(targets: NDArray[Any], predicted: Any, metric: str) -> float:
    return float((root_mean_squared_error if metric == _RMSE else zero_one_loss)(targets, predicted))


def _metric_of(model: Any) -> str:
    """Return how the errors of a model are measured, or raise where it cannot predict."""
    is_estimator = hasattr(model, "fit") and hasattr(model, "__sklearn_tags__") and not isinstance(model, type)
    if not is_estimator or not (is_regressor(model) or is_classifier(model)):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise ValueError(f"model must be a fitted regressor or classifier of scikit-learn's kind; got {what}")
    check_is_fitted(model, msg="model must be fitted, and this %(name)s is not: call its fit with other bags first")
    return _RMSE if is_regressor(model) else _ERROR_RATE
