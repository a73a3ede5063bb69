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
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.fourier import characteristic_function
from uptonoise.inference.budget import PARTICLES
from uptonoise.inference.simulation import as_bags

BLOCK_BAGS = 1_000
"""How many bags are summarised at once."""
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


class Sized(NamedTuple):
    """Particles with bags of some number of rows: their parameters, summaries and profiles."""

    theta: Floats
    summaries: Floats
    profiles: Floats


def particles_of(abc: Any, n_rows: int) -> Sized:
    """Return the particles of a fitted BagABC with bags of as many rows as were observed, where these can be had."""
    least, most = abc._sizes
    again = abc._plan is not None and takes_rows(abc.simulator)
    if least <= n_rows <= most or (n_rows > most and not again):
        return Sized(abc.theta_, abc.summaries_, abc._profiles)
    if n_rows not in abc._sized:
        parts = [
            Sized(theta, abc.summary(bags), abc._units.profiles(bags)) for theta, bags in _bags_of(abc, n_rows, again)
        ]
        abc._sized[n_rows] = Sized(*map(np.concatenate, zip(*parts, strict=True)))
    sized: Sized = abc._sized[n_rows]
    return sized


def _bags_of(abc: Any, n_rows: int, again: bool) -> Iterator[tuple[Floats, Bags]]:
    """Yield particles in blocks, with bags of a number of rows."""
    generator = np.random.default_rng([n_rows, len(abc.theta_)])
    if abc.particles_ is not None and not again:
        for start in range(0, len(abc.particles_), BLOCK_BAGS):
            block = abc.particles_[slice(start, start + BLOCK_BAGS)]
            yield block.theta, with_fewer_rows(block.bags, n_rows, generator)
        return
    plan = abc._plan
    if again:  # not into the folder of simulations that have their own number of rows
        plan = replace(plan, simulator=partial(abc.simulator, n_rows=n_rows), folder=None, unfinished={})
    for _, part in plan.parts(PARTICLES, abc.n_particles):
        if len(part.values):
            yield part.came, part.bags if again else with_fewer_rows(part.bags, n_rows, generator)


def takes_rows(simulator: Any) -> bool:
    """Tell whether a simulator has a parameter ``n_rows``."""
    try:
        return "n_rows" in inspect.signature(simulator).parameters
    except (TypeError, ValueError):
        return False


def with_fewer_rows(bags: Bags, n_rows: int, generator: np.random.Generator) -> Bags:
    """Return a sample of rows of each bag, without replacement; all rows of bags that have no more."""
    keys = generator.random(len(bags.values))
    order = np.lexsort((keys, np.repeat(np.arange(len(bags)), bags.sizes)))  # the rows of each bag in random order
    ranks = np.arange(len(order)) - np.repeat(bags.offsets[:-1], bags.sizes)
    kept = order[ranks < n_rows]
    return as_bags(bags.values[kept], np.minimum(bags.sizes, n_rows), bags.columns, bags.named)
