from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import uptonoise as un


@pytest.fixture(autouse=True)
def agg():
    """No test shows a window, leaves a figure open or changes a setting."""
    with mpl.rc_context():
        plt.switch_backend("agg")
        before = dict(mpl.rcParams)
        yield
        assert dict(mpl.rcParams) == before
    plt.close("all")


@pytest.fixture(scope="session")
def samples():
    rng = np.random.default_rng(7)
    old = rng.gamma(2, size=(600, 3))
    new = rng.gamma(2, size=(500, 3)) + rng.normal(size=(500, 3))
    new[:, 1] = rng.normal(2, 1, size=500)
    names = ["energy", "p_T [$GeV$]", "_time"]
    return pd.DataFrame(old, columns=names), pd.DataFrame(new, columns=names)


@pytest.fixture(scope="session")
def comparison(samples):
    return un.compare(*samples, names=["old", "_new $1$"])


@pytest.fixture(scope="session")
def by_noise():
    rng = np.random.default_rng(0)
    old, new = rng.gamma(2, size=2_000), rng.gamma(2, size=2_000) + rng.normal(size=2_000)
    return un.compare(old, new, names=["old", "new"])


@pytest.fixture(scope="session")
def groups():
    rng = np.random.default_rng(1)
    return un.compare_groups({name: rng.normal(shift, size=200) for name, shift in (("a", 0), ("b", 0), ("c$", 3))})


@pytest.fixture(scope="session")
def sketches(samples):
    empty = un.Sketch.for_samples(*samples)
    return tuple(un.Sketch.like(empty).update(sample) for sample in samples)
