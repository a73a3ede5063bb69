"""Draw the pictures of the pages into docs/_static: run ``.venv/bin/python docs/make_pictures.py``."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import uptonoise as un
from uptonoise import plots

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"


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


if __name__ == "__main__":
    main()
