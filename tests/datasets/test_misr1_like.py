import numpy as np

from uptonoise.datasets import make_misr1_like


def test_it_has_the_shape_of_misr1():
    bags, y = make_misr1_like(30, random_state=0)
    rows = np.stack(list(bags))
    assert rows.shape == (30, 100, 16)
    assert (rows[:, :, 12:] == rows[:, :1, 12:]).all()
    assert (rows[:, :, :12].std(axis=1) > 10).all()
    np.testing.assert_array_equal(bags.labels, y)


def test_the_label_lies_in_the_means_of_columns_up_to_what_is_hidden():
    bags, y = make_misr1_like(1_500, 100, random_state=1)
    means = np.stack(list(bags)).mean(axis=1)
    design = np.column_stack([np.ones(len(y)), means, (means - means.mean(axis=0)) ** 2])
    coef = np.linalg.lstsq(design[:1_000], y[:1_000], rcond=None)[0]
    error = np.sqrt(np.mean((y[1_000:] - design[1_000:] @ coef) ** 2))
    assert 0.06 < error < 0.1
    assert y.std() > 0.15


def test_bags_differ_in_their_noise():
    bags, _ = make_misr1_like(200, 100, random_state=2)
    rows = np.stack(list(bags))[:, :, :12] / 80
    # What columns of one band have in common is not noise.
    apart = (rows[:, :, 0] - rows[:, :, 4]).var(axis=1)
    assert np.quantile(apart, 0.9) > 1.8 * np.quantile(apart, 0.1)
