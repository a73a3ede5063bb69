import numpy as np
import pandas as pd
import pytest
import torch

import uptonoise as un
from uptonoise import nets
from uptonoise.nets.inputs import picked_rows

from .helpers import BAGS, Y, gamma_bags, small


def test_a_two_dimensional_array_is_bags_of_one_row(rng):
    X = rng.uniform(-3, 3, size=(200, 2))
    y = np.sin(2 * X[:, 0])
    model = small(nets.FourierNetRegressor, n_frequencies=40, n_epochs=40, learning_rate=0.03).fit(X, y)
    assert model.score(X, y) > 0.8
    np.testing.assert_allclose(model.predict([row[None] for row in X[:9]]), model.predict(X[:9]), atol=1e-5)
    np.testing.assert_allclose(model.predict(X[:9, None, :]), model.predict(X[:9]), atol=1e-5)
    np.testing.assert_allclose(model.predict(torch.tensor(X[:9])), model.predict(X[:9]), atol=1e-5)


def test_columns_are_matched_by_name():
    bags, y = gamma_bags(30, d=2)
    frames = [pd.DataFrame(bag, columns=["a", "b"]) for bag in bags]
    model = small(nets.PhaseNetRegressor).fit(frames, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict([frame[["b", "a"]] for frame in frames]), model.predict(frames))
    with pytest.raises(ValueError, match="3 features, but PhaseNetRegressor is expecting 2"):
        model.predict(np.zeros((4, 3)))
    assert not hasattr(model.fit(bags, y), "feature_names_in_")


def test_labels_of_bags_are_the_targets():
    bags, y = gamma_bags(30)
    labelled = un.Bags(bags, labels=y)
    np.testing.assert_array_equal(
        small(nets.PhaseNetRegressor).fit(labelled).predict(bags),
        small(nets.PhaseNetRegressor).fit(bags, y).predict(bags),
    )


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (BAGS, None, "y must be given"),
        (BAGS, Y[:5], "one target for each of 20 bags"),
        (BAGS, np.full(20, 2.0), "y must vary"),
        (BAGS, np.where(np.arange(20) == 3, np.nan, Y), "y must be finite"),
        (BAGS, ["a"] * 20, "y must hold real numbers"),
        (BAGS[:1], Y[:1], "at least 2 bags"),
        (np.arange(20.0), Y, "array"),
        ([np.full((3, 1), np.nan)] * 20, Y, "X"),
        ([np.ones((3, 1))] * 20, Y, "rows of the samples are equal"),
        ([], [], "X"),
    ],
)
def test_bad_bags_and_targets(X, y, message):
    with pytest.raises(ValueError, match=message):
        small(nets.PhaseNetRegressor).fit(X, y)


def test_rows_of_picked_bags():
    rows, offsets = picked_rows(torch.arange(6.0), np.array([0, 1, 3, 6]), np.array([2, 0]))
    assert rows.tolist() == [3.0, 4.0, 5.0, 0.0]
    assert offsets.tolist() == [0, 3, 4]
