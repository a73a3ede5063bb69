"""The peer DeepSets, which needs torch."""

from importlib.util import find_spec

import numpy as np
import pytest

from uptonoise.bags import Bags

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


def bags_of(n_bags):
    generator = np.random.default_rng(0)
    shapes = generator.uniform(1, 6, n_bags)
    return Bags([generator.gamma(shape, size=(generator.integers(15, 30), 2)) for shape in shapes]), shapes


@pytest.mark.parametrize("noise", [False, True])
def test_deep_sets_learn_numbers_and_classes(noise, monkeypatch):
    from uptonoise.experiments import _deep_sets

    monkeypatch.setattr(_deep_sets, "_EPOCHS", 12)
    bags, y = bags_of(150)
    model = _deep_sets.DeepSets(classes=False, noise=noise, seed=0).fit(bags[:100], y[:100])
    assert np.mean((model.predict(bags[100:]) - y[100:]) ** 2) < 0.5 * y.var()
    again = _deep_sets.DeepSets(classes=False, noise=noise, seed=0).fit(bags[:100], y[:100])
    np.testing.assert_array_equal(model.predict(bags), again.predict(bags))
    names = np.where(y > 3, "many", "few")
    classes = _deep_sets.DeepSets(classes=True, noise=noise, seed=0).fit(bags[:100], names[:100])
    assert np.mean(classes.predict(bags[100:]) == names[100:]) > 0.75


def test_the_suite_runs_without_torch(monkeypatch):
    from uptonoise.experiments import prediction

    without = {name: model for name, model in prediction.REGRESSORS.items() if name == prediction.OURS}
    monkeypatch.setattr(prediction, "HAS_TORCH", False)
    monkeypatch.setattr(prediction, "REGRESSORS", without)
    values = {"tasks": ["skewness"], "bags": 20, "levels": [0.0]}
    with pytest.warns(UserWarning, match="DeepSets and our networks are left out"):
        tasks = prediction._tasks(values, 0, 1)
    assert [task.key for task in tasks] == ["skewness, ours / 0"]
