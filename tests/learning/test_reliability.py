import numpy as np
import pytest

import uptonoise as un
from uptonoise.learning import PhaseFeatures

SIZES = [30, 1, 57, 8, 200, 3]


@pytest.fixture
def arrays(rng):
    return [rng.gamma(2.0, size=(size, 3)) + number for number, size in enumerate(SIZES)]


@pytest.fixture
def bags(arrays):
    return un.Bags(arrays, ids=list("abcdef"), labels=range(6), columns=["u", "v", "w"])


class TestShrunkPhases:
    def bags(self, n_bags=150, n_rows=100, seed=0, noise=0.0):
        generator = np.random.default_rng(seed)
        shapes = generator.uniform(1, 6, size=(n_bags, 1, 1))
        rows = generator.gamma(shapes, size=(n_bags, n_rows, 2)) / shapes
        return rows + noise * generator.normal(size=rows.shape), shapes.ravel()

    def test_phases_are_shrunk_towards_the_mean_by_their_errors(self):
        bags, _ = self.bags()
        shrunk = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(bags)
        learnt = shrunk.reliability_
        phi = np.full((1, 30), 0.8) * learnt.mean / np.abs(learnt.mean) * np.exp(0.01j)
        error = (1 - 0.8**4) / (2 * 100 * 0.8**2)
        expected = learnt.spread / (learnt.spread + error)
        moved = learnt.shrunk(phi, np.array([100.0])) - learnt.mean
        np.testing.assert_allclose(np.abs(moved / (phi / 0.8 - learnt.mean)), expected[None], rtol=0.05)

    def test_bags_of_other_sizes_are_shrunk_as_those_of_fit(self):
        bags, _ = self.bags()
        several = un.Bags([*bags[:100], *bags[100:, :50]])
        learnt = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(several).reliability_
        assert learnt.rows.tolist() == [50, 100]
        phi = np.full((1, 30), 0.6 + 0.3j)
        away = {size: np.abs(learnt.shrunk(phi, np.array([size])) - learnt.mean) for size in (20.0, 50.0, 100.0, 1e6)}
        assert (away[50.0] < away[100.0]).all()
        # What is left is what the number of rows says of the amplitude.
        np.testing.assert_allclose(away[20.0], away[50.0], rtol=0.2)
        np.testing.assert_allclose(away[1e6], away[100.0], rtol=0.05)

    def test_bounded_phases_are_shrunk_no_further_than_nearly_all_of_fit(self):
        bags, _ = self.bags()
        free, bounded = (PhaseFeatures(30, bounded=one, random_state=0).fit(bags) for one in (False, True))
        found, sizes = free.characteristic(bags), np.full(150, 100.0)
        same = np.isclose(free.reliability_.kept(found.phi, sizes), bounded.reliability_.kept(found.phi, sizes))
        assert (same.mean(axis=0) > 0.89).all()
        assert np.median(same.mean(axis=0)) == pytest.approx(0.9, abs=0.01)
        lost = np.full((1, 30), 0.01 + 0j)
        assert np.mean(free.reliability_.kept(lost, sizes[:1]) < bounded.reliability_.kept(lost, sizes[:1])) > 0.9
        least = bounded.reliability_.kept(found.phi, sizes).min(axis=0)
        np.testing.assert_allclose(bounded.reliability_.kept(lost, sizes[:1])[0], least)

    def test_phases_lost_in_noise_go_to_the_mean(self):
        bags, _ = self.bags()
        shrunk = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(bags)
        mean = shrunk.reliability_.mean / np.sqrt(30)
        noisy, _ = self.bags(50, seed=1, noise=30.0)
        plain = PhaseFeatures(30, amplitude="plain", random_state=0).fit(bags)

        def distance(features):
            return np.linalg.norm(features.transform(noisy).view(complex) - mean, axis=1).mean()

        assert distance(shrunk) < 0.5 * distance(plain)

    @pytest.mark.parametrize("n_rows", [1, 2, 3])
    def test_bags_of_a_few_rows_work(self, n_rows):
        bags, _ = self.bags(30, n_rows)
        features = PhaseFeatures(10, amplitude="shrunk", random_state=0)
        found = features.fit_transform(bags)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(features.transform(bags), found, atol=1e-7)
        many = PhaseFeatures(10, amplitude="shrunk", random_state=0).fit(self.bags()[0])
        assert np.isfinite(many.transform(bags)).all()

    def test_constant_and_equal_bags_work(self):
        for bags in (np.ones((5, 4, 1)), np.zeros((3, 1, 2))):
            found = PhaseFeatures(5, amplitude="shrunk", scale=1.0, random_state=0).fit_transform(bags)
            assert np.isfinite(found).all()

    def test_an_unknown_amplitude_is_refused(self):
        with pytest.raises(ValueError, match="amplitude must be one of plain, shrunk"):
            PhaseFeatures(5, amplitude="soft").fit(self.bags(5)[0])

    def test_it_predicts_better_under_noise(self):
        bags, y = self.bags(300)
        errors = {}
        for amplitude in ("plain", "shrunk"):
            model = un.BagRidgeCV(PhaseFeatures(40, amplitude=amplitude, random_state=0), random_state=0)
            model.fit(un.Bags(bags[:200]), y[:200])
            noisy = bags[200:] + 1.5 * np.random.default_rng(1).normal(size=bags[200:].shape)
            errors[amplitude] = np.sqrt(np.mean((model.predict(un.Bags(noisy)) - y[200:]) ** 2))
        assert errors["shrunk"] < 0.8 * errors["plain"]
