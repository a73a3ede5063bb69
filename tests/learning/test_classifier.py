import numpy as np

import uptonoise as un


def gamma_bags(n_bags=60, seed=0, d=2, sizes=(5, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(first="phase", second=None, **options):
    settings = {"n_frequencies": 15, "n_second": 20, "scale_factors": (0.5, 2.0), "second_scale_factors": (1.0, 3.0)}
    return un.BagRidgeCV(first, second, random_state=0, **(settings | options))


class TestClassifier:
    def test_bags_are_classified(self):
        bags, y = gamma_bags(90)
        labels = np.where(y > 3.5, "large", "small")
        model = un.make_bag_classifier(n_frequencies=20, random_state=0).fit(bags[:60], labels[:60])
        assert model.score(bags[60:], labels[60:]) > 0.8
        assert model.predict_proba(bags[60:]).shape == (30, 2)
        assert list(model.best_estimator_.named_steps) == ["first", "classifier"]

    def test_it_has_a_second_level_and_means(self):
        bags, y = gamma_bags(60)
        model = un.make_bag_classifier("mean", "fourier", n_second=20, random_state=0).fit(bags, y > 3.5)
        assert list(model.best_estimator_.named_steps) == ["first", "second", "classifier"]
        assert set(model.param_grid) == {"classifier__C"}


def test_phases_of_a_classifier_are_not_bounded():
    assert not un.make_bag_classifier("phase").estimator.named_steps["first"].bounded
    assert small().fit(*gamma_bags()).first_.bounded
