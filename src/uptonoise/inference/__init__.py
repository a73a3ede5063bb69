"""Approximate Bayesian computation with summaries of bags that are learnt (the paper's Appendix E).

Simulate from the prior, learn a regression of the parameters on the simulated bag, and weigh further simulations by how
near their predictions are to that of the observed bag. Noise moves phase features less than others.
"""

from typing import TYPE_CHECKING, Any

from uptonoise.inference.adapters import padded, pyabc_sumstat, sbi_embedding
from uptonoise.inference.base import UnlikeSimulationsWarning
from uptonoise.inference.budget import simulate
from uptonoise.inference.checks import Calibration, calibration
from uptonoise.inference.posterior import Posterior, SmallSampleWarning
from uptonoise.inference.simulation import SimulationError, Simulations
from uptonoise.inference.statistics import moments, quantile_powers
from uptonoise.inference.summaries import DRABC, FourierABC, PhaseABC, RejectionABC, SemiAutomaticABC

if TYPE_CHECKING:
    from uptonoise.inference.kernel_ridge import KernelBagRidge


def __getattr__(name: str) -> Any:
    if name == "KernelBagRidge":  # scikit-learn's estimators take a while to import
        from uptonoise.inference.kernel_ridge import KernelBagRidge

        return KernelBagRidge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DRABC",
    "Calibration",
    "FourierABC",
    "KernelBagRidge",
    "PhaseABC",
    "Posterior",
    "RejectionABC",
    "SemiAutomaticABC",
    "SimulationError",
    "Simulations",
    "SmallSampleWarning",
    "UnlikeSimulationsWarning",
    "calibration",
    "moments",
    "padded",
    "pyabc_sumstat",
    "quantile_powers",
    "sbi_embedding",
    "simulate",
]
