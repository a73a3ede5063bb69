"""The kinds of inference: what the summary of a bag is, and how it is learnt."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from uptonoise._util.parameters import with_parameters
from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.inference.base import BagABC, Summary
from uptonoise.inference.options import documented
from uptonoise.inference.simulation import Simulations
from uptonoise.inference.statistics import Statistics, moments, quantile_powers


class _Predicted:
    """Predictions as a summary: of one regressor for all parameters, or of one for each."""

    def __init__(self, regressors: list[Any]) -> None:
        self.regressors = regressors

    def __call__(self, bags: Bags) -> Floats:
        predictions = [np.asarray(regressor.predict(bags), dtype=np.float64) for regressor in self.regressors]
        summaries = np.concatenate([part.reshape(len(bags), -1) for part in predictions], axis=1)
        if not np.isfinite(summaries).all():
            raise ValueError("regressor must predict finite numbers; got NaN or infinite numbers")
        return summaries


@with_parameters
class _RegressionABC(BagABC):
    """Inference whose summary is a regression of the parameters on bags."""

    regressor: Any = None
    n_training: int = 2_000

    def _learning(self) -> tuple[Any, ...]:
        return self.n_training, self.regressor

    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        from sklearn.base import clone
        from sklearn.utils import get_tags

        assert training is not None
        theta = training.theta
        # About their medians, in units of their quartiles, which exist without a variance too.
        first, middle, third = np.quantile(theta, [0.25, 0.5, 0.75], axis=0)
        spread = np.where(third > first, (third - first) / 1.349, theta.std(axis=0))
        if not (spread > 0).all():
            constant = training.names[int(np.argmin(spread))]
            raise ValueError(f"prior must let every parameter vary; {constant} is constant")
        targets, model = (theta - middle) / spread, self._model(seed)
        of_ours = type(model).__module__.startswith("uptonoise.")  # which predict several targets at once
        several = len(middle) > 1 and (of_ours or get_tags(model).target_tags.multi_output)
        return _Predicted(
            [clone(model, safe=False).fit(training.bags, y) for y in ([targets] if several else targets.T)]
        )

    @property
    def regressor_(self) -> Any:
        """The fitted regressor of standardised parameters, or a list of one for each parameter."""
        if self._summary is None:
            raise ValueError("there is no regressor yet; call fit() or train() first")
        fitted = self._summary.regressors  # type: ignore[attr-defined]
        return fitted[0] if len(fitted) == 1 else fitted

    def _model(self, seed: int) -> Any:
        """Return the regressor that is asked for, not fitted."""
        if self.regressor is None or isinstance(self.regressor, str):
            return self._named("ridge" if self.regressor is None else self.regressor, seed)
        if isinstance(self.regressor, type) or not all(hasattr(self.regressor, name) for name in ("fit", "predict")):
            kind = type(self.regressor).__name__
            raise ValueError(
                f"regressor must be None, a name, or a regressor on bags with fit and predict; got a {kind}"
            )
        from sklearn.base import clone

        model = clone(self.regressor, safe=False)
        if hasattr(model, "get_params") and "random_state" in (params := model.get_params()):
            model.set_params(random_state=seed if params["random_state"] is None else params["random_state"])
        return model

    def _named(self, name: str, seed: int) -> Any:
        raise ValueError(f"regressor must be a regressor on bags with fit and predict; got {name!r}")


@documented
class FourierABC(_RegressionABC):
    """Fourier-ABC: the summary is a regression on Fourier features of bags (the paper's Appendix E).

    Parameters
    ----------
    {model}
    regressor : None, "ridge", "network", or estimator
        What predicts parameters from bags: :func:`~uptonoise.glrr` with 100 frequencies ("ridge", the default),
        :class:`~uptonoise.nets.FourierNetRegressor` ("network", the paper's choice), or any regressor on bags, such as
        a Pipeline that begins with :class:`~uptonoise.FourierFeatures`. It predicts standardised parameters.
    {learning}

    See Also
    --------
    PhaseABC : The same with phases, which Gaussian and similar noise moves little.

    {example}
    >>> abc = inference.FourierABC(
    ...     stats.uniform(1, 5), simulator, n_training=300, n_particles=2_000, ess=150, random_state=0
    ... )
    {interval}
    """

    _first = "fourier"
    _amplitude: ClassVar[Literal["plain", "shrunk"]] = "plain"
    _network = "FourierNetRegressor"

    def _named(self, name: str, seed: int) -> Any:
        from uptonoise.learning import BagRidgeCV

        if name == "ridge":
            # Noisy summaries that are shrunk towards the mean would look like those of the mean's parameters.
            return BagRidgeCV(self._first, amplitude=self._amplitude, steady=False, random_state=seed)
        if name == "network":
            from uptonoise import nets

            options = {"noise_augmentation": None, "steady": False}  # for the same reason
            return getattr(nets, self._network)(progress=self.progress, random_state=seed, **options)
        raise ValueError(f"regressor must be one of ridge, network, or a regressor on bags; got {name!r}")


@documented
class PhaseABC(FourierABC):
    """Phase-ABC: the summary is a regression on phase features of bags (the paper's Appendix E).

    Phases do not see additive symmetric noise with a positive characteristic function. So a summary that was learnt
    with one distribution of noise keeps its meaning with another, and noise need not be a parameter.

    Parameters
    ----------
    {model}
    regressor : None, "ridge", "network", or estimator
        What predicts parameters from bags: :class:`~uptonoise.BagRidgeCV` on 100 phases, shrunk towards their mean
        where they are less reliable than in training ("ridge", the default); :class:`~uptonoise.nets.PhaseNetRegressor`
        ("network", the paper's choice); or any regressor on bags, such as :func:`~uptonoise.plrr` or a Pipeline that
        begins with :class:`~uptonoise.PhaseFeatures`. It predicts standardised parameters.
    {learning}

    See Also
    --------
    FourierABC, DRABC, SemiAutomaticABC, RejectionABC : Other summaries.
    calibration : Whether the intervals of a posterior are right.

    Examples
    --------
    The observed bag has noise that no simulation had:

    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import PhaseABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(400, 1))
    >>> abc = PhaseABC(stats.uniform(1, 5), simulator, n_training=300, n_particles=2_000, ess=150, random_state=0)
    >>> rng = np.random.default_rng(1)
    >>> observed = simulator(3.0, rng) + rng.normal(scale=0.8, size=(400, 1))
    >>> low, high = abc.fit().posterior(observed).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    _first = "phase"
    _amplitude = "shrunk"
    _network = "PhaseNetRegressor"


@documented
@with_parameters
class DRABC(_RegressionABC):
    """DR-ABC: the summary is kernel regression with exact mean embeddings of bags (Mitrovic et al. 2016).

    Time is proportional to `n_training`, and to the square of the number of rows in a bag.

    Parameters
    ----------
    {model}
    regressor : None or estimator
        By default :class:`KernelBagRidge`, a Gaussian kernel between embeddings.
    {learning}

    See Also
    --------
    FourierABC : The same with random features, in a time proportional to the rows.

    {example}
    >>> options = {"n_training": 80, "n_particles": 1_000, "ess": 120}
    >>> abc = inference.DRABC(stats.uniform(1, 5), simulator, random_state=0, **options)
    {interval}
    """

    n_training: int = 200
    n_particles: int = 2_000

    def _model(self, seed: int) -> Any:
        from uptonoise.inference.kernel_ridge import KernelBagRidge

        return KernelBagRidge() if self.regressor is None else super()._model(seed)


@documented
@with_parameters
class SemiAutomaticABC(_RegressionABC):
    """Semi-automatic ABC: the summary is a linear regression on statistics of a bag (Fearnhead and Prangle 2012).

    Parameters
    ----------
    {model}
    summaries : callable
        From a bag, of shape (n, d), to the statistics that the regression is linear in; :func:`quantile_powers` by
        default. The regression has a small penalty, chosen by leaving one simulation out.
    {learning}

    {example}
    >>> abc = inference.SemiAutomaticABC(
    ...     stats.uniform(1, 5), simulator, n_training=300, n_particles=2_000, ess=150, random_state=0
    ... )
    {interval}
    """

    summaries: Any = quantile_powers

    def _learning(self) -> tuple[Any, ...]:
        return self.n_training, self.summaries

    def _model(self, seed: int) -> Any:
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler

        statistics = FunctionTransformer(Statistics(self.summaries))
        return make_pipeline(statistics, StandardScaler(), RidgeCV(np.geomspace(1e-6, 1e3, 19)))


@documented
@with_parameters
class RejectionABC(BagABC):
    """Plain rejection: particles within the tolerance count alike, others not at all. The summary is not learnt.

    Each statistic is in units of its median absolute deviation among the particles.

    Parameters
    ----------
    {model}
    summaries : callable
        From a bag, of shape (n, d), to a number or a vector; :func:`moments` by default.
    {parameters}

    Attributes
    ----------
    {attributes}

    {example}
    >>> abc = inference.RejectionABC(stats.uniform(1, 5), simulator, n_particles=2_000, ess=150, random_state=0)
    {interval}
    """

    summaries: Any = moments

    _uniform_kernel = True
    _learns = False

    def _learning(self) -> tuple[Any, ...]:
        return (self.summaries,)

    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        return Statistics(self.summaries)

    def _scales(self, summaries: Floats) -> Floats:
        scales = 1.4826 * np.median(np.abs(summaries - np.median(summaries, axis=0)), axis=0)
        scales = np.where(scales > 0, scales, summaries.std(axis=0))
        return np.where(scales > 0, scales, 1.0)
