"""One sweep: every bad input to every public function is a ValueError that names the argument."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import uptonoise as un

W = np.array([[0.5, 1.0], [1.0, -0.3], [0.2, 0.1]])
GOOD = np.random.default_rng(0).normal(size=(50, 2))

# Functions of one sample; a new function joins by a line here or below.
OF_ONE = {
    "ecf": lambda X: un.ecf(X, W),
    "phase": lambda X: un.phase(X, W),
    "Sketch.update": lambda X: un.Sketch(W).update(X),
    "median_scale": lambda X: un.median_scale(X),
    "Bags": lambda X: un.Bags([GOOD, X]),
}
OF_TWO = {
    "mmd": lambda X, Y: un.mmd(X, Y, W),
    "phd": lambda X, Y: un.phd(X, Y, W),
    "paired_mmd": lambda X, Y: un.paired_mmd(X, Y, W),
    "median_scale": lambda X, Y: un.median_scale(X, Y),
    "me_test": un.me_test,
    "flip_test": un.flip_test,
    "phase_test": un.phase_test,
    "phase_test up to a shift": lambda X, Y: un.phase_test(X, Y, invariant_to="noise+shift"),
    "phase_test_power": lambda X, Y: un.phase_test_power(X, Y, 50, n_draws=2),
    "extra_noise": un.extra_noise,
    "sme_test": un.sme_test,
    "phd_test": un.phd_test,
    "mmd_test": un.mmd_test,
    "paired_difference_test": un.paired_difference_test,
}
WITH_FREQUENCIES = {
    "ecf": lambda frequencies: un.ecf(GOOD, frequencies),
    "phase": lambda frequencies: un.phase(GOOD, frequencies),
    "Sketch.update": lambda frequencies: un.Sketch(frequencies).update(GOOD),
    "mmd": lambda frequencies: un.mmd(GOOD, GOOD, frequencies),
    "phd": lambda frequencies: un.phd(GOOD, GOOD, frequencies),
    "paired_mmd": lambda frequencies: un.paired_mmd(GOOD, GOOD, frequencies),
    "phd_test": lambda frequencies: un.phd_test(GOOD, GOOD, frequencies=frequencies),
    "phase_test": lambda frequencies: un.phase_test(GOOD, GOOD, frequencies=frequencies),
    "extra_noise": lambda frequencies: un.extra_noise(GOOD, GOOD, frequencies=frequencies),
    "flip_test": lambda frequencies: un.flip_test(GOOD, GOOD, frequencies=frequencies),
    "mmd_test": lambda frequencies: un.mmd_test(GOOD, GOOD, frequencies=frequencies, method="fourier"),
}
WITH_WEIGHTS = {
    "ecf": lambda weights: un.ecf(GOOD, W, weights),
    "phase": lambda weights: un.phase(GOOD, W, weights),
    "Sketch.update": lambda weights: un.Sketch(W).update(GOOD, weights=weights),
    "phase_test": lambda weights: un.phase_test(GOOD, GOOD, weights=(weights, None)),
    "extra_noise": lambda weights: un.extra_noise(GOOD, GOOD, weights=(weights, None)),
    "ecf of bags": lambda weights: un.ecf(un.Bags([GOOD[:20], GOOD[20:]]), W, weights),
}
WITH_PRECISION = {
    "ecf": lambda precision: un.ecf(GOOD, W, precision=precision),
    "phase": lambda precision: un.phase(GOOD, W, precision=precision),
    "Sketch": lambda precision: un.Sketch(W, precision=precision),
    "mmd": lambda precision: un.mmd(GOOD, GOOD, W, precision=precision),
    "phd": lambda precision: un.phd(GOOD, GOOD, W, precision=precision),
    "paired_mmd": lambda precision: un.paired_mmd(GOOD, GOOD, W, precision=precision),
}

WITH_RANDOM_STATE = {
    "sample_frequencies": lambda random_state: un.sample_frequencies(2, 2, random_state=random_state),
    "median_scale": lambda random_state: un.median_scale(GOOD, random_state=random_state),
    "me_test": lambda random_state: un.me_test(GOOD, GOOD, random_state=random_state),
    "sme_test": lambda random_state: un.sme_test(GOOD, GOOD, random_state=random_state),
    "phase_test": lambda random_state: un.phase_test(GOOD, GOOD, random_state=random_state),
    "phase_test_power": lambda random_state: un.phase_test_power(GOOD, GOOD, 50, n_draws=2, random_state=random_state),
    "extra_noise": lambda random_state: un.extra_noise(GOOD, GOOD, random_state=random_state),
    "flip_test": lambda random_state: un.flip_test(GOOD, GOOD, random_state=random_state),
    "phd_test": lambda random_state: un.phd_test(GOOD, GOOD, random_state=random_state),
    "mmd_test": lambda random_state: un.mmd_test(GOOD, GOOD, random_state=random_state),
    "make_chi2_samples": lambda random_state: un.datasets.make_chi2_samples(5, random_state=random_state),
}

FRAME = pd.DataFrame({"a": [1.0, 2.0], "site": ["x", "y"]})
BAD_SAMPLES = {
    "NaN": (np.array([[1.0, np.nan], [0.0, 1.0]]), "NaN"),
    "infinite": (np.array([[1.0, 2.0], [-np.inf, 1.0]]), "inf"),
    "no rows": (np.zeros((0, 2)), "no rows"),
    "no columns": (np.zeros((3, 0)), "column"),
    "empty frame": (pd.DataFrame({"a": [], "b": []}, dtype=float), "no rows"),
    "frame without columns": (pd.DataFrame(), "column"),
    "text column": (FRAME, "'site'"),
    "text column, polars": (pl.DataFrame(FRAME.to_dict("list")), "'site'"),
    "doubled column": (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "column"),
    "complex": (np.ones((3, 2), dtype=complex), "real numbers"),
    "objects": (np.array([[1, "a"]], dtype=object), "real numbers"),
    "strings": (np.array([["1", "2"]]), "real numbers"),
    "dates": (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), "real numbers"),
    "records": (np.zeros(3, dtype=[("a", float), ("b", float)]), "real numbers"),
    "ragged lists": ([[1.0, 2.0], [3.0]], "array of numbers"),
    "sparse": (csr_array(np.ones((3, 2))), "toarray"),
    "masked": (np.ma.masked_array(np.ones((3, 2)), mask=np.eye(3, 2, dtype=bool)), "masked"),
    "four dimensions": (np.zeros((2, 2, 2, 2)), "dimensions"),
    "None": (None, "None"),
    "a string": ("file.csv", "(str|path)"),
    "a number": (3.0, "dimensions"),
    "a dict": ({"a": [1.0]}, "dict"),
    "an empty iterator": (iter([]), "iterator"),
    "an iterator of nothing": (iter([np.zeros((0, 2))]), "no rows"),
}


@pytest.mark.parametrize("function", OF_ONE)
@pytest.mark.parametrize("bad", BAD_SAMPLES)
def test_one_sample(function, bad):
    sample, match = BAD_SAMPLES[bad]
    if bad.startswith("an "):  # iterators are read once, by whichever case comes first
        sample = iter([]) if "empty" in bad else iter([np.zeros((0, 2))])
    argument = r"bags" if function == "Bags" else "X"
    with pytest.raises(ValueError, match=f"{argument}.*{match}"):
        OF_ONE[function](sample)


@pytest.mark.parametrize("function", OF_TWO)
@pytest.mark.parametrize("bad", [name for name in BAD_SAMPLES if not name.startswith("an ")])
@pytest.mark.parametrize("place", ["X", "Y"])
def test_two_samples(function, bad, place):
    sample, match = BAD_SAMPLES[bad]
    samples = (sample, GOOD) if place == "X" else (GOOD, sample)
    argument = {"X": r"samples\[0\]", "Y": r"samples\[1\]"}[place] if function == "median_scale" else place
    with pytest.raises(ValueError, match=f"{argument}.*{match}"):
        OF_TWO[function](*samples)


@pytest.mark.parametrize("function", OF_TWO)
def test_two_samples_with_other_columns(function):
    with pytest.raises(ValueError, match="columns"):
        OF_TWO[function](GOOD, GOOD[:, :1])
    with pytest.raises(ValueError, match=r"lacks \['b'\] and has \['c'\]"):
        OF_TWO[function](pd.DataFrame(GOOD, columns=["a", "b"]), pd.DataFrame(GOOD, columns=["a", "c"]))


@pytest.mark.parametrize("function", [name for name in OF_TWO if name != "median_scale"])
def test_a_sample_is_not_compared_with_bags(function):
    message = "both samples must have clusters, or none|Y must be one sample; got 2 bags"
    with pytest.raises(ValueError, match=message):
        OF_TWO[function](GOOD, [GOOD, GOOD])


@pytest.mark.parametrize("function", WITH_FREQUENCIES)
@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((3, 5)),
        np.zeros((0, 2)),
        np.zeros((3, 0)),
        np.zeros((1, 2, 2)),
        np.array(1.0),
        np.array([1.0, 2.0]),
        np.array([[np.nan, 1.0]]),
        np.array([[np.inf, 1.0]]),
        np.ones((2, 2), dtype=complex),
        np.array([["a", "b"]]),
        "gaussian",
        [[1.0, 2.0], [3.0]],
        pd.DataFrame({"a": [1.0], "b": [2.0]}),
    ],
    ids=str,
)
def test_frequencies(function, bad):
    with pytest.raises(ValueError, match=r"frequencies"):
        WITH_FREQUENCIES[function](bad)


@pytest.mark.parametrize("function", WITH_WEIGHTS)
@pytest.mark.parametrize(
    "bad",
    [
        np.ones(49),
        np.ones((50, 1)),
        -np.ones(50),
        np.zeros(50),
        np.full(50, np.nan),
        np.full(50, np.inf),
        np.full(50, 1e200),
        np.full(50, 1e-200),
        np.ones(50, dtype=complex),
        "weight",
        1.0,
    ],
    ids=lambda bad: f"{np.ravel(bad)[0]}-{np.shape(bad)}",
)
def test_weights(function, bad):
    with pytest.raises(ValueError, match="weights"):
        WITH_WEIGHTS[function](bad)


def test_weights_that_vanish_in_one_bag_name_it():
    bags = un.Bags([GOOD[:20], GOOD[20:]], ids=["p", "q"])
    with pytest.raises(ValueError, match="bag 'q'"):
        un.ecf(bags, W, np.r_[np.ones(20), np.zeros(30)])


@pytest.mark.parametrize("function", WITH_RANDOM_STATE)
@pytest.mark.parametrize("bad", [-1, "0", 1.5, True])
def test_random_state(function, bad):
    with pytest.raises(ValueError, match="random_state must be"):
        WITH_RANDOM_STATE[function](bad)


@pytest.mark.parametrize("function", WITH_PRECISION)
def test_precision(function):
    with pytest.raises(ValueError, match="precision must be one of fast, float64; got 'half'"):
        WITH_PRECISION[function]("half")


@pytest.mark.parametrize("change", [{"columns": ["a"]}, {"columns": ["a", "a"]}, {"columns": "ab"}])
def test_sketch_columns(change):
    with pytest.raises(ValueError, match="columns"):
        un.Sketch(W, **change)


@pytest.mark.parametrize("centre", [[1.0], [np.nan, 1.0], 3.0, "ab"])
def test_sketch_centre(centre):
    with pytest.raises(ValueError, match="centre"):
        un.Sketch(W, centre=centre)


@pytest.mark.parametrize("function", OF_ONE)
def test_what_just_works(function):
    """Integers, float32, Fortran order, views and read-only arrays are no bad input."""
    whole = np.round(10 * GOOD).astype(np.int16)
    read_only = GOOD.copy()
    read_only.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnreliablePhaseWarning)
        for good in (whole, GOOD.astype(np.float32), np.asfortranarray(GOOD), GOOD[::3], GOOD[:, ::-1], read_only):
            OF_ONE[function](good)
