"""The parameters and attributes that all estimators here share, written once."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)

_PARAMETERS = """bias : bool
        Whether each frequency has an angle that is learnt too.
    scale : "median", "median-per-column", float, or array of shape (d,)
        The frequencies start from N(0, 1/scale^2): the median heuristic on the rows of training, the same for each
        column by itself, or lengths in the data's units. The network works in these units, about the mean of the rows:
        so neither the learning rate nor the penalties depend on the units of the data.
    scale_factor : float
        The scale is `scale` times this.
    frequencies : array of shape (m, d), "ridge", or None
        Where frequencies start instead of a draw, each divided by `scale_factor`: an array; or "ridge" for those of a
        :class:`~uptonoise.BagRidgeCV` on the same features, whose scale is tuned on the bags to train on.
    normalisation : {"running", "batch"} or None
        How features are normalised: by running means and variances; by those of each batch, as in the paper, which
        hides from training what the targets of a batch have in common, the more the smaller it is; or not. Predictions
        never depend on the other bags in the call.
    learning_rate : float
        The rate of Adam in the first epoch.
    decay : float or None
        The rate of epoch t is ``learning_rate / (1 + decay * t)``. None stands for ``learning_rate / n_epochs``, the
        rule of the paper's authors.
    n_epochs : int
        How many times training goes over all bags, at most.
    batch_size : int
        The number of bags in a mini-batch. The last batch is never a single bag: batches are made nearly equal.
    frequency_penalty, output_penalty : float
        Half of this times the sum of squares of the frequencies (in units of 1/scale), or of the weights of the output,
        is added to the loss. A penalty on frequencies draws them to 0, where noise leaves more of the amplitude.
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
    noise_augmentation : None or float
        A noise level that the bags do not have, and that the network is trained against: in each batch bags get
        Gaussian noise of their own, of a variance between 0 and the level times that of the column; one in five gets
        none. Each epoch has fresh noise.
    noise_target : pair of float, optional
        The range of noise levels to do well at: the validation part gets noise of these levels, and so the epoch is
        chosen; by default from 0 to `noise_augmentation`.
    noise_domain : {"fourier", "rows"}
        Where noise is added: "fourier" changes characteristic functions, at no cost to speak of, as for
        :class:`~uptonoise.BagRidgeCV`; "rows" adds it to the rows themselves, which is exact where frequencies are many
        for the number of columns, and slower where there are many columns.
    warm_start : bool
        Whether a second fit goes on from the network of the first, with its columns, scales and classes.
    device : str
        "auto" (the GPU where torch sees one), "cpu", "cuda", "cuda:1", ...
    progress : bool or None
        Whether a line on stderr says how far training has come; None shows it on a terminal.
    random_state : None, int, Generator or RandomState
        The seed of frequencies, validation part, batches and noise. On the CPU the same seed gives the same network."""

_ATTRIBUTES = """network_ : torch module
        The trained network, in main memory. It takes rows less `centre_`, divided by `scale_`.
    frequencies_ : array of shape (m, d)
        The frequencies that were learnt, in the units of the data.
    history_ : dict of arrays
        ``epoch``, ``learning_rate``, ``loss`` and ``validation_loss`` (NaN without validation), one entry an epoch; of
        all fits where they are warm starts.
    best_epoch_ : int
        The epoch of the last fit whose weights were kept.
    noise_range_ : pair of float, or None
        The noise levels that the epoch was chosen for; :func:`~uptonoise.robustness_curve` warns beyond them.
    centre_, scale_ : arrays of shape (d,)
        The mean of the rows of training, and the scales of their columns.
    n_features_in_ : int
        The number of columns, d.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data."""


def described(cls: Class) -> Class:
    """Put the shared parameters and attributes into the docstring of an estimator, at their places."""
    cls.__doc__ = str(cls.__doc__).replace("{parameters}", _PARAMETERS).replace("{attributes}", _ATTRIBUTES)
    return cls
