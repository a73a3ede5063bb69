"""What the sweeps of bad calls share: values that no argument expects, and what must hold however a call ends."""

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

import uptonoise as un

CLEAR = (ValueError, FileNotFoundError, ImportError, un.inference.SimulationError)
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
    rng = np.random.default_rng(0)
    rare, wide = np.zeros((300, 2)), rng.normal(size=(300, 2))
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
        "long integers": moment + rng.integers(0, 50, size=(30, 2)),
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
    }


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


def faults_of(calls):
    return [fault for what, call in calls if (fault := refused_or_sensible(call, what)) is not None]
