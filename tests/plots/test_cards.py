from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise._util.drawing import DARK, LIGHT
from uptonoise.inference import Calibration, Posterior

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame(rng.gamma(2, size=(300, 2)), columns=[SCRIPT, "b"]) for _ in range(2))
    Y["b"] += 1
    comparison = un.compare(X, Y, names=["old", SCRIPT])
    groups = un.compare_groups({name: rng.exponential(size=200) for name in ("a", SCRIPT, "c")})
    monitor = un.Monitor(rng.exponential(size=(600, 2)), random_state=0)
    for _ in range(3):
        state = monitor.update(rng.exponential(size=(60, 2)))
    theta, uniform = rng.normal(size=400), rng.random((200, 1))
    ones = np.ones((200, 1))
    posterior = Posterior.of(theta, np.exp(-(theta**2)), [SCRIPT])
    curve = {"levels": np.array([0.0, 2.0]), "errors": np.array([[0.5, 0.5], [0.75, 1.0]])}
    return {
        "comparison": comparison,
        "sketches": un.compare(*comparison.sketches),
        "column": comparison.by_column[0],
        "input": comparison.input,
        "groups": groups,
        "pairs": groups.pairs,
        "phase": comparison.phase,
        "effect": comparison.effect,
        "noncentrality": comparison.phase.noncentrality,
        "noise": un.extra_noise(X, Y),
        "mmd": un.mmd_test(X, Y),
        "me": un.me_test(X, Y),
        "flip": un.flip_test(X[:60], Y[:60]),
        "phd": un.phd_test(X[:60], Y[:60]),
        "state": state,
        "history": monitor.history,
        "posterior": posterior,
        "calibration": Calibration(
            names=("mean",), truth=ones, means=ones, sds=ones, probabilities=uniform, ranks=np.floor(100 * uniform),
            n_draws=99, sizes=ones[:, 0],
        ),
        "plan": un.plan(X, Y, [20, 40], n_draws=10),
        "robustness": un.RobustnessCurve(**curve, baseline=1.5, metric="RMSE", kind="laplace"),
    }  # fmt: skip


NAMES = [
    *("comparison", "sketches", "column", "input", "groups", "pairs", "phase", "effect", "noncentrality", "noise"),
    *("mmd", "me", "flip", "phd", "state", "history", "posterior", "calibration", "robustness", "plan"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_result_has_a_card_with_a_sentence_numbers_and_one_picture(results, name):
    card = results[name]._repr_html_()
    root = ElementTree.fromstring(card)  # so that every element is closed, and nothing is text by mistake
    assert root.get("class") == "uptonoise-card"
    assert len(root.find("p").text) > 8
    assert len(root.findall(".//dd")) >= 1
    assert len(root.findall(".//svg")) == (name != "input")
    assert all(svg.get("aria-label") for svg in root.iter("svg"))
    assert not list(root.iter("script"))
    assert SCRIPT not in card
    assert not {"id", "href"} & {attribute for element in root.iter() for attribute in element.attrib}
    assert len(card) < 40_000


def test_the_card_says_what_the_result_says(results):
    text = "".join(ElementTree.fromstring(results["comparison"]._repr_html_()).itertext())
    assert results["comparison"].sentence in text
    assert "differ beyond noise?yes" in text
    state = "".join(ElementTree.fromstring(results["state"]._repr_html_()).itertext())
    assert results["state"].sentence in state


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize(
    ("colours", "grounds"), [(LIGHT, ["#ffffff", "#f4f5f7"]), (DARK, ["#14171b", "#1e2329"])], ids=["light", "dark"]
)
def test_lines_and_letters_have_a_contrast_of_4_5_at_least(colours, grounds):
    for name in ("first", "second", "third", "muted"):
        for ground in grounds:
            darker, lighter = sorted([luminance(colours[name]), luminance(ground)])
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, name
