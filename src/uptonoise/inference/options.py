"""The options of all kinds of inference, and their documentation, written once."""

from __future__ import annotations

import os
from typing import TypedDict

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState

documented = described(
    model="""
    prior : frozen distribution of scipy, dict of named ones, or callable
        The distribution of the parameters. A function ``prior(n, rng)`` returns n draws: an array of shape (n,) or
        (n, p), or a dict of arrays.
    simulator : callable
        ``simulator(theta, rng)`` returns a sample, rows by columns, of any number of rows. `theta` is a float, or an
        array of shape (p,) where there are several parameters; `rng` is a numpy Generator, the only source of chance
        that seeds reach.
    """,
    parameters="""
    n_particles : int
        How many further simulations are weighted by how near their summaries are to the observed one.
    epsilon, quantile, ess : float, optional
        The tolerance, in one of three ways: the epsilon of the weights itself; the share of particles whose squared
        distance is below epsilon; or the effective sample size that epsilon must give. By default ``quantile=0.02``.
    adjust : bool
        Whether particles are moved by a weighted linear regression of parameters on summaries to where they would be
        with the observed summary (Beaumont, Zhang and Balding 2002); on a logarithmic or logistic scale where the
        support of the prior is bounded, so that it is not left.
    keep_rows : bool
        Whether the rows of the particles are kept in memory, in `particles_`, for another `fit`.
    {simulating}
    """,
    simulating="""
    vectorized : bool
        Whether the simulator takes parameters of shape (k, p) and returns Bags, a list of k samples, or an array of
        shape (k, n_rows, n_columns).
    block_size : int, optional
        How many simulations make a block: what one worker does at a time, what one call of a vectorised simulator
        makes, and what is kept; 50, and 1,000 for a vectorised simulator, by default. A smaller one loses less when a
        slow simulator is interrupted.
    skip_failures : bool
        Whether to leave out, and count, draws for which the simulator raises or returns no proper bag, instead of
        raising.
    cache : path, optional
        A folder that keeps simulations: what is there is not simulated again, also by another kind of inference with
        the same seed. It belongs to one prior and one simulator.
    n_jobs : int, optional
        How many workers simulate, as joblib counts them; joblib's settings for a cluster work too. The simulations do
        not depend on it.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    random_state : None, int, Generator or RandomState
        The seed; None takes that of the cache where there is one.
    """,
    attributes="""
    theta_ : array of shape (n_particles, p)
        The particles.
    summaries_ : array of shape (n_particles, q)
        The summaries of their bags, in the units that distances are taken in.
    names_ : tuple of str
        The names of the parameters.
    n_failed_ : int
        How many simulations failed and were left out.
    particles_ : Simulations or None
        The particles with their rows, where ``keep_rows=True`` or where they were given.
    seed_ : int
        The seed of the simulations.
    """,
    learning="""
    n_training : int
        How many simulations the summary is learnt from.
    {parameters}

    Attributes
    ----------
    training_ : Simulations
        What the summary was learnt from.
    {attributes}
    """,
    example="""
    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise import inference
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(100, 1))
    """,
    interval="""
    >>> low, high = abc.fit().posterior(simulator(3.0, np.random.default_rng(2))).interval(0.95)
    >>> low < 3.0 < high
    True
    """,
)


class Simulating(TypedDict, total=False):
    """How simulations are made."""

    vectorized: bool
    block_size: int | None
    skip_failures: bool
    cache: str | os.PathLike[str] | None
    n_jobs: int | None
    progress: bool | None
    random_state: RandomState
