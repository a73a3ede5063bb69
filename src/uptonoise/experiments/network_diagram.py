"""How the phase and the Fourier network are built: the paper's Algorithm and Figure D.1.

Cosines and sines at learnt frequencies, their mean over the rows of a bag, the phases (in the phase network only), a
normalisation over bags, and a linear output. The shapes in the table are those of a network's own layers.
"""

from __future__ import annotations

import numpy as np

from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import Figure, Rows, new_figure
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.plots import LOOKS

VALUES = {"batch": 10, "rows": 100, "columns": 16, "frequencies": 30}


def shapes(number: int, values: Values, seed: int) -> list[Row]:
    """Return a row for each step, with its shape for one batch, of a network that was made for it."""
    from uptonoise.nets import PhaseNetRegressor

    b, n, p, m = (values[key] for key in ("batch", "rows", "columns", "frequencies"))
    generator = np.random.default_rng(seed)
    model = PhaseNetRegressor.paper(n_frequencies=m, n_epochs=1, device="cpu", progress=False, random_state=seed)
    model.fit(generator.normal(size=(b, n, p)), generator.normal(size=b))
    learnt = tuple(model.network_.layer.frequencies.shape)
    n_inputs, n_outputs = model.network_.output.in_features, model.network_.output.out_features
    if sorted(learnt) != sorted((m, p)) or n_inputs != 2 * m:
        raise RuntimeError(f"the network is not that of the paper: frequencies {learnt}, {n_inputs} features")
    steps = (
        ("bags", "b bags of n rows in p columns", f"{b} x {n} x {p}", "both"),
        ("frequencies", "X W, with W learnt", f"{b} x {n} x {m}", "both"),
        ("cosines and sines", "cos and sin", f"{b} x {n} x {2 * m}", "both"),
        ("mean pooling", "mean over the rows: phi", f"{b} x {2 * m}", "both"),
        ("phases", "phi over its amplitude", f"{b} x {2 * m}", "phase network only"),
        ("batch normalisation", "over the bags of a batch", f"{b} x {2 * m}", "both"),
        ("output", "linear", f"{b} x {n_outputs}", "both"),
    )
    columns = ("step", "layer", "what", "shape", "network")
    return [dict(zip(columns, (place, *step), strict=True)) for place, step in enumerate(steps)]


def draw(title: str, rows: Rows) -> Figure:
    """Draw a box for each step, with an arrow to the next one."""
    figure = new_figure(title, 7.0, 0.95 * len(rows) + 0.6)
    ax = figure.subplots()
    for place, row in enumerate(rows):
        y = -float(place)
        only = row["network"] != "both"
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": LOOKS[1 if only else 0].color}
        note = f" ({row['network']})" if only else ""
        ax.text(0.0, y, f"{row['layer']}{note}\n{row['what']}", ha="center", va="center", bbox=box, fontsize=9)
        ax.text(1.25, y, row["shape"], ha="left", va="center", fontsize=9, family="monospace")
        if place + 1 < len(rows):
            ax.annotate("", (0.0, y - 0.68), (0.0, y - 0.32), arrowprops={"arrowstyle": "->"})
    ax.set_xlim(-1.6, 2.4)
    ax.set_ylim(-len(rows) + 0.4, 0.6)
    ax.set_axis_off()
    return figure


EXPERIMENT = TaskExperiment(
    "network-diagram",
    __doc__.splitlines()[0],
    VALUES,
    tasks_of(shapes, lambda values: [()], once=True),
    lambda values, results: results[0],
    draw=draw,
)
