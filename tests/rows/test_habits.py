"""Columns that look like indices or dates are named where nobody chose them."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.rows import DATE_TEXT, suspected_in_frame

NOTE = "used as measurements: id (looks like an index); year (looks like a date or time); leave out what is none"


def table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"id": rng.permutation(200), "year": 2023, "x": rng.gamma(2, size=200)})


def test_text_of_dates_and_times():
    texts = ("2024-01-31", "31.1.2024 12:30", "12:30", "1.5", "Berlin")
    assert [DATE_TEXT.fullmatch(text) is not None for text in texts] == [True, True, True, False, False]


def test_columns_of_text_are_no_suspects():
    frame = nw.from_native(pd.DataFrame({"site": ["a"], "year": [2024], "x": [0.5]}))
    assert suspected_in_frame(frame) == {"year": "looks like a date or time"}


def test_frames():
    record = un.compare(table(0), table(1)).input
    assert record.columns == ("id", "year", "x")
    assert record.notes == (NOTE,)
    assert un.compare(table(0)[["x"]], table(1)[["x"]]).input.notes == ()


def test_arrays_are_as_they_are():
    assert un.compare(table(0).to_numpy(), table(1).to_numpy()).input.notes == ()


@pytest.mark.filterwarnings("ignore")
def test_columns_with_another_role_are_no_measurements():
    record = un.compare(table(0)[["id", "x"]], table(1)[["id", "x"]], clusters="id").input
    assert record.columns == ("x",)
    assert record.notes == ()


def test_files(tmp_path):
    table(0).to_csv(tmp_path / "a.csv", index=False)
    table(1).to_parquet(tmp_path / "b.parquet", index=False)
    whole = un.compare(un.scan_csv(tmp_path / "a.csv"), un.scan_parquet(tmp_path / "b.parquet"))
    assert whole.input.notes == (NOTE,)
    chosen = [
        un.scan_csv(tmp_path / "a.csv", columns=["id", "x"]),
        un.scan_parquet(tmp_path / "b.parquet", columns=["id", "x"]),
    ]
    assert un.compare(*chosen).input.notes == ()


def test_groups():
    frame = pd.concat([table(0).assign(site="a"), table(1).assign(site="b")])
    assert un.compare_groups(frame, by="site").input.notes == (NOTE,)
    assert un.compare_groups(frame, by="site", missing="drop").input.notes == (NOTE,)
    assert un.compare_groups(frame, by="site", columns=["id", "x"]).input.notes == ()
