"""The paper's models by their names, each with 75 frequencies in a layer.

>>> import uptonoise as un
>>> un.plrr(cv=5).first, un.ggrr().second
('phase', 'fourier')
"""

from __future__ import annotations

from typing import Any

from uptonoise.learning.ridge import BagRidgeCV


def plrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PLRR, linear ridge regression on phase features: ``BagRidgeCV.paper("plrr", **options)``."""
    return BagRidgeCV.paper("plrr", **options)


def glrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GLRR, linear ridge regression on Fourier features: ``BagRidgeCV.paper("glrr", **options)``."""
    return BagRidgeCV.paper("glrr", **options)


def lgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's LGRR, a Gaussian kernel between the means of bags: ``BagRidgeCV.paper("lgrr", **options)``."""
    return BagRidgeCV.paper("lgrr", **options)


def pgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PGRR, a Gaussian kernel between phase features: ``BagRidgeCV.paper("pgrr", **options)``."""
    return BagRidgeCV.paper("pgrr", **options)


def ggrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GGRR, a Gaussian kernel between Fourier features: ``BagRidgeCV.paper("ggrr", **options)``."""
    return BagRidgeCV.paper("ggrr", **options)
