"""Pictures of results, with matplotlib (the extra ``plot``). Each function draws on the Axes given, or on a new figure.

>>> import matplotlib.pyplot as plt
>>> import numpy as np
>>> import uptonoise as un
>>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
>>> ax = un.mmd_test(X, Y, random_state=0).plot()
>>> plt.close()
"""

from uptonoise.plots.cards import card_of
from uptonoise.plots.characteristic import plot_characteristic, plot_phase, plot_phase_gap
from uptonoise.plots.densities import plot_calibration, plot_densities, plot_posterior
from uptonoise.plots.locations import plot_locations, plot_places
from uptonoise.plots.named_rows import plot_column_shares, plot_effect, plot_extra_noise, plot_ladder, plot_pvalues
from uptonoise.plots.overview import plot, plot_overview
from uptonoise.plots.results import plot_heat_map, plot_null, plot_phase_differences
from uptonoise.plots.style import (
    GREY,
    LOOKS,
    Look,
    add_legend,
    dress,
    height_of,
    require,
    rows_of_names,
    short_name,
    styled,
)
from uptonoise.plots.trends import plot_plan, plot_robustness, plot_timeline

__all__ = [
    "GREY",
    "LOOKS",
    "Look",
    "add_legend",
    "card_of",
    "dress",
    "height_of",
    "plot",
    "plot_calibration",
    "plot_characteristic",
    "plot_column_shares",
    "plot_densities",
    "plot_effect",
    "plot_extra_noise",
    "plot_heat_map",
    "plot_ladder",
    "plot_locations",
    "plot_null",
    "plot_overview",
    "plot_phase",
    "plot_phase_differences",
    "plot_phase_gap",
    "plot_places",
    "plot_plan",
    "plot_posterior",
    "plot_pvalues",
    "plot_robustness",
    "plot_timeline",
    "require",
    "rows_of_names",
    "short_name",
    "styled",
]
