import json
from pathlib import Path

import numpy as np
import pandas as pd

import uptonoise as un
from uptonoise.cli.bag_reader import Roles, read_bags
from uptonoise.cli.options import Answer, Reading
from uptonoise.cli.reader import opened

from .helpers import bad, run


class TestModels:
    def bags(self, n_bags=60, seed=0):
        generator = np.random.default_rng(seed)
        shapes = generator.uniform(1, 6, n_bags)
        rows = [
            pd.DataFrame({"patient": f"p{i}", "size": generator.gamma(shape, size=20), "y": shape, "clinic": "north"})
            for i, shape in enumerate(shapes)
        ]
        return pd.concat(rows).sample(frac=1, random_state=0), shapes

    def test_a_model_is_fitted_and_predicts(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        result = run("fit", "bags.csv", "--by", "patient", "--label", "y", "--model", "plrr", "-o", "model.npz")
        assert result.exit_code == 0
        assert "error (RMSE) on held-out bags" in result.stdout
        assert "left out: clinic (text)" in result.stderr
        new, shapes = self.bags(30, seed=1)
        new.drop(columns="y").to_parquet("new.parquet")
        predicted = run("predict", "model.npz", "new.parquet")
        assert predicted.exit_code == 0
        lines = [line.split(",") for line in predicted.stdout.splitlines()]
        assert lines[0] == ["patient", "prediction"]
        found = {name: float(value) for name, value in lines[1:]}
        errors = [found[f"p{i}"] - shape for i, shape in enumerate(shapes)]
        assert np.sqrt(np.mean(np.square(errors))) < 0.7 * shapes.std()
        assert run("predict", "model.npz", "new.parquet", "-o", "out.csv").exit_code == 0
        assert Path("out.csv").read_text() == predicted.stdout
        assert json.loads(run("predict", "model.npz", "new.parquet", "--json").stdout) == found

    def test_it_is_the_model_of_the_library(self, folder):
        frame, _ = self.bags(30)
        frame.to_csv("bags.csv", index=False)
        run("fit", "bags.csv", "--by", "patient", "--label", "y", "--model", "pgrr", "-o", "model.npz", "--seed", 2)
        bags = un.Bags.from_long(frame.drop(columns="clinic"), by="patient", label="y")
        expected = un.pgrr(random_state=2).fit(bags)
        np.testing.assert_allclose(un.BagRidgeCV.load("model.npz").predict(bags), expected.predict(bags), rtol=1e-6)

    def test_rows_in_any_order_go_to_their_bags(self, folder, monkeypatch):
        monkeypatch.setattr("uptonoise.cli.bag_reader.CHUNK_ROWS", 7)
        frame, _ = self.bags(9)
        frame["day"] = frame["patient"].str[1:].astype(int) % 2
        frame["sex"] = np.where(frame["day"] == 0, "f", "m")
        frame.to_csv("bags.csv", index=False)
        for by in (["patient"], ["day", "patient"]):
            expected = un.Bags.from_long(frame, by=by if len(by) > 1 else by[0], values=["size"], label="y")
            roles = Roles(by, "y", group="sex")
            with opened(None, Reading(), Answer()) as reader:
                choice = reader.choose("bags.csv", kept_apart=[*by, "y"])
                bags, groups = read_bags(reader, "bags.csv", choice._replace(columns=["size"]), roles)
            assert np.array_equal(bags.values, expected.values)
            assert bags.ids.tolist() == expected.ids.tolist()
            assert bags.labels.tolist() == expected.labels.tolist()
            assert groups.tolist() == [("f", "m")[int(str(bag).strip("')")[-1]) % 2] for bag in bags.ids]

    def test_a_model_against_noise(self, folder):
        self.bags()[0].to_csv("bags.csv", index=False)
        fit = ("fit", "bags.csv", "--by", "patient", "--label", "y", "--noise", 2)
        run(*fit, "--model", "phase", "-o", "model.npz")
        model = un.BagRidgeCV.load("model.npz")
        assert (model.first, model.amplitude, model.noise_range_) == ("phase", "shrunk", (0.0, 4.0))
        assert "--interval is for" in bad("predict", "model.npz", "bags.csv", "--interval", 0.9)

    def test_the_best_model_with_intervals(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        assert "largest noise 10" in run("fit", "bags.csv", "--by", "patient", "--label", "y", "-o", "model.npz").stdout
        bags = un.Bags.from_long(frame.drop(columns="clinic"), by="patient", label="y")
        model = un.BagRegressor.load("model.npz")
        lines = run("predict", "model.npz", "bags.csv", "--interval", 0.8).stdout.splitlines()
        assert lines[0] == "patient,prediction,low,high"
        predicted = np.array([[float(value) for value in line.split(",")[1:]] for line in lines[1:]])
        np.testing.assert_allclose(predicted[:, 0], model.predict(bags), rtol=1e-6)
        np.testing.assert_allclose(predicted[:, 1:], model.predict_interval(bags, 0.8), rtol=1e-6)

    def test_classes_by_two_columns_in_groups(self, folder):
        frame, shapes = self.bags()
        frame["kind"] = np.where(frame["y"] > np.median(shapes), "large", "small")
        frame["day"] = frame["patient"].str[1:].astype(int) % 3
        frame["ward"] = frame["patient"].str[1:].astype(int) // 10
        frame.drop(columns="y").to_csv("bags.csv", index=False)
        fit = ("fit", "bags.csv", "--by", "patient,day", "--label", "kind", "-o", "model.npz", "--group", "ward")
        assert "wrong classes on held-out bags" in run(*fit, "--classes", "--cv", 2).stdout
        lines = [line.split(",") for line in run("predict", "model.npz", "bags.csv").stdout.splitlines()]
        assert lines[0] == ["patient", "day", "prediction", "p(large)", "p(small)"]
        truth = dict(zip(frame["patient"], frame["kind"], strict=True))
        assert np.mean([truth[line[0]] == line[2] for line in lines[1:]]) > 0.8
        assert "p0 0" in json.loads(run("predict", "model.npz", "bags.csv", "--json").stdout)
        assert "--classes is for" in bad(*fit[:-2], "--classes", "--model", "phase", "--force")

    def test_bad_input(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        fit = ("fit", "bags.csv", "--by", "patient", "-o", "m.npz", "--label")
        assert "'nothing'" in bad(*fit, "nothing")
        assert "one label in each bag" in bad(*fit, "size")
        run(*fit, "y")
        frame.rename(columns={"patient": "person"}).to_csv("other.csv", index=False)
        assert "'patient'" in bad("predict", "m.npz", "other.csv")
        frame.rename(columns={"size": "weight"}).to_csv("other.csv", index=False)
        assert "'size'" in bad("predict", "m.npz", "other.csv")
        run("sketch", "a.csv", "-o", "s.npz")
        assert "not a model" in bad("predict", "s.npz", "bags.csv")
