"""Samples whose rows come in clusters: what the experiments on clusters draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags

Sizes = Literal["20 each", "5 to 60", "a third in one", "50 each"]
Noise = Literal["none", "own", "shared"]

_SHAPE = 2.0  # of the gamma distribution of both parts of the signal


class Clusters(NamedTuple):
    """How a sample in clusters is drawn.

    Attributes
    ----------
    number : int
        How many clusters there are.
    sizes : str
        How many rows they have. "a third in one": 20 each, and one with a third of all rows.
    correlation : float
        The intraclass correlation: the part of the variance that the rows of a cluster share.
    d : int
        The number of columns.
    noise : str
        Gaussian noise as large as the signal: "none", "own" for each row, or "shared" within each cluster.
    shape : float
        The shape of the gamma distribution of the rows' own part; its mean and variance stay as they are.
    shift : float
        What is added to all rows.
    """

    number: int
    sizes: Sizes = "20 each"
    correlation: float = 0.1
    d: int = 1
    noise: Noise = "none"
    shape: float = _SHAPE
    shift: float = 0.0

    def draw(self, generator: np.random.Generator) -> Bags:
        """Draw a sample, one bag for each cluster.

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise.experiments._clustered import Clusters
        >>> Clusters(10, "5 to 60").draw(np.random.default_rng(0)).sizes.sum() > 50
        np.True_
        """
        if self.sizes == "5 to 60":
            sizes = generator.integers(5, 61, self.number)
        else:
            sizes = np.full(self.number, 50 if self.sizes == "50 each" else 20)
        if self.sizes == "a third in one":
            sizes[0] = sizes[1:].sum() // 2
        cluster = np.repeat(np.arange(self.number), sizes)
        common = _standard_gamma(generator, _SHAPE, (self.number, self.d))[cluster]
        own = _standard_gamma(generator, self.shape, (len(cluster), self.d))
        rows = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * own + self.shift
        if self.noise == "own":
            rows += generator.standard_normal(rows.shape)
        elif self.noise == "shared":
            rows += generator.standard_normal((self.number, self.d))[cluster]
        return Bags(np.split(rows, np.cumsum(sizes)[:-1]))


def draws_of(X: Clusters, Y: Clusters) -> Callable[[np.random.Generator], Any]:
    """Return what draws two such samples."""
    return lambda generator: (X.draw(generator), Y.draw(generator))


def _standard_gamma(generator: np.random.Generator, shape: float, size: tuple[int, int]) -> Floats:
    """Draw from a gamma distribution with mean 0 and variance 1."""
    return np.asarray((generator.gamma(shape, size=size) - shape) / np.sqrt(shape))
