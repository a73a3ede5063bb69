"""Thousands of generated bad calls: each is refused in clear words, or answered with numbers that make sense."""

from __future__ import annotations

import decimal
import fractions
import inspect
import json
import math
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 2)), RNG.exponential(size=(50, 2))
W = np.array([[0.5, 1.0], [1.0, -0.3], [0.2, 0.1]])
SKETCH = un.Sketch.for_samples(X, Y).update(X)
FRAME = pd.DataFrame(np.concatenate([X, Y]), columns=["a", "b"]).assign(site=np.repeat(["p", "q"], 50))
CLEAR = (ValueError, FileNotFoundError, ImportError)

OF_TWO = {
    "compare": un.compare,
    "phase_test": un.phase_test,
    "flip_test": un.flip_test,
    "me_test": un.me_test,
    "sme_test": un.sme_test,
    "mmd_test": un.mmd_test,
    "phd_test": un.phd_test,
    "extra_noise": un.extra_noise,
    "paired_difference_test": un.paired_difference_test,
    "phase_test_power": lambda X, Y, n=20, **options: un.phase_test_power(X, Y, n, **{"n_draws": 4} | options),
    "mmd": lambda X, Y, frequencies=W, **options: un.mmd(X, Y, frequencies, **options),
    "phd": lambda X, Y, frequencies=W, **options: un.phd(X, Y, frequencies, **options),
    "paired_mmd": lambda X, Y, frequencies=W, **options: un.paired_mmd(X, Y, frequencies, **options),
}
SIGNATURES = {name: getattr(un, name) for name in OF_TWO}
OF_ONE = {
    "ecf": lambda X: un.ecf(X, W),
    "phase": lambda X: un.phase(X, W),
    "Sketch.update": lambda X: un.Sketch(W).update(X),
    "Sketch.for_samples": lambda X: un.Sketch.for_samples(X),
    "median_scale": lambda X: un.median_scale(X),
    "median_scale per column": lambda X: un.median_scale(X, per_column=True),
    "Bags": lambda X: un.Bags([Y, X]),
    "compare_groups": lambda X: un.compare_groups({"p": Y, "q": X}),
    "BagRidgeCV": lambda X: un.BagRidgeCV().fit([X] * 8, np.arange(8.0)),
}
OTHERS = {
    "Sketch": (lambda **options: un.Sketch(**{"frequencies": W} | options), un.Sketch),
    "Sketch.for_samples": (lambda **options: un.Sketch.for_samples(X, **options), un.Sketch.for_samples),
    "sample_frequencies": (
        lambda **options: un.sample_frequencies(**{"n_frequencies": 3, "n_columns": 2} | options),
        un.sample_frequencies,
    ),
    "median_scale": (lambda **options: un.median_scale(X, **options), un.median_scale),
    "compare_groups": (lambda **options: un.compare_groups(FRAME, **{"by": "site"} | options), un.compare_groups),
    "pairwise_phase_test": (
        lambda **options: un.pairwise_phase_test({"p": SKETCH, "q": un.Sketch.like(SKETCH).update(Y)}, **options),
        un.pairwise_phase_test,
    ),
    "Bags": (lambda **options: un.Bags([X, Y], **options), un.Bags),
    "Bags.from_long": (lambda **options: un.Bags.from_long(FRAME, **{"by": "site"} | options), un.Bags.from_long),
    "blocks": (lambda **options: un.blocks(**{"n_rows": 10, "size": 2} | options), un.blocks),
    "scan_csv": (lambda **options: un.scan_csv("no such file.csv", **options), un.scan_csv),
    "scan_parquet": (lambda **options: un.scan_parquet("no such file.parquet", **options), un.scan_parquet),
    "ecf": (lambda **options: un.ecf(**{"X": X, "frequencies": W} | options), un.ecf),
    "Sketch.update": (lambda **options: un.Sketch(W).update(X, **options), un.Sketch.update),
    "Sketch.select": (lambda **options: SKETCH.select(**{"columns": ["x0"]} | options), un.Sketch.select),
}
GIVEN = {"self", "cls", "X", "Y", "pilot_X", "pilot_Y", "samples", "sketches", "groups", "frame", "path", "bags"}
VALUES = {
    "pandas NA": pd.NA,
    "NaN": math.nan,
    "infinite": math.inf,
    "negative": -1,
    "zero": 0,
    "a fraction": 0.5,
    "very large": 10**30,
    "a billion": 10**9,
    "tiny": 1e-320,
    "complex": 1j,
    "decimal": decimal.Decimal("0.1"),
    "a ratio": fractions.Fraction(1, 3),
    "text": "no such thing",
    "empty text": "",
    "control characters": "\x1b[31m\0",
    "bytes": b"x",
    "a list": [1, 2],
    "an empty list": [],
    "a nested list": [[1, [2]], 3],
    "an array": np.array([1.0, 2.0]),
    "a matrix": np.zeros((2, 2)),
    "an array of objects": np.array([None, "x"], dtype=object),
    "an empty array": np.empty(0),
    "a dict": {"a": 1},
    "a set": {1, 2},
    "an object": object(),
    "a function": len,
    "a type": int,
    "a frame": pd.DataFrame({"a": [1.0]}),
    "a series": pd.Series([1.0, 2.0]),
    "a polars series": pl.Series([1.0, None]),
    "a date": pd.Timestamp("2024-01-01"),
    "NaT": pd.NaT,
    "an iterator": None,  # made anew for each call
    "a generator": np.random.default_rng(0),
    "true": True,
    "numpy false": np.False_,
    "a pair of None": (None, None),
    "a pair of arrays": (np.ones(50), np.ones(3)),
    "a pair of text": ("a", "b"),
    "a pair of numbers": (1, 2),
    "nested None": [None, [None]],
}


def tricky_samples():
    """Return samples that look harmless, and what may be wrong with them."""
    rare, wide = np.zeros((300, 2)), RNG.normal(size=(300, 2))
    rare[3] = 1.0
    far, coded, huge = wide.copy(), wide.copy(), wide.copy()
    far[0, 0], coded[:5, 1], huge[0, 0] = 1e16, -999.0, 1.7e308
    moment = 1_700_000_000_000_000_000
    return {
        "constant": np.ones((30, 2)),
        "zeros": np.zeros((30, 2)),
        "one row": np.ones((1, 2)),
        "two rows": np.array([[0.0, 1.0], [2.0, 3.0]]),
        "rare events": rare,
        "rare events in small units": rare * 1e-200,
        "rare events in large units": rare * 1e200,
        "far outlier": far,
        "code for missing": coded,
        "largest float": huge,
        "subnormal": wide * 5e-324,
        "tiny": wide * 1e-300,
        "huge": wide * 1e140,
        "far away": wide + 1e15,
        "long integers": moment + RNG.integers(0, 50, size=(30, 2)),
        "unsigned": np.full((30, 2), 2**64 - 1, dtype=np.uint64),
        "half precision": wide.astype(np.float16),
        "booleans": wide > 0,
        "negative zero": np.where(wide > 0, -0.0, 0.0),
        "int128": pl.DataFrame({"a": [1, 2, 3], "b": [3, 4, 5]}, schema={"a": pl.Int128, "b": pl.Int128}),
        "nullable": pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]}),
        "decimal": pl.DataFrame({"a": pl.Series(["1.5", "2.5"]).cast(pl.Decimal(10, 2)), "b": [1.0, 2.0]}),
        "categories": pd.DataFrame({"a": pd.Categorical([1, 2]), "b": [1.0, 2.0]}),
        "dates": pd.DataFrame({"a": pd.to_datetime(["2024-01-01"]), "b": [1.0]}),
        "durations": pd.DataFrame({"a": pd.to_timedelta([1], "D"), "b": [1.0]}),
        "not aligned": np.frombuffer(b"\0" + wide.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(-1, 2),
        "other byte order": wide.astype(">f8"),
        "strided": np.repeat(wide, 3, axis=0)[::3],
        "long double": wide.astype(np.longdouble),
        "long double too large": np.full((5, 2), np.longdouble("1e4000")),
        "zero-dimensional": np.array(1.0),
        "text of numbers": [["1", "2"]],
        "a set": {1.0, 2.0},
        "a generator of bags": (row for row in np.zeros((2, 2, 2))),
        "sketch": SKETCH,
    }


TRICKY = tricky_samples()


def sensible(result):
    """Raise where a result has a p-value that is none, or is not what JSON can hold."""
    if hasattr(result, "to_dict"):
        json.dumps(result.to_dict(), allow_nan=False)
    if is_dataclass(result):
        for field in fields(result):
            value = getattr(result, field.name)
            if field.name in ("pvalue", "phase_pvalue") and value is not None:
                assert 0 < value <= 1, (field.name, value)
            if field.name in ("statistic",):
                assert not math.isnan(value), field.name
            if is_dataclass(value) and not isinstance(value, type):
                sensible(value)
    elif isinstance(result, np.ndarray) and result.dtype.kind in "fc":
        assert np.isfinite(result).all()
    elif isinstance(result, float):
        assert not math.isnan(result)


def refused_or_sensible(call, what):
    """Make a call, and say what is wrong with how it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
            sensible(result)
        except CLEAR as error:
            text = str(error)
            if not text.strip() or "ambiguous" in text or "broadcast" in text or "unpack" in text:
                return f"{what}: unclear {error!r}"
        except Exception as error:
            return f"{what}: {type(error).__name__} {error}"
    return None


def options_of(function):
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [parameter.name for parameter in parameters if parameter.kind in kinds and parameter.name not in GIVEN]


def value_of(kind):
    return iter([np.ones((3, 2))]) if kind == "an iterator" else VALUES[kind]


def option_calls():
    """Yield calls with one bad option each."""
    for name, function in OF_TWO.items():
        for option in options_of(SIGNATURES[name]):
            for kind in VALUES:
                yield f"{name}({option}={kind})", lambda f=function, o=option, k=kind: f(X, Y, **{o: value_of(k)})
    for name, (function, signature) in OTHERS.items():
        for option in options_of(signature):
            for kind in VALUES:
                yield f"{name}({option}={kind})", lambda f=function, o=option, k=kind: f(**{o: value_of(k)})


def sample_calls():
    """Yield calls with a tricky sample, or no sample at all, in each place."""
    samples = {**TRICKY, **{name: value for name, value in VALUES.items() if name != "an iterator"}}
    for kind, sample in samples.items():
        for name, function in OF_ONE.items():
            yield f"{name}({kind})", lambda f=function, s=sample: f(s)
        for name, function in OF_TWO.items():
            yield f"{name}({kind}, Y)", lambda f=function, s=sample: f(s, Y)
            yield f"{name}(X, {kind})", lambda f=function, s=sample: f(X, s)
        yield f"streams of {kind}", lambda s=sample: un.phase_test(iter([s]), iter([Y]))
        yield f"compared streams of {kind}", lambda s=sample: un.compare(iter([X]), iter([s]))


def weight_calls():
    """Yield calls with weights of any size and kind, alone and with clusters."""
    clusters = np.arange(50) // 4, np.arange(50) // 5
    sizes = (1e-320, 1e-101, 1e-100, 1e-46, 1e-42, 1e-10, 1.0, 1e10, 1e37, 1e40, 1e90, 1e100, 1e101, 1e300)
    for first in sizes:
        for second in sizes:
            weights = np.full(50, first), np.full(50, second)
            yield f"weights {first:g}, {second:g}", lambda w=weights: un.phase_test(X, Y, weights=w)
            options = {"weights": weights, "clusters": clusters}
            yield f"clusters, weights {first:g}, {second:g}", lambda o=options: un.phase_test(X, Y, **o)
            mixed = np.r_[np.full(25, first), np.full(25, second)]
            yield f"mixed weights {first:g}, {second:g}", lambda w=mixed: un.extra_noise(X, Y, weights=(w, None))
            yield f"ecf, weights {first:g}, {second:g}", lambda w=mixed: un.ecf(X, W, w)


FAMILIES = {"options": option_calls, "samples": sample_calls, "weights": weight_calls}


def faults_of(calls):
    return [fault for what, call in calls if (fault := refused_or_sensible(call, what)) is not None]


@pytest.mark.parametrize("family", FAMILIES)
def test_some_bad_calls(family):
    calls = list(FAMILIES[family]())
    assert not faults_of(calls[:: max(1, len(calls) // 40)])


@pytest.mark.slow
def test_there_are_thousands_of_bad_calls():
    assert sum(1 for family in FAMILIES.values() for _ in family()) >= 6_000


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", range(8))
def test_all_bad_calls(family, part):
    assert not faults_of(list(FAMILIES[family]())[part::8])
