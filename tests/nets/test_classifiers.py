import numpy as np
import pytest

from uptonoise import nets

from .helpers import BAGS, CLASSIFIERS, small


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("labels", [[False, True], ["a", "b", "c"], [3, 7, 9, 12]])
def test_classifiers_learn_two_and_more_classes(kind, labels):
    rng = np.random.default_rng(0)
    codes = np.arange(160) % len(labels)
    bags = [rng.gamma(1.0 + 4 * code, size=(40, 1)) for code in codes]
    y = np.array(labels)[codes]
    model = small(kind, n_epochs=15).fit(bags[:120], y[:120])
    assert model.score(bags[120:], y[120:]) > 0.8
    probabilities = model.predict_proba(bags)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_, sorted(labels))
    assert model.predict(bags).dtype == y.dtype


def test_class_weights_move_the_threshold():
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 10 == 0).astype(int)
    bags = [rng.gamma(2.0 + 0.5 * label, size=(15, 1)) for label in y]
    shares = {}
    for weight in (None, "balanced", {0: 1.0, 1: 50.0}):
        model = small(nets.FourierNetClassifier, n_epochs=10, class_weight=weight).fit(bags, y)
        shares[str(weight)] = model.predict(bags).mean()
    assert shares["None"] < 0.1 < shares["balanced"] < shares[str({0: 1.0, 1: 50.0})]
    heavy = small(nets.FourierNetClassifier, n_epochs=10).fit(bags, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert heavy.predict(bags).mean() > 0.1


def test_labels_unseen_in_training():
    y = np.arange(20) % 2
    model = small(nets.PhaseNetClassifier, warm_start=True).fit(BAGS, y)
    with pytest.raises(ValueError, match="y has labels that were not there in training: 2; the model knows 0, 1"):
        model.score(BAGS, y + 1)
    with pytest.raises(ValueError, match="not there in training: 2"):
        model.fit(BAGS, y + 1)
