"""Pictures of results, with matplotlib (the extra ``plot``). Each function draws on the Axes given, or on a new figure.

>>> import matplotlib.pyplot as plt
>>> import numpy as np
>>> import uptonoise as un
>>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
>>> ax = un.mmd_test(X, Y, random_state=0).plot()
>>> plt.close()
"""

from uptonoise.plots._characteristic import plot_characteristic, plot_phase, plot_phase_gap
from uptonoise.plots._densities import plot_densities
from uptonoise.plots._heat_map import plot_heat_map
from uptonoise.plots._intervals import plot_effect, plot_extra_noise, plot_ladder, plot_pvalues
from uptonoise.plots._overview import plot, plot_overview
from uptonoise.plots._posterior import plot_calibration, plot_posterior
from uptonoise.plots._results import plot_column_shares, plot_locations, plot_null, plot_phase_differences
from uptonoise.plots._robustness import plot_robustness

__all__ = [
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
    "plot_posterior",
    "plot_pvalues",
    "plot_robustness",
]
