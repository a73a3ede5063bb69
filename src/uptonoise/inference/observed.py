"""What the observed bag asks of the simulations: its number of rows, and whether they look like it.

A summary of fewer rows varies more. So particles are summarised again with as many rows as were observed: from a
simulator that takes ``n_rows``, or from a sample of the rows of each simulated bag, without replacement.

A summary that does not see noise cannot tell that there is too much of it. So location, spread and amplitudes of the
characteristic function of the observed bag are compared with those of the particles, by their weights: the bag is
unlike the simulations where its Mahalanobis distance from them is larger than that of nearly all. Mean and covariance
are those of the particles and the observed bag together: so a bag like the particles is as far from them as any of them
is (full conformal prediction, Vovk, Gammerman and Shafer 2005).
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.fourier import characteristic_function
from uptonoise.inference.simulation import as_bags

_RADII = (0.5, 1.0)
_UNLIKE = 0.02  # of the weight, that of the observed bag included, is as far from the centre as this bag, or less
_RIDGE = 0.02
_LEAST = 1e-3


class Units(NamedTuple):
    """Where the simulated rows are, and how far apart: the units of profiles."""

    centre: Floats
    scale: Floats

    @classmethod
    def of(cls, bags: Bags) -> Units:
        """Return the medians of the columns and the distances of their quartiles."""
        low, centre, high = np.quantile(bags.values, [0.25, 0.5, 0.75], axis=0)
        scale = np.where(high > low, high - low, bags.values.std(axis=0))
        return cls(centre, np.where(scale > 0, scale, 1.0))

    def profiles(self, bags: Bags) -> Floats:
        """Return location, logarithms of spreads, and amplitudes of every bag, of shape (n_bags, 5 d)."""
        values = (bags.values - self.centre) / self.scale
        scaled = as_bags(values, bags.sizes, bags.columns, bags.named)
        d = bags.n_columns
        frequencies = np.concatenate([radius * np.eye(d) for radius in _RADII])
        amplitudes = np.abs(characteristic_function(scaled, frequencies).phi)
        starts, sizes = bags.offsets[:-1], bags.sizes[:, None]
        means = np.add.reduceat(values, starts, axis=0) / sizes
        centred = values - np.repeat(means, bags.sizes, axis=0)
        squares = np.add.reduceat(centred**2, starts, axis=0) / sizes
        absolute = np.add.reduceat(np.abs(centred), starts, axis=0) / sizes
        logs = [np.log(np.sqrt(squares) + _LEAST), np.log(absolute + _LEAST)]
        return np.concatenate([np.arcsinh(means), *logs, amplitudes], axis=1)


def is_unlike(profile: Floats, profiles: Floats, weights: Floats) -> bool:
    """Tell whether a profile is further from those of weighted particles than nearly all of these.

    The observed bag counts as one particle more. Where there are too few of them for a share that small, it is unlike
    them if it is the furthest.
    """
    own = 1 / (1 + 1 / float(np.sum(weights**2)))
    together = np.concatenate([profiles, profile[None]])
    shares = np.append((1 - own) * weights, own)
    centred = together - shares @ together
    covariance = centred.T @ (centred * shares[:, None])
    covariance[np.diag_indices_from(covariance)] += _RIDGE * np.diag(covariance) + 1e-12
    distances = np.einsum("ij,jk,ik->i", centred, np.linalg.inv(covariance), centred)
    return bool(shares[distances >= distances[-1]].sum() <= max(_UNLIKE, own))


def takes_rows(simulator: Any) -> bool:
    """Tell whether a simulator has a parameter ``n_rows``."""
    try:
        return "n_rows" in inspect.signature(simulator).parameters
    except (TypeError, ValueError):
        return False


def with_fewer_rows(bags: Bags, n_rows: int, generator: np.random.Generator) -> Bags:
    """Return a sample of rows of each bag, without replacement; all rows of bags that have no more."""
    keys = generator.random(len(bags.values))
    numbers = np.repeat(np.arange(len(bags)), bags.sizes)
    order = np.lexsort((keys, numbers))  # the rows of each bag in random order
    ranks = np.arange(len(order)) - np.repeat(bags.offsets[:-1], bags.sizes)
    kept = order[ranks < n_rows]
    return as_bags(bags.values[kept], np.minimum(bags.sizes, n_rows), bags.columns, bags.named)


def size_range(bags: Bags) -> tuple[int, int]:
    """Return the fewest and the most rows of bags."""
    return int(bags.sizes.min()), int(bags.sizes.max())
