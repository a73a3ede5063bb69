"""Targets of bags: given by id, and checked."""

import pytest

import uptonoise as un
from uptonoise.learning.targets import checked_targets, given_targets


def test_targets_by_id_come_in_the_order_of_the_bags():
    assert given_targets({"b": 2.0, "a": 1.0}, un.Bags([[[0.0]], [[1.0]]], ids=["a", "b"])) == [1.0, 2.0]


def test_a_wrong_number_of_targets_is_refused():
    with pytest.raises(ValueError, match=r"y must have one target for each of 3 bags; got shape \(2,\)"):
        checked_targets([1, 2], 3)
