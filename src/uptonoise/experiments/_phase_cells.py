"""Cells that judge the phase statistic, where samples differ at most by noise or beyond it, and those that chose it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments import _seen_pairs, noise_level, noise_power
from uptonoise.experiments._batched_phases import PairCell
from uptonoise.experiments._development_pairs import alike, different
from uptonoise.experiments._fresh_pairs import FreshPair, pairs
from uptonoise.experiments._noisy_distributions import NoisyPair

UNEQUAL = [
    NoisyPair(distribution, sizes, d, noise, kind)
    for sizes in ((2_000, 100), (100, 2_000), (60, 6_000))
    for distribution, d, noise, kind in (
        ("chi-squared", 1, (0.0, 0.0), "gaussian"),
        ("lognormal", 5, (0.5, 0.0), "laplace"),
        ("mostly 0", 20, (1.0, 0.5), "t"),
        ("mixture", 2, (0.0, 1.0), "cauchy"),
    )
]
"""Samples of which one has 20 or 100 times as many rows."""

MANY_COLUMNS = ((100, 100), (200, 200), (200, 500), (100, 2_000), (500, 200))
"""Numbers of columns, and of rows in each sample."""
_NO_NOISE = {"n1": 0.0, "n2": 0.0}


def _many_columns(
    generator: np.random.Generator, d: int, n: int, differing: int, freedom: int
) -> tuple[Floats, Floats]:
    X, Y = (generator.chisquare(4, (n, d)) / 4 for _ in range(2))
    Y[:, :differing] = generator.chisquare(freedom, (n, differing)) / freedom
    return X, Y


def level_cells() -> Sequence[PairCell]:
    """Return the cells in which samples differ at most by noise, each with the grid that it is of."""
    sampled = [cell for cell in noise_level.cells() if "flip" in cell.tests and "HIGGS" not in cell.settings["law"]]
    many = [
        PairCell(
            {"grid": "many columns", "law": "chi-squared", "n": n, "k": n, "d": d, "noise": "none"} | _NO_NOISE,
            partial(_many_columns, d=d, n=n, differing=0, freedom=4),
        )
        for d, n in MANY_COLUMNS
    ]
    return [
        *(PairCell({"grid": "present"} | cell.settings, cell.draw) for cell in sampled),
        *(_cell("unequal sizes", pair) for pair in UNEQUAL),
        *(_cell("fresh", pair) for pair in pairs()),
        *many,
    ]


def _cell(grid: str, pair: NoisyPair | FreshPair) -> PairCell:
    return PairCell({"grid": grid} | pair.settings, pair.draw)


def power_cells() -> Sequence[PairCell]:
    """Return the cells of `noise-power`, in which samples differ beyond noise."""
    known = [cell for cell in noise_power.cells() if "HIGGS" not in cell.settings["samples"]]
    return [PairCell(cell.settings, cell.draw) for cell in known]


def column_cells() -> Sequence[PairCell]:
    """Return cells with many columns, of which one, a tenth, or all differ beyond noise."""
    return [
        PairCell(
            {"samples": name, "n": n, "k": n, "d": d} | _NO_NOISE,
            partial(_many_columns, d=d, n=n, differing=differing, freedom=freedom),
        )
        for d, n in MANY_COLUMNS
        for name, differing, freedom in (
            ("one of the columns", 1, 30),
            ("a tenth of the columns", d // 10, 8),
            ("all columns", d, 5),
        )
    ]


def development_cells() -> tuple[Sequence[PairCell], Sequence[PairCell]]:
    """Return the cells that chose the constants: those of the level, and those of power."""
    level, power = (
        [_cell("development", pair) for pair in pairs] for pairs in ([*alike(), *_seen_pairs.pairs()], different())
    )
    return level, power
