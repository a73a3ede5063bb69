"""A torch module from padded batches of bags to vectors, for engines that learn densities."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from uptonoise.nets import FourierLayer, PhaseLayer

_LAYERS = {"phase": PhaseLayer, "fourier": FourierLayer}


class BagEmbedding(nn.Module):
    """Phase or Fourier features of each bag of a padded batch, and a linear layer after them, or none.

    The arguments are those of :func:`~uptonoise.inference.sbi_embedding`.
    """

    def __init__(self, d: int, m: int, kind: str, n_outputs: int | None, **options: Any) -> None:
        super().__init__()
        if kind not in _LAYERS:
            raise ValueError(f"kind must be one of {', '.join(_LAYERS)}; got {kind!r}")
        self.layer = _LAYERS[kind](d, m, **options)
        self.output = (
            nn.Identity() if n_outputs is None else nn.Sequential(nn.LayerNorm(2 * m), nn.Linear(2 * m, n_outputs))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the embedding of each bag.

        Parameters
        ----------
        x : tensor of shape (n_bags, n_rows, d) or (n_bags, n_rows, d + 1)
            The bags; a further column is 1 for rows and 0 for padding.

        Returns
        -------
        tensor of shape (n_bags, n_outputs)
        """
        d = self.layer.frequencies.shape[1]
        if x.ndim != 3 or x.shape[2] not in (d, d + 1):
            raise ValueError(f"x must be of shape (n_bags, n_rows, {d} or {d + 1}); got {tuple(x.shape)}")
        mask = x[..., d] > 0.5 if x.shape[2] > d else None
        embedding: Tensor = self.output(self.layer(x[..., :d], mask=mask))
        return embedding
