"""Our summaries for the field's engines: pyABC's sequential Monte Carlo, and sbi's neural posterior estimation.

Both are used, not replaced: they keep their samplers, their schedules and their densities. Neither is a dependency.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uptonoise._util.random import RandomState
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.bags import Bags
from uptonoise.inference.base import BagABC
from uptonoise.rows import ArrayRows


def pyabc_sumstat(abc: BagABC, key: str = "data", pre: Any = None) -> Any:
    """Return a summary statistic for pyABC's distances: the learnt summary of a bag.

    pyABC's own ``PredictorSumstat`` flattens a bag, so that a prediction would depend on the order of its rows.

    Parameters
    ----------
    abc : PhaseABC, or another kind of inference
        After ``train()`` or ``fit()``.
    key : str
        Where the model puts the bag in the dict that it returns.
    pre : pyabc.sumstat.Sumstat, optional
        What to apply first; it must return a bag.

    Returns
    -------
    pyabc.sumstat.Sumstat
        For example for ``pyabc.PNormDistance(p=2, sumstat=...)``.
    """
    if not isinstance(abc, BagABC) or abc._summary is None:
        raise ValueError("abc must be a PhaseABC or another kind of inference after train() or fit()")
    return _sumstat_class()(abc, key, pre)


@cache
def _sumstat_class() -> Any:
    """Return a class below pyABC's own, made where pyABC is first needed."""
    try:
        from pyabc.sumstat import Sumstat
    except ImportError:
        raise ImportError("pyabc_sumstat needs pyABC: pip install pyabc") from None

    class BagSumstat(Sumstat):  # type: ignore[misc]
        """The learnt summary of the bag under a key of a model's output."""

        def __init__(self, abc: BagABC, key: str, pre: Any) -> None:
            super().__init__(pre=pre)
            self.abc = abc
            self.key = key

        def __reduce__(self) -> Any:
            return _made_again, (self.abc, self.key, self.pre, self.__dict__.copy())

        def __call__(self, data: Any) -> Floats:
            given = data if self.pre is None else self.pre(data)
            if isinstance(given, dict):
                if self.key not in given:
                    raise KeyError(f"the model's output has no {self.key!r}; it has {list(given)}")
                given = given[self.key]
            return np.asarray(self.abc.summary(Bags([ArrayRows(given, self.key).values]))[0])

        def get_ids(self) -> list[str]:
            """Return a name for each number of the summary."""
            width = len(self(self.x_0))
            own = self.abc.names_
            return list(own) if width == len(own) else [f"s_{number}" for number in range(width)]

    return BagSumstat


def _made_again(abc: BagABC, key: str, pre: Any, state: dict[str, Any]) -> Any:
    made = _sumstat_class()(abc, key, pre)
    made.__dict__.update(state)
    return made


def sbi_embedding(
    d: int,
    m: int = 100,
    *,
    kind: str = "phase",
    scale: ArrayLike = 1.0,
    frequencies: ArrayLike | None = None,
    n_outputs: int | None = None,
    random_state: RandomState = None,
) -> Any:
    """Return an embedding network for sbi: phases of bags at frequencies that are learnt with the posterior.

    It takes tensors of shape (n_bags, n_rows, d), or those of :func:`padded`, whose last column says which rows count.
    Give ``z_score_x="none"`` to the density's builder: it would take that column apart, and features have a scale.

    Parameters
    ----------
    d : int
        The number of columns.
    m : int
        The number of frequencies.
    kind : {"phase", "fourier"}
        Which features.
    scale : float or array
        The length of the frequencies to start from, such as ``median_scale(bags)``.
    frequencies : array of shape (m, d), optional
        Frequencies to start from instead, such as ``abc.regressor_.first_.frequencies_``.
    n_outputs : int, optional
        The number of outputs of a linear layer after a normalisation of the features; without it the 2m features are
        the outputs.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Returns
    -------
    torch module

    Examples
    --------
    >>> import torch
    >>> from uptonoise.inference import sbi_embedding
    >>> embedding = sbi_embedding(1, 10, n_outputs=5, random_state=0)
    >>> embedding(torch.randn(4, 30, 1, generator=torch.manual_seed(0))).shape
    torch.Size([4, 5])
    """
    from uptonoise.inference.embedding import BagEmbedding

    return BagEmbedding(d, m, kind, n_outputs, scale=scale, frequencies=frequencies, random_state=random_state)


def padded(bags: Any, n_rows: int | None = None) -> Any:
    """Return bags as one tensor, smaller ones filled up with rows of 0, and a last column of 1 for what is a row.

    Parameters
    ----------
    bags : Bags, list of arrays, or 3-D array
        The bags.
    n_rows : int, optional
        The number of rows; by default that of the largest bag.

    Returns
    -------
    torch tensor of shape (n_bags, n_rows, d + 1)

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import padded
    >>> padded([np.zeros((2, 1)), np.full((1, 1), 5.0)])[1]
    tensor([[5., 1.],
            [0., 0.]])
    """
    given = bags if isinstance(bags, Bags) else Bags(bags)
    most = int(given.sizes.max())
    n = most if n_rows is None else positive_int(n_rows, "n_rows")
    if n < most:
        raise ValueError(f"n_rows must be at least that of the largest bag, {most}; got {n_rows!r}")
    import torch

    filled = np.zeros((len(given), n, given.n_columns + 1), dtype=np.float32)
    filled[np.arange(n) < given.sizes[:, None]] = np.column_stack([given.values, np.ones(len(given.values))])
    return torch.from_numpy(filled)
