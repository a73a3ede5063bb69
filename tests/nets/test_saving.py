import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise import nets

from .helpers import gamma_bags, small


@pytest.mark.parametrize(
    "model",
    [
        small(nets.PhaseNetRegressor, shrinkage=1.0, bias=True, random_state=np.random.default_rng(0)),
        small(nets.FourierNetRegressor, quantiles=(0.2, 0.8), normalisation=None, scale=[2.0]),
        small(nets.PhaseNetClassifier, class_weight={"hi": 2.0, "lo": 1.0}, frequencies=np.ones((3, 1))),
        small(nets.FourierNetClassifier),
    ],
)
def test_save_and_load(model, tmp_path):
    bags, y = gamma_bags(40)
    y = y if "quantiles" in model.get_params() else np.where(y > 3, "hi", "lo").astype(object)
    model.fit([pd.DataFrame(bag, columns=["size"]) for bag in bags], y)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    np.testing.assert_array_equal(again.amplitudes(bags), model.amplitudes(bags))
    for name in ("loss", "validation_loss"):
        np.testing.assert_array_equal(again.history_[name], model.history_[name])
    assert again.best_epoch_ == model.best_epoch_
    assert again.feature_names_in_.tolist() == ["size"]
    if hasattr(model, "classes_"):
        assert again.class_weight == model.class_weight
        assert again.predict(bags).dtype == model.predict(bags).dtype
    again.set_params(warm_start=True).fit(bags, y)


def test_load_says_what_is_wrong_with_a_file(tmp_path, monkeypatch):
    bags, y = gamma_bags(20)
    path = tmp_path / "model.npz"
    model = small(nets.PhaseNetRegressor).fit(bags, y)
    model.save(path)
    with pytest.raises(ValueError, match=r"holds a PhaseNetRegressor; use PhaseNetRegressor\.load"):
        nets.FourierNetRegressor.load(path)
    un.plrr(random_state=0).fit(bags, y).save(tmp_path / "ridge.npz")
    with pytest.raises(ValueError, match="is not a network that uptonoise saved"):
        nets.PhaseNetRegressor.load(tmp_path / "ridge.npz")
    (tmp_path / "broken.npz").write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match="truncated"):
        nets.PhaseNetRegressor.load(tmp_path / "broken.npz")
    monkeypatch.setattr("uptonoise.nets.saving._VERSION", 3)
    model.save(path)
    monkeypatch.setattr("uptonoise.nets.saving._VERSION", 2)
    with pytest.raises(ValueError, match=r"version 3 of the network format.* reads up to 2"):
        nets.PhaseNetRegressor.load(path)
    with pytest.raises(ValueError, match="numbers and strings"):
        model.set_params(progress=object()).save(path)
