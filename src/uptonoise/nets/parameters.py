"""The parameters that all estimators here share, with their defaults and their documentation, stated once.

A subclass adds its own parameters in the same way. The settings of the paper's networks are from its appendix G.2, and
from its authors' public code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Literal

from numpy.typing import ArrayLike

from uptonoise._util.docs import described
from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState
from uptonoise._util.validation import positive_int
from uptonoise.nets.layers import Normalisation, Statistics
from uptonoise.nets.noise import NoiseDomain

Schedule = Literal["hyperbolic", "cumulative"]


@with_parameters
class Parameters:
    """The parameters of all networks; the docstrings of the estimators explain them."""

    n_frequencies: int = field(default=100, kw_only=False)
    hidden: Sequence[int] = (64,)
    bias: bool = False
    scale: ArrayLike = "median-per-column"
    scale_factor: float = 1.0
    frequencies: ArrayLike | Literal["ridge"] | None = None
    normalisation: Normalisation | None = "running"
    epsilon: float | None = None
    statistics: Statistics = "training"
    learning_rate: float = 0.01
    decay: float | None = 0.1
    schedule: Schedule = "hyperbolic"
    n_epochs: int = 100
    batch_size: int = 32
    frequency_penalty: float = 1e-2
    output_penalty: float = 1e-3
    validation_fraction: float = 0.1
    patience: int | None = 20
    solve_output: bool = True
    noise_augmentation: float | Literal["unknown"] | None = "unknown"
    noise_target: tuple[float, float] | None = None
    noise_domain: NoiseDomain = "fourier"
    steady: bool = True
    warm_start: bool = False
    device: str = "auto"
    progress: bool | None = None
    random_state: RandomState = None


PAPER_SETTINGS: dict[str, Any] = {
    "hidden": (),
    "scale": "median",
    "learning_rate": 0.03,
    "normalisation": "batch",
    "batch_size": 10,
    "n_epochs": 120,
    "decay": None,
    "schedule": "cumulative",
    "epsilon": 1e-3,
    "validation_fraction": 0.0,
    "solve_output": False,
    "noise_augmentation": None,
    "steady": False,
}


def paper_grid() -> list[dict[str, list[Any]]]:
    """Return what the paper tunes by 3-fold cross-validation, as a grid of 4 settings for ``GridSearchCV``.

    The paper names the parameters (learning rate, a penalty for each layer, number of frequencies) and not their
    values, which are ours, but for the 60 frequencies of its authors' public code.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, ParameterGrid
    >>> from uptonoise.nets import PhaseNetRegressor, paper_grid
    >>> search = GridSearchCV(PhaseNetRegressor.paper(random_state=0), paper_grid(), cv=3)
    >>> len(ParameterGrid(paper_grid()))
    4
    """
    common: dict[str, list[Any]] = {"learning_rate": [0.003, 0.03], "n_frequencies": [60]}
    return [common | {"frequency_penalty": [penalty], "output_penalty": [penalty]} for penalty in (1e-3, 1e-2)]


def checked_widths(hidden: Any) -> tuple[int, ...]:
    """Return the widths of hidden layers, or raise."""
    if isinstance(hidden, str) or not isinstance(hidden, Iterable):
        raise ValueError(f"hidden must be the widths of the hidden layers, such as (64,), or (); got {hidden!r}")
    return tuple(positive_int(width, "each width in hidden") for width in hidden)


_PARAMETERS = """
    hidden : sequence of int
        The widths of hidden layers between the features and the output; ``()`` for none, as in the paper. They learn
        from more bags than a linear output can, and to trust amplitudes less where noise is. Their weights have the
        penalty of the output.
    bias : bool
        Whether each frequency has an angle that is learnt too.
    scale : "median-per-column", "median", float, or array of shape (d,)
        The frequencies start from N(0, 1/scale^2): the median heuristic on the rows of training for each column by
        itself, the same for all columns together, or lengths in the data's units. The network works in these units,
        about the mean of the rows: so neither the learning rate nor the penalties depend on the units of the data.
    scale_factor : float
        The scale is `scale` times this.
    frequencies : array of shape (m, d), "ridge", or None
        Where frequencies start instead of random ones, each divided by `scale_factor`: an array; or "ridge" for those
        of a :class:`~uptonoise.BagRidgeCV` on the same features, whose scale is tuned on the bags to train on.
    normalisation : {"running", "batch"} or None
        How features are normalised: by running means and variances; by those of each batch, as in the paper, which
        hides from training what the targets of a batch have in common, the more the smaller it is; or not.
    epsilon : float or None
        What normalisation adds to the variances of features that are divided by sqrt(m), as the paper's authors have
        it: 1e-3 in their code, which weakens features of small variance. None adds 1e-5 to the features as they are.
    statistics : {"training", "batch"}
        By which means and variances features are normalised in predictions: those of training, so that a prediction
        does not depend on the other bags in the call; or those of the bags in the call, as in the code of the paper's
        authors. The latter is transductive: noise that all bags of a call have in common is normalised away, and a
        call with few or unusual bags predicts something else. It can be changed after training.
    learning_rate : float
        The rate of Adam in the first epoch.
    decay : float or None
        How the rate falls; None stands for ``learning_rate / n_epochs``, the rule of the paper's authors.
    schedule : {"hyperbolic", "cumulative"}
        The rate of epoch t is ``learning_rate / (1 + decay * t)``; or that of epoch t - 1 divided by
        ``1 + decay * t``, as in the code of the paper's authors, which falls like a Gaussian.
    n_epochs : int
        How many times training goes over all bags, at most.
    batch_size : int
        The number of bags in a mini-batch. The last batch is never a single bag: batches are made nearly equal.
    frequency_penalty, output_penalty : float
        Half of this times the sum of squares of the frequencies (in units of 1/scale), or of the weights of the output,
        is added to the loss. A penalty on frequencies pulls them to 0, where noise leaves more of the amplitude.
    validation_fraction : float
        The part of the bags that is kept aside: the weights of the epoch with the smallest loss on it are kept. With 0
        the network is trained on all bags, and the weights of the last epoch are kept.
    patience : int or None
        Training stops after so many epochs without a smaller validation loss; None never stops it early.
    solve_output : bool
        Whether the weights of the output are found anew after training, at the frequencies that were learnt, by ridge
        or logistic regression with `output_penalty`: mini-batches come near that solution very slowly. It is kept
        unless it makes the validation loss larger. Not for quantiles. A small penalty predicts better where noise is
        that of training, and much worse where there is more: see `noise_augmentation`.
    noise_augmentation : "unknown", float or None
        Noise that the bags do not have, and that the network is trained against: in each batch bags get Gaussian noise
        of their own, and one in five gets none. "unknown" is noise of many sizes, from a tenth to 15 standard
        deviations of each column. A number is the largest noise size, a variance in units of that of the column.
        None trains on the bags as they are. Each epoch has fresh noise.
    noise_target : pair of float, optional
        The range of noise sizes to do well at: the validation part gets noise of these sizes, and so the epoch is
        chosen; by default those of training.
    noise_domain : {"fourier", "rows"}
        Where noise is added: "fourier" changes characteristic functions, at no cost to speak of, as for
        :class:`~uptonoise.BagRidgeCV`; "rows" adds it to the rows themselves, which is exact where frequencies are many
        for the number of columns, and slower where there are many columns.
    steady : bool
        Whether predictions are kept within the range of the targets of training, with a tenth of it on either side, and
        shrunk towards the constant prediction by how little of a bag's amplitudes is left; how far is learnt on the
        bags kept aside, with noise of unknown size. So noise cannot make predictions much worse than the constant one.
    warm_start : bool
        Whether a second fit goes on from the network of the first, with its columns, scales and classes.
    device : str
        "auto" (the GPU where torch sees one), "cpu", "cuda", "cuda:1", ...
    progress : bool or None
        Whether a line on stderr says how far training has come; None shows it on a terminal.
    random_state : None, int, Generator or RandomState
        The seed of frequencies, validation part, batches and noise. On the CPU the same seed gives the same network.
    """

_ATTRIBUTES = """
    network_ : torch module
        The trained network, in main memory. It takes rows less `centre_`, divided by `scale_`.
    frequencies_ : array of shape (m, d)
        The frequencies that were learnt, in the units of the data.
    history_ : dict of arrays
        ``epoch``, ``learning_rate``, ``loss`` and ``validation_loss`` (NaN without validation), one entry per epoch; of
        all fits where they are warm starts.
    best_epoch_ : int
        The epoch of the last fit whose weights were kept.
    noise_range_ : pair of float, or None
        The noise sizes that the epoch was chosen for; :func:`~uptonoise.robustness_curve` warns beyond them.
    steadiness_ : Steadiness or None
        The range of predictions, and the weights by which they are shrunk.
    centre_, scale_ : arrays of shape (d,)
        The mean of the rows of training, and the scales of their columns.
    n_features_in_ : int
        The number of columns, d.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data.
    """

documented = described(
    parameters=_PARAMETERS,
    attributes=_ATTRIBUTES,
    n_frequencies="""
        n_frequencies : int
            How many frequencies, m; there are 2m features.
        """,
    quantiles="""
        quantiles : None, float or sequence of float
            None minimises the squared error and predicts means. Increasing numbers between 0 and 1 minimise the pinball
            loss of all these quantiles together, which never cross.
        calibration : {"all", "validation"} or None
            By which bags quantiles are shifted after training, each by a constant before its step, so that it has its
            share of targets below it: steps of training end a few per cent beside it. "all" are the bags of fit.
            "validation" are those kept aside for early stopping, which the network was not trained on: slightly fairer
            where a network has learnt its bags by heart, and as uncertain as their number says.
        {parameters}

        Attributes
        ----------
        {attributes}
        target_mean_, target_scale_ : arrays of shape (n_targets,)
            The means and standard deviations of the targets, which are standardised for training.
        quantiles_ : array or None
            The levels of the quantiles.
        """,
    classes="""
        class_weight : None, "balanced" or dict
            A weight for each class; "balanced" gives all classes the same sum of weights.
        {parameters}

        Attributes
        ----------
        {attributes}
        classes_ : array of shape (n_classes,)
            The labels, sorted.
        """,
    gamma_bags="""
        {examples}
        >>> shapes = rng.uniform(1, 6, size=200)
        >>> bags = [rng.gamma(shape, size=(50, 1)) for shape in shapes]
        """,
    vectors="""
        Vectors (a 2-D array) are bags of one row each: so it is a network for ordinary data too, with
        ``noise_augmentation=None`` and ``steady=False``, since nothing tells how noisy a single row is.

        Parameters
        ----------
        {n_frequencies}
        """,
    phases="""
        Additive symmetric noise with a positive characteristic function does not change phases. So predictions hold
        where test bags have other noise than those of training.

        Parameters
        ----------
        {n_frequencies}
        shrinkage : float
            Shrinks unreliable phases towards 0, as :class:`PhaseLayer` does: 0 is the paper's phase.
        """,
    bags_to="""
        Parameters
        ----------
        {bags}
            The bags, with the columns of those that the model was fitted on.

        Returns
        -------
        """,
    bags="""
        X : Bags, list of arrays, or 3-D array; or a 2-D array or frame, whose rows are bags of one row
        """,
)
