"""The paper's models by their names."""

from __future__ import annotations

from typing import Any

from uptonoise.learning.ridge import BagRidgeCV


def plrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PLRR: linear ridge regression on phase features, with 75 frequencies.

    The same as ``BagRidgeCV.paper("plrr")``. The defaults of :class:`BagRidgeCV` itself are more robust to noise.

    Parameters
    ----------
    **options
        Other parameters of :class:`BagRidgeCV`.

    Returns
    -------
    BagRidgeCV

    Examples
    --------
    >>> import uptonoise as un
    >>> un.plrr(cv=5).first, un.plrr().second
    ('phase', None)
    """
    return BagRidgeCV.paper("plrr", **options)


def glrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GLRR: linear ridge regression on Fourier features, with 75 frequencies.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.glrr().first, un.glrr().second
    ('fourier', None)
    """
    return BagRidgeCV.paper("glrr", **options)


def lgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's LGRR: a Gaussian kernel between the means of bags, by 75 frequencies.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.lgrr().first, un.lgrr().second
    ('mean', 'fourier')
    """
    return BagRidgeCV.paper("lgrr", **options)


def pgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PGRR: a Gaussian kernel between phase features, by 75 frequencies in each layer.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.pgrr().first, un.pgrr().second
    ('phase', 'fourier')
    """
    return BagRidgeCV.paper("pgrr", **options)


def ggrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GGRR: a Gaussian kernel between Fourier features, by 75 frequencies in each layer.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.ggrr().first, un.ggrr().second
    ('fourier', 'fourier')
    """
    return BagRidgeCV.paper("ggrr", **options)
