"""Bags from dicts, groups and long tables, picked by id, and back to a table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un

CELLS = pd.DataFrame(
    {
        "station": ["p", "q", "p", "p"],
        "day": [1, 1, 2, 1],
        "size": [1.0, 2.0, 3.0, 4.0],
        "mass": [5.0, 6.0, 7.0, 8.0],
    }
)


def test_dict_keys_are_ids():
    bags = un.Bags({"a": np.zeros((2, 1)), "b": np.ones((3, 1))})
    assert bags.ids.tolist() == ["a", "b"]
    assert bags["b"].shape == (3, 1)
    assert bags[["b", "a"]].ids.tolist() == ["b", "a"]
    with pytest.raises(KeyError, match="no bag with the id 'c'"):
        bags["c"]


def test_integers_are_places():
    bags = un.Bags({7: np.zeros((2, 1)), 0: np.ones((3, 1))})
    assert bags.ids.tolist() == [7, 0]
    assert bags[0].shape == (2, 1)


@pytest.mark.parametrize(
    "groups",
    [
        CELLS[["station", "size"]].groupby("station"),
        pl.DataFrame(CELLS[["station", "size"]]).group_by("station", maintain_order=True),
    ],
)
def test_groups_of_frames(groups):
    bags = un.Bags(groups)
    assert bags.ids.tolist() == ["p", "q"]
    assert bags.columns == ("size",)
    assert bags["p"].ravel().tolist() == [1.0, 3.0, 4.0]


@pytest.mark.parametrize("frame", [CELLS, pl.DataFrame(CELLS)])
def test_bags_by_two_columns(frame):
    bags = un.Bags.from_long(frame, by=["station", "day"])
    assert bags.ids.tolist() == [("p", 1), ("q", 1), ("p", 2)]
    assert bags["p", 1][:, 0].tolist() == [1.0, 4.0]
    assert bags[[("p", 2)]].ids.tolist() == [("p", 2)]
    assert un.Bags(CELLS.groupby(["station", "day"]))["p", 2].tolist() == [[3.0, 7.0]]
    with pytest.raises(ValueError, match="by must be"):
        un.Bags.from_long(frame, by=[])
    with pytest.raises(ValueError, match="no column 'hour'"):
        un.Bags.from_long(frame, by=["station", "hour"])


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_long_tables_come_back(backend):
    bags = un.Bags({"a": [[1.0, 2.0]], "b": [[3.0, 4.0], [5.0, 6.0]]}, labels=[0.5, 1.5], columns=["u", "v"])
    again = un.Bags.from_long(bags.to_frame(backend), by="bag", label="label")
    assert again == un.Bags(bags, ids=np.array(["a", "b"], dtype=object))
    with pytest.raises(ValueError, match="must not be names of columns"):
        bags.to_frame(backend, by="u")
