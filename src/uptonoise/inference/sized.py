"""Particles with as many rows as were observed: simulated so, or samples of the rows of what was simulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.inference.budget import PARTICLES
from uptonoise.inference.observed import takes_rows, with_fewer_rows

BLOCK_BAGS = 1_000
"""How many bags are summarised at once."""


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
