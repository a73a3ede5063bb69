import numpy as np
import pandas as pd
import pytest

import uptonoise as un


def gamma_bags(n_bags=60, seed=0, d=2, sizes=(5, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(first="phase", second=None, **options):
    settings = {"n_frequencies": 15, "n_second": 20, "scale_factors": (0.5, 2.0), "second_scale_factors": (1.0, 3.0)}
    return un.BagRidgeCV(first, second, random_state=0, **(settings | options))


class TestFiles:
    @pytest.mark.parametrize(
        ("first", "second", "options"),
        [
            ("phase", None, {}),
            ("phase", None, {"amplitude": "shrunk", "noise_augmentation": 1.0}),
            ("mean", "fourier", {}),
            ("fourier", "fourier", {}),
        ],
    )
    def test_a_saved_model_predicts_the_same(self, tmp_path, first, second, options):
        bags, y = gamma_bags()
        model = small(first, second, **options).fit(bags, y)
        model.save(tmp_path / "m.npz")
        again = un.BagRidgeCV.load(tmp_path / "m.npz")
        np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
        assert again.best_params_ == model.best_params_
        assert again.first == first
        assert again.noise_range_ == model.noise_range_

    def test_columns_are_remembered(self, tmp_path):
        generator = np.random.default_rng(0)
        frame = pd.DataFrame({"p": np.repeat(np.arange(30), 10), "a": generator.gamma(2, size=300), "b": 1.0})
        bags = un.Bags.from_long(frame, by="p")
        model = small().fit(bags, np.arange(30.0))
        model.save(tmp_path / "m.npz")
        again = un.BagRidgeCV.load(tmp_path / "m.npz")
        turned = un.Bags.from_long(frame[["b", "p", "a"]], by="p")
        np.testing.assert_array_equal(again.predict(turned), model.predict(bags))
        with pytest.raises(ValueError, match="'a'"):
            again.predict(un.Bags.from_long(frame.rename(columns={"a": "c"}), by="p"))

    def test_other_files_are_refused(self, tmp_path):
        un.Sketch([[1.0]]).update([1.0, 2.0]).save(tmp_path / "s.npz")
        with pytest.raises(ValueError, match="not a model"):
            un.BagRidgeCV.load(tmp_path / "s.npz")
        (tmp_path / "t.npz").write_bytes(b"PK")
        with pytest.raises(ValueError, match="not a model"):
            un.BagRidgeCV.load(tmp_path / "t.npz")
