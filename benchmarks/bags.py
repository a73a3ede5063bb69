"""Learning on bags against the plain way of doing it, as ratios in one run.

python benchmarks/bags.py
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _measure import best_time, extra_megabytes, row
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

import uptonoise as un
from uptonoise.experiments._bag_peers import BOOSTED, REGRESSORS


def plain_phase_features(bags: un.Bags, W: np.ndarray) -> np.ndarray:
    """Return phase features bag by bag in float64, as one would write them down."""
    features = []
    for bag in bags:
        angles = bag @ W.T
        phi = np.cos(angles).mean(axis=0) + 1j * np.sin(angles).mean(axis=0)
        phases = phi / np.abs(phi)
        features.append(np.stack([phases.real, phases.imag], axis=-1).ravel())
    return np.asarray(np.array(features) / np.sqrt(len(W)))


def features() -> None:
    bags = un.Bags(np.random.default_rng(0).gamma(2.0, size=(20_000, 100, 3)))
    ours, shrunk = (un.PhaseFeatures(64, amplitude=kind, random_state=0) for kind in ("plain", "shrunk"))
    time_ours, time_shrunk = (best_time(partial(model.fit_transform, bags), 3) for model in (ours, shrunk))
    time_plain = best_time(lambda: plain_phase_features(bags, ours.frequencies_), 1)
    row(
        "PhaseFeatures, 20,000 bags x 100 x 3, 64 frequencies: times faster than bag by bag",
        f"{time_plain / time_ours:.1f}",
        ">= 10",
    )
    row("  seconds", f"{time_plain:.2f} {time_ours:.2f}")
    row("  the same with phases shrunk by their reliability, the default", f"{time_plain / time_shrunk:.1f}")
    for n_rows in (100, 1_000):
        extra = extra_megabytes(
            "import numpy as np\nimport uptonoise as un\n"
            f"bags = un.Bags(np.random.default_rng(0).gamma(2.0, size=(2_000, {n_rows}, 3)))\n"
            "features = un.PhaseFeatures(64, random_state=0).fit(bags[:10])",
            "features.transform(bags)",
        )
        row(f"  peak extra memory of 2,000 bags of {n_rows:,} rows, MB", f"{extra:.0f}")


def ridge() -> None:
    generator = np.random.default_rng(0)
    shapes = generator.uniform(1, 6, 9_000)
    bags = un.Bags(generator.gamma(shapes[:, None, None], size=(9_000, 50, 1)))
    scales, alphas = np.geomspace(0.25, 16, 10), np.geomspace(1e-6, 1e3, 20)
    ours = un.plrr(scale_factors=scales, alphas=alphas, random_state=0)
    time_ours = best_time(lambda: ours.fit(bags, shapes), 1)
    search = GridSearchCV(
        Pipeline([("first", un.PhaseFeatures(75, amplitude="plain", random_state=0)), ("ridge", Ridge())]),
        {"first__scale_factor": scales, "ridge__alpha": alphas},
        cv=KFold(3, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )
    time_search = best_time(lambda: search.fit(bags, shapes), 1)
    row(
        "plrr, 9,000 bags, 10 scales, 20 penalties, 3 folds: times faster than GridSearchCV",
        f"{time_search / time_ours:.1f}",
        ">= 20",
    )
    row("  seconds", f"{time_search:.1f} {time_ours:.2f}")


def many_bags(n_bags: int = 10_000) -> None:
    """Time the default model against boosted statistics that are trained with noise."""
    data = (
        "generator = np.random.default_rng(0)\n"
        f"shapes = generator.uniform(1, 6, {n_bags})\n"
        f"bags = un.Bags(generator.gamma(shapes[:, None, None], size=({n_bags}, 100, 5)))"
    )
    scope = {"np": np, "un": un}
    exec(data, scope)
    bags, shapes = scope["bags"], scope["shapes"]
    time_ours = best_time(lambda: un.BagRegressor(random_state=0).fit(bags, shapes), 1)
    time_peer = best_time(lambda: REGRESSORS[BOOSTED](0).fit(bags, shapes), 1)
    row(
        f"BagRegressor, {n_bags:,} bags x 100 x 5: times the time of boosted statistics with noise",
        f"{time_ours / time_peer:.1f}",
        "<= 3",
    )
    row("  seconds", f"{time_ours:.1f} {time_peer:.1f}")
    extra = extra_megabytes(
        f"import numpy as np\nimport uptonoise as un\n{data}", "un.BagRegressor(random_state=0).fit(bags, shapes)"
    )
    row("  peak extra memory, MB", f"{extra:.0f}", "< 2,000")


def main() -> None:
    row("", "measured", "bar")
    features()
    ridge()
    many_bags()


if __name__ == "__main__":
    main()
