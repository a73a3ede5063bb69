"""Draw the pictures of the pages into docs/_static: run ``.venv/bin/python docs/make_pictures.py``."""

import csv
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import uptonoise as un
from uptonoise import plots
from uptonoise.experiments._seeded import by_model

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"
NETWORKS = ("PLRR", "shrunk PLRR", "GLRR", "phase network", "Fourier network", "phase network, against noise")


def save(axes: object, name: str) -> None:
    """Write the figure of some Axes, and close it."""
    figure = np.ravel(axes)[0].figure
    # Without a date or a version the same picture is the same file.
    figure.savefig(STATIC / name, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Draw them all."""
    mpl.use("agg")
    STATIC.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    old, new = rng.gamma(2, size=(3_000, 2)), rng.gamma(2, size=(3_000, 2)) + rng.normal(size=(3_000, 2))
    save(un.compare(old, new, names=["old", "new"]).plot(), "plots-overview.png")

    X, noisy = rng.chisquare(4, (2, 5_000)) / 4
    noisy = noisy + rng.normal(scale=0.5, size=5_000)
    _, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    options = {"names": ["X", "noisy"], "law": lambda t: (1 - 0.5j * t) ** -2, "frequencies": np.linspace(0, 6, 200)}
    plots.plot_characteristic(X, noisy, part="amplitude", ax=axes[0], **options)
    plots.plot_phase(X, noisy, centre=0, ax=axes[1], **options)
    save(axes, "plots-phase.png")

    X, Y = rng.normal(size=(2, 2_000, 2))
    Y[:300] = rng.normal([2, 2], 0.3, size=(300, 2))
    save(plots.plot_locations(un.me_test(X, Y, random_state=0), (X, Y)), "plots-locations.png")

    sites = {f"site {number}": rng.gamma(2 + 2 * (number % 4 == 3), size=400) for number in range(1, 13)}
    save(un.compare_groups(sites).plot(), "plots-heat-map.png")

    save(errors_of_networks(DOCS / "results" / "networks-runs.csv"), "networks.png")


def errors_of_networks(path: Path) -> object:
    """Return Axes with the error against noise of networks and ridge models, a band over seeds for each."""
    with path.open() as file:
        found = by_model(csv.DictReader(file))
    problems = list(dict.fromkeys(problem for problem, _ in found))
    _, axes = plt.subplots(1, len(problems), figsize=(6.5 * len(problems), 5), layout="constrained", squeeze=False)
    for problem, ax in zip(problems, axes[0], strict=True):
        for model in NETWORKS:
            measures = found[problem, model]
            curve = un.RobustnessCurve(
                levels=np.array([float(name.removeprefix("noise ")) for name in measures]),
                errors=np.array(list(measures.values())),
                baseline=1.0,
                metric="RMSE",
                kind="gaussian",
            )
            plots.plot_robustness(curve, label=model, ax=ax)
        ax.set_ylim(0, 2.5)
        ax.set_title(f"{problem}: error over that of predicting the mean", loc="left")
    return axes


if __name__ == "__main__":
    main()
