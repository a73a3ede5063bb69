"""Torch modules for bags: the characteristic function at frequencies that are parameters, and the network above it.

With phi_j = mean over a bag's rows x of exp(i (w_j.x + b_j)), a layer gives [Re phi_1, Im phi_1, Re phi_2, ...], or
the same of the phase phi/abs(phi): steps 1 to 4 of the paper's Algorithm 1. There is one way through the sum over rows,
that of ragged bags: a padded batch is stripped of its padding first, so that both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from uptonoise._util.random import RandomState
from uptonoise._util.validation import checked_number, positive_int
from uptonoise.fourier import as_frequencies, sample_frequencies

PhiAugmentation = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From phi of shape (n_bags, m, 2), the sizes of the bags and the frequencies to another phi, while training."""

Normalisation = Literal["running", "batch"]
Statistics = Literal["training", "batch"]

EPSILON = 1e-5  # added to variances of features, as torch does
_FORGETTING = 0.01
_FLOOR = 0.1  # amplitudes below so many sampling errors say nothing, and their phase has no useful gradient


class _MeanCosineSine(torch.autograd.Function):
    """The means of cos and sin over each bag's rows, with a backward pass that computes no cosine or sine again."""

    @staticmethod
    def forward(ctx: Any, angles: Tensor, sizes: Tensor) -> Tensor:
        bag_of_row = torch.repeat_interleave(sizes, output_size=len(angles))
        cos, sin = angles.cos(), angles.sin()
        ctx.save_for_backward(cos, sin, bag_of_row, sizes)
        empty = angles.new_zeros(len(sizes), angles.shape[1])
        sums = [empty.index_add(0, bag_of_row, values) for values in (cos, sin)]
        return torch.stack(sums, dim=-1) / sizes[:, None, None]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        cos, sin, bag_of_row, sizes = ctx.saved_tensors
        of_cos, of_sin = (gradient / sizes[:, None, None]).movedim(-1, 0).contiguous()
        by_row = of_sin.index_select(0, bag_of_row).mul_(cos)
        return by_row.addcmul_(of_cos.index_select(0, bag_of_row), sin, value=-1), None


class FourierLayer(nn.Module):
    """The characteristic function of each bag, at frequencies that are learnt.

    Parameters
    ----------
    d : int
        The number of columns.
    m : int
        The number of frequencies; there are 2m features.
    bias : bool
        Whether each frequency also has an angle b that is learnt: w.x + b instead of w.x.
    scale : float or array
        The frequencies start from N(0, 1/scale^2): a length in the data's units, such as
        :func:`~uptonoise.median_scale`.
    frequencies : array of shape (m, d), optional
        Frequencies to start from instead.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    See Also
    --------
    PhaseLayer : The same without the amplitude, which symmetric noise changes.

    Examples
    --------
    Two bags, ragged and padded:

    >>> import torch
    >>> from uptonoise.nets import FourierLayer
    >>> layer = FourierLayer(1, 3, random_state=0)
    >>> ragged = layer(torch.tensor([[0.5], [1.0], [2.0]]), offsets=torch.tensor([0, 2, 3]))
    >>> padded = torch.tensor([[[0.5], [1.0]], [[2.0], [0.0]]])
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> ragged.shape, torch.equal(layer(padded, mask=mask), ragged)
    (torch.Size([2, 6]), True)
    """

    def __init__(
        self,
        d: int,
        m: int,
        *,
        bias: bool = False,
        scale: ArrayLike = 1.0,
        frequencies: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__()
        if frequencies is None:
            start = np.asarray(sample_frequencies(m, d, scale=scale, random_state=random_state))
        else:
            start = as_frequencies(frequencies, positive_int(d, "d"))
            if len(start) != m:
                raise ValueError(f"frequencies must be {m}, one per row; got {len(start)}")
        dtype = torch.get_default_dtype()
        self.frequencies = nn.Parameter(torch.tensor(start, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(m, dtype=dtype)) if bias else None

    def forward(self, values: Tensor, offsets: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Return the features of each bag.

        Parameters
        ----------
        values : tensor of shape (n_rows, d) or (n_bags, n, d)
            The rows of all bags, one bag after the other; or a padded batch.
        offsets : integer tensor of shape (n_bags + 1,), optional
            Where each bag starts in the rows of all; without it each row is a bag of one.
        mask : boolean tensor of shape (n_bags, n), optional
            True where a padded batch has a row; without it there is no padding.

        Returns
        -------
        tensor of shape (n_bags, 2m)
            [Re phi_1, Im phi_1, Re phi_2, ...].
        """
        rows, sizes = as_ragged(values, offsets, mask)
        return self.features(self.characteristic(rows, sizes), sizes)

    def characteristic(self, rows: Tensor, sizes: Tensor) -> Tensor:
        """Return phi of bags of these sizes, whose rows lie one after the other, as (n_bags, m, 2) real numbers."""
        angles = functional.linear(rows, self.frequencies, self.bias)
        return _MeanCosineSine.apply(angles, sizes)  # type: ignore[no-untyped-call, no-any-return]

    def features(self, phi: Tensor, sizes: Tensor) -> Tensor:
        """Return the features of shape (n_bags, 2m) of phi."""
        return phi.flatten(start_dim=1)

    def extra_repr(self) -> str:
        """Return what the layer's repr says of it."""
        m, d = self.frequencies.shape
        return f"d={d}, m={m}, bias={self.bias is not None}"


class PhaseLayer(FourierLayer):
    """The phase of each bag's characteristic function, at frequencies that are learnt.

    Additive symmetric noise with a positive characteristic function does not change the phase phi/abs(phi). Where
    abs(phi) is below a tenth of its sampling error, 1/sqrt(N) for a bag of N rows, it is divided by that tenth instead:
    so gradients stay bounded by 10 sqrt(N), and there is none to fear at 0.

    Parameters
    ----------
    d, m, bias, scale, frequencies, random_state
        As for :class:`FourierLayer`.
    shrinkage : float
        Shrinks unreliable phases towards 0: phi / sqrt(abs(phi)^2 + shrinkage/N). With 0 all phases count
        alike; with 1 an amplitude of one sampling error counts 0.7.

    Examples
    --------
    >>> import torch
    >>> from uptonoise.nets import PhaseLayer
    >>> rows, offsets = torch.randn(50, 2, generator=torch.manual_seed(0)), torch.tensor([0, 20, 50])
    >>> phases = PhaseLayer(2, 4, random_state=0)(rows, offsets).reshape(2, 4, 2)
    >>> torch.allclose(phases.norm(dim=2), torch.ones(2, 4))
    True
    >>> shrunk = PhaseLayer(2, 4, shrinkage=1.0, random_state=0)(rows, offsets).reshape(2, 4, 2)
    >>> bool((shrunk.norm(dim=2) < 1).all())
    True
    """

    def __init__(
        self,
        d: int,
        m: int,
        *,
        shrinkage: float = 0.0,
        bias: bool = False,
        scale: ArrayLike = 1.0,
        frequencies: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(d, m, bias=bias, scale=scale, frequencies=frequencies, random_state=random_state)
        checked_number(shrinkage, "shrinkage")
        self.shrinkage = float(shrinkage)

    def features(self, phi: Tensor, sizes: Tensor) -> Tensor:
        """Return the features of shape (n_bags, 2m) of phi."""
        squares = phi.square().sum(dim=-1, keepdim=True)
        error_squares = (1 / sizes.to(phi.dtype))[:, None, None]
        if self.shrinkage > 0:
            divided_by = squares + self.shrinkage * error_squares
        else:
            divided_by = torch.maximum(squares, _FLOOR**2 * error_squares)
        return (phi * divided_by.rsqrt()).flatten(start_dim=1)

    def extra_repr(self) -> str:
        """Return what the layer's repr says of it."""
        return f"{super().extra_repr()}, shrinkage={self.shrinkage:g}"


class RunningNorm(nn.Module):
    """Features less their running means, over their running standard deviations: the same in training as afterwards.

    Batch normalisation in training takes each batch's own mean away, and with it what the batch's targets have in
    common: 1/batch_size of their variance, which no network can then explain. Running means leave it. They are plain
    means at first and forget with a rate of 1 % later, since frequencies move.

    Parameters
    ----------
    n_features : int
        The number of features.
    epsilon : float
        What is added to their variances.
    """

    mean: Tensor
    variance: Tensor
    n_batches: Tensor

    def __init__(self, n_features: int, epsilon: float = EPSILON) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.register_buffer("mean", torch.zeros(n_features))
        self.register_buffer("variance", torch.ones(n_features))
        self.register_buffer("n_batches", torch.zeros(()))

    def forward(self, features: Tensor) -> Tensor:
        """Return normalised features; in training the batch moves the means first."""
        if self.training:
            self.n_batches += 1
            weight = (1 / self.n_batches).clamp(min=_FORGETTING)
            variance, mean = torch.var_mean(features.detach(), dim=0)
            self.mean.lerp_(mean, weight)
            self.variance.lerp_(variance, weight)
        return (features - self.mean) * (self.variance + self.epsilon).rsqrt()


class BagNetwork(nn.Module):
    """A layer, normalisation of its features, hidden layers (none in the paper's Algorithm 1), and a linear output.

    The normalisation has no scale and shift of its own, which the output makes up for: so the penalty on the output's
    weights cannot be evaded.

    Parameters
    ----------
    layer : FourierLayer
        The layer.
    n_outputs : int
        The number of outputs. Their weights start at 0.
    normalisation : {"running", "batch"} or None
        By :class:`RunningNorm`; or the paper's batch normalisation, whose statistics for predictions are plain means
        over the batches since they were last reset; or none.
    epsilon : float
        What normalisation adds to the variances of features.
    hidden : sequence of int
        The widths of the hidden layers, each a linear map and a SiLU.
    seed : int
        That of the weights of the hidden layers.
    """

    def __init__(
        self,
        layer: FourierLayer,
        n_outputs: int,
        *,
        normalisation: Normalisation | None = "running",
        epsilon: float = EPSILON,
        hidden: Sequence[int] = (),
        seed: int = 0,
    ) -> None:
        super().__init__()
        n_features = 2 * len(layer.frequencies)
        self.layer, self.epsilon = layer, epsilon
        self.norm: nn.Module
        if normalisation == "running":
            self.norm = RunningNorm(n_features, epsilon)
        elif normalisation == "batch":
            self.norm = nn.BatchNorm1d(n_features, eps=epsilon, affine=False, momentum=None)
        else:
            self.norm = nn.Identity()
        with torch.random.fork_rng(devices=[]):  # a Linear draws weights from torch's global seed
            torch.manual_seed(seed)
            self.hidden = nn.Sequential()
            for width in hidden:
                self.hidden.extend([nn.Linear(n_features, width), nn.SiLU()])
                n_features = width
            self.output = nn.Linear(n_features, n_outputs)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, rows: Tensor, sizes: Tensor, augment: PhiAugmentation | None = None) -> Tensor:
        """Return the outputs for bags of these sizes, of shape (n_bags, n_outputs); `augment` changes their phi."""
        phi = self.layer.characteristic(rows, sizes)
        if augment is not None:
            phi = augment(phi, sizes, self.layer.frequencies)
        return self.head(phi, sizes)

    def head(self, phi: Tensor, sizes: Tensor, statistics: Statistics = "training") -> Tensor:
        """Return the outputs that belong to phi; "batch" normalises by the statistics of these bags themselves."""
        outputs: Tensor = self.output(self.inputs(phi, sizes, statistics))
        return outputs

    def inputs(self, phi: Tensor, sizes: Tensor, statistics: Statistics = "training") -> Tensor:
        """Return what the linear output gets: normalised features, or the last hidden layer."""
        features = self.layer.features(phi, sizes)
        if statistics == "batch":
            variance, mean = torch.var_mean(features, dim=0, correction=0)
            normalised = (features - mean) * (variance + self.epsilon).rsqrt()
        else:
            normalised = self.norm(features)
        inputs: Tensor = self.hidden(normalised)
        return inputs


def as_ragged(values: Tensor, offsets: Tensor | None, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the rows of all bags, one bag after the other, and the number of rows of each."""
    if values.ndim == 3:
        if offsets is not None:
            raise ValueError("offsets are for rows of shape (n_rows, d); a padded batch has a mask")
        if mask is None:
            return values.flatten(end_dim=1), values.new_full((len(values),), values.shape[1], dtype=torch.int64)
        if mask.shape != values.shape[:2] or mask.dtype != torch.bool:
            raise ValueError(f"mask must be boolean, of shape {tuple(values.shape[:2])}; got {tuple(mask.shape)}")
        rows, sizes = values[mask], mask.sum(dim=1)
    elif values.ndim == 2:
        if mask is not None:
            raise ValueError("mask is for a padded batch of shape (n_bags, n, d); rows have offsets")
        if offsets is None:
            return values, torch.ones(len(values), dtype=torch.int64, device=values.device)
        if offsets.ndim != 1 or len(offsets) < 2 or int(offsets[0]) != 0 or int(offsets[-1]) != len(values):
            raise ValueError(f"offsets must go from 0 to the number of rows, {len(values)}; got {offsets.tolist()}")
        rows, sizes = values, offsets.diff()
    else:
        raise ValueError(f"values must be of shape (n_rows, d) or (n_bags, n, d); got {tuple(values.shape)}")
    if int(sizes.min()) < 1:
        raise ValueError(f"each bag must have at least one row; bag {int(sizes.argmin())} has none")
    return rows, sizes
