import numpy as np

from uptonoise import nets

from .helpers import gamma_bags, small


def test_several_targets():
    bags, y = gamma_bags(60)
    model = small(nets.FourierNetRegressor, n_epochs=20).fit(bags, np.stack([y, -y, np.ones(60)], axis=1))
    predicted = model.predict(bags)
    assert predicted.shape == (60, 3)
    assert np.corrcoef(predicted[:, 1], -y)[0, 1] > 0.7
    np.testing.assert_allclose(predicted[:, 2], 1, atol=0.1)
    assert small(nets.FourierNetRegressor).fit(bags, y[:, None]).predict(bags).shape == (60, 1)
