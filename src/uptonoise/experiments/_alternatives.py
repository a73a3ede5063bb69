"""Pairs of samples that differ beyond noise, at any size: what the power of tests up to noise is measured on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import HIGGS_HIGH_LEVEL, make_chi2_samples
from uptonoise.experiments._higgs import draw_processes


class Alternative(NamedTuple):
    """How two samples are sampled from a generator and `sizes`, their number of columns and noise-to-signal ratios."""

    draw: Callable[..., tuple[Floats, Floats]]
    d: int
    noise: tuple[float, float] = (0.0, 0.0)


def chi2(d: int, noise: tuple[float, float]) -> Alternative:
    """Return the paper's setting: chi2(4)/4 against chi2(8)/8 in every column."""
    return Alternative(
        lambda generator, sizes: make_chi2_samples(sizes, d, noise=noise, freedoms=(4, 8), random_state=generator),
        d,
        noise,
    )


def _one_column(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    X, Y = (generator.chisquare(4, (size, 50)) / 4 for size in sizes)
    Y[:, generator.integers(50)] = generator.chisquare(30, sizes[1]) / 30
    return X, Y


def _clayton(generator: np.random.Generator, n_rows: int) -> Floats:
    frailty = generator.gamma(1.0, size=(n_rows, 1))
    return np.asarray(1 / (1 + generator.exponential(size=(n_rows, 5)) / frailty))


def _other_tail(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    lower, upper = (_clayton(generator, size) for size in sizes)
    return -np.log1p(-lower), -np.log(upper)


def _independent(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    return -np.log1p(-_clayton(generator, sizes[0])), generator.exponential(size=(sizes[1], 5))


OTHER_TAIL = Alternative(_other_tail, 5)
"""Exponential margins that depend in the lower tail in X (a Clayton copula) and in the upper one in Y."""

INDEPENDENT = Alternative(_independent, 5)
"""Exponential margins that depend in the lower tail in X, and not at all in Y."""

ONE_COLUMN = Alternative(_one_column, 50)
"""chi2(4)/4 in 50 columns, of which one has chi2(30)/30 in Y."""

HIGGS = Alternative(partial(draw_processes, columns=HIGGS_HIGH_LEVEL), 7)
"""The background process against the signal process."""
