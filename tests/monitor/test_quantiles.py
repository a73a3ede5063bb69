"""Quantiles without a copy are those of numpy, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from uptonoise.monitor import difference
from uptonoise.monitor.difference import quantile_of

N = 40_000
RNG = np.random.default_rng(0)
COLUMNS = {
    "random": RNG.normal(size=N),
    "sorted": np.sort(RNG.gamma(0.5, size=N)),
    "few values": RNG.integers(0, 3, N).astype(float),
    "constant": np.full(N, 2.5),
    "mostly missing": np.where(RNG.random(N) < 0.9, np.nan, RNG.normal(size=N)),
    "strided": RNG.normal(size=(N, 3))[:, 1],
    "periodic, so that the sample misleads": np.where(np.arange(N) % 40 == 0, 100.0, RNG.normal(size=N)),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("level", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_quantiles_of_long_columns_are_exact(name, level, monkeypatch):
    monkeypatch.setattr(difference, "_FEW", 100)
    monkeypatch.setattr(difference, "_SAMPLED", 1_000)
    monkeypatch.setattr(difference, "CHUNK_ROWS", 3_001)
    column = COLUMNS[name]
    assert quantile_of(column, level) == np.quantile(column[np.isfinite(column)], level)
