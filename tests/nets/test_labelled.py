"""Rows of some bags, in the order of these bags."""

import numpy as np
import torch

from uptonoise.nets.labelled import picked_rows


def test_rows_of_picked_bags():
    rows, sizes = picked_rows(torch.arange(6.0), np.array([0, 1, 3, 6]), np.array([2, 0]))
    assert rows.tolist() == [3.0, 4.0, 5.0, 0.0]
    assert sizes.tolist() == [3, 1]
