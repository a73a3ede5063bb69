"""Noise that bags do not have, sampled anew for each batch: on their characteristic functions, or on their rows.

The noise is that of the data augmentation in ``learning``: Gaussian with a variance of its own in each bag and column,
on a few rows of any bag for the errors of phi, written for tensors with gradients. Noise on rows costs one random
number for each number in the batch instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice
from uptonoise.learning import (
    LARGEST,
    NOISE_BOUNDS,
    VIRTUAL_ROWS,
    check_no_target,
    checked_noise_range,
    checked_noise_sizes,
)
from uptonoise.nets.inputs import LabelledBags
from uptonoise.nets.layers import PhiAugmentation

RowAugmentation = Callable[[Tensor, Tensor], Tensor]
"""From the rows of bags and the sizes of the bags to other rows."""

NoiseDomain = Literal["fourier", "rows"]

_CLEAN_SHARE = 0.2  # of the bags of a batch: ridge models have one clean copy of each bag beside four noisy ones
_JUDGED_COPIES = 2  # of each bag that a network is judged by, with noise of their own
_JUDGED_COPIES_UNKNOWN = 5  # where noise sizes are from a hundredth of a variance to a hundred variances
_UNEQUAL_SHARE = 0.15  # of the bags with noise of unknown size: those with another size in each column


class Augmentation(NamedTuple):
    """What changes the rows or the phi of bags: those of a batch in training, and those that a network is judged by.

    Rows and frequencies are in the network's units: rows less the estimator's `centre_`, divided by its `scale_`.
    """

    rows: RowAugmentation | None = None
    phi: PhiAugmentation | None = None
    judged_rows: RowAugmentation | None = None
    judged_phi: PhiAugmentation | None = None
    n_judged: int = _JUDGED_COPIES

    def judged(self, bags: LabelledBags) -> LabelledBags:
        """Return copies of bags to judge by, with noise on their rows where it is there that noise is added."""
        if self.judged_rows is None and self.judged_phi is None:
            return bags
        copies = bags.part(np.tile(np.arange(len(bags)), self.n_judged))
        return copies if self.judged_rows is None else replace(copies, rows=self.judged_rows(copies.rows, copies.sizes))


@dataclass(frozen=True)
class NoiseSettings:
    """The noise size that a network is trained against, the range that it is judged by, and where noise is added.

    Without a size it is unknown, and of many sizes; without a target the network is judged by the same.
    """

    size: float | None
    target: tuple[float, float] | None
    domain: NoiseDomain

    @property
    def range(self) -> tuple[float, float]:
        """The noise sizes that an epoch is chosen for."""
        return (0.0, LARGEST**2) if self.target is None else self.target

    @classmethod
    def checked(cls, size: Any, target: Any, domain: Any) -> NoiseSettings | None:
        """Return what the parameters of an estimator mean, None where there is no noise, or raise."""
        checked_choice(domain, get_args(NoiseDomain), "noise_domain")
        if size is None:
            check_no_target(target)
            return None
        if isinstance(size, str):
            if size != "unknown":
                raise ValueError(f'noise_augmentation must be a noise size, "unknown" or None; got {size!r}')
            return cls(None, None if target is None else checked_noise_range(target, LARGEST**2), domain)
        sizes = checked_noise_sizes("noise_augmentation", size)
        if len(sizes) != 1:
            raise ValueError(
                f"noise_augmentation must be one noise size for a network; got {size!r}. GridSearchCV tries several"
            )
        return cls(sizes[0], checked_noise_range(target, sizes[0]), domain)

    def augmentation(self, rows: Tensor, variances: Floats, generator: np.random.Generator) -> Augmentation:
        """Return fresh noise for each batch, and noise to judge by that is the same in each epoch.

        `rows` are those of all bags and `variances` those of the columns, in the network's units.
        """
        first, second = (int(seed) for seed in generator.integers(2**63, size=2))
        training = Noise(rows, variances, first, None if self.size is None else (0.0, self.size))
        clean = _CLEAN_SHARE if self.target is None else 0.0
        judging = Noise(rows, variances, second, self.target, clean=clean, repeats=True)
        number = _JUDGED_COPIES_UNKNOWN if self.target is None else _JUDGED_COPIES
        if self.domain == "rows":
            return Augmentation(rows=training.on_rows, judged_rows=judging.on_rows, n_judged=number)
        return Augmentation(phi=training.on_phi, judged_phi=judging.on_phi, n_judged=number)


@dataclass
class Noise:
    """Gaussian noise on bags in the network's units.

    Parameters
    ----------
    rows : tensor of shape (n, d)
        Rows of any bags, on the device where bags are; errors of phi are made of some of them.
    variances : array of shape (d,)
        Those of the columns in the network's units: a noise size is a multiple of them.
    seed : int
        The seed.
    sizes : pair of float, optional
        Between which the noise size of each bag is sampled; by default it is sampled by `bounds`.
    clean : float
        The share of bags without noise.
    repeats : bool
        Whether each call gives the same numbers again.
    bounds : sequence of float
        Bounds of standard deviations, in units of the columns': a noise size is sampled between two that are next to
        each other, evenly on a logarithmic scale. By default those of :class:`~uptonoise.BagRegressor` with
        ``noise="unknown"``.
    """

    rows: Tensor
    variances: Any
    seed: int
    sizes: tuple[float, float] | None = None
    _: KW_ONLY
    clean: float = _CLEAN_SHARE
    repeats: bool = False
    bounds: Sequence[float] = NOISE_BOUNDS

    def __post_init__(self) -> None:
        self.variances = torch.tensor(self.variances, dtype=torch.float32, device=self.rows.device)
        self.generator = torch.Generator(self.rows.device).manual_seed(self.seed)

    def on_rows(self, rows: Tensor, sizes: Tensor) -> Tensor:
        """Return rows of bags of these sizes with noise."""
        sd = self._sampled_variances(len(sizes)).sqrt()
        return torch.addcmul(rows, sd.repeat_interleave(sizes, dim=0), self._normal(rows.shape))

    def on_phi(self, phi: Tensor, sizes: Tensor, frequencies: Tensor) -> Tensor:
        """Return what noise makes of phi, of shape (n_bags, m, 2); frequencies get gradients through its damping."""
        variances = self._sampled_variances(len(sizes))
        damping = torch.exp(-variances @ frequencies.square().T / 2)[..., None]
        picked = torch.randint(
            len(self.rows), (len(sizes), VIRTUAL_ROWS), generator=self.generator, device=self.rows.device
        )
        rows = self.rows[picked]
        noisy = _mean_cosine_sine(rows + variances.sqrt()[:, None] * self._normal(rows.shape), frequencies)
        errors = noisy - damping * _mean_cosine_sine(rows, frequencies)
        return torch.addcmul(damping * phi, (VIRTUAL_ROWS / sizes).sqrt()[:, None, None], errors)

    def _sampled_variances(self, n_bags: int) -> Tensor:
        """Return the variances of each bag's noise, of shape (n_bags, d); each batch or epoch begins with this."""
        if self.repeats:
            self.generator.manual_seed(self.seed)
        places = self._uniform(n_bags, 1)
        noisy = self._uniform(n_bags, 1) >= self.clean
        shares = self._uniform(n_bags, len(self.variances))
        if self.sizes is not None:
            low, high = self.sizes
            sizes = low + (high - low) * places
        else:
            logs = torch.tensor(self.bounds, dtype=places.dtype, device=places.device).log()
            moved = places * (len(logs) - 1)
            below = moved.long().clamp(max=len(logs) - 2)
            sizes = torch.exp(2 * torch.lerp(logs[below], logs[below + 1], moved - below))
            shares = torch.where(self._uniform(n_bags, 1) < _UNEQUAL_SHARE, shares, 1.0)
        sampled: Tensor = sizes * noisy * shares * self.variances
        return sampled

    def _uniform(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.generator, device=self.variances.device)

    def _normal(self, shape: torch.Size) -> Tensor:
        return torch.randn(shape, generator=self.generator, device=self.variances.device)


def _mean_cosine_sine(rows: Tensor, frequencies: Tensor) -> Tensor:
    """Return the means of cosines and sines over the rows of each bag, of shape (n_bags, m, 2)."""
    angles = rows @ frequencies.T
    return torch.stack([angles.cos().mean(dim=1), angles.sin().mean(dim=1)], dim=-1)
