"""Bags in several columns whose label shows in one direction only, which no column names."""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags

_REACH = 2.0


def make_direction_bags(n_bags: int, n_rows: int, n_columns: int, seed: int) -> tuple[Bags, Floats]:
    """Return bags that lie about places of their own, whose label is a wave in one direction.

    A bag's place is U(-2, 2) along the direction and N(0, 1) in all directions across; its rows are exponential about
    it, with mean 0 and standard deviation 1/2. The label is the sine of twice the place along the direction, which is
    that of the seed. One frequency along it tells the label; a frequency drawn at random also turns with the places
    across.
    """
    generator = np.random.default_rng(seed)
    turned = np.linalg.qr(generator.standard_normal((n_columns, n_columns)))[0]
    places = generator.standard_normal((n_bags, 1, n_columns))
    places[..., 0] = generator.uniform(-_REACH, _REACH, size=(n_bags, 1))
    rows = places + (generator.exponential(size=(n_bags, n_rows, n_columns)) - 1) / 2
    return Bags(rows @ turned), np.sin(2 * places[:, 0, 0])
