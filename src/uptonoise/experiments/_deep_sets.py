"""DeepSets (Zaheer et al. 2017) in torch, as a peer: a network on rows, their mean in each bag, a network on that.

Columns are standardised by their mean and SD in training. A tenth of the bags is kept aside, and the weights of the
epoch with the smallest loss on it are kept. With noise, a batch gets Gaussian noise of the sizes that our models are
trained with, and so do the bags kept aside.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning import NOISE_BOUNDS

_WIDTH = 64
_EPOCHS, _PATIENCE, _BATCH, _RATE, _DECAY = 150, 25, 32, 2e-3, 1e-4
_ASIDE = 0.1
_CLEAN_SHARE = 0.2
_JUDGED_COPIES = 5


class _DeepSets(nn.Module):
    def __init__(self, d: int, n_outputs: int) -> None:
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(d, _WIDTH), nn.SiLU(), nn.Linear(_WIDTH, _WIDTH), nn.SiLU())
        self.bag = nn.Sequential(nn.Linear(_WIDTH + 1, _WIDTH), nn.SiLU(), nn.Linear(_WIDTH, n_outputs))

    def forward(self, rows: Tensor, sizes: Tensor) -> Tensor:
        hidden = self.rows(rows)
        numbers = torch.repeat_interleave(sizes)
        sums = hidden.new_zeros(len(sizes), hidden.shape[1]).index_add(0, numbers, hidden)
        outputs: Tensor = self.bag(torch.cat([sums / sizes[:, None], sizes.log()[:, None].to(hidden)], dim=1))
        return outputs


class DeepSets:
    """DeepSets for numbers, or for classes, trained with or without noise."""

    def __init__(self, *, classes: bool, noise: bool, seed: int) -> None:
        self.classes, self.noise, self.seed = classes, noise, seed

    def fit(self, bags: Bags, y: NDArray[Any]) -> Self:
        """Train the network."""
        self.centre, self.scale = bags.values.mean(axis=0), np.maximum(bags.values.std(axis=0), 1e-12)
        if self.classes:
            self.names, codes = np.unique(y, return_inverse=True)
            targets = torch.from_numpy(codes)
        else:
            self.mean, self.deviation = float(y.mean()), float(y.std()) or 1.0
            targets = torch.tensor((y - self.mean) / self.deviation, dtype=torch.float32)
        self._train(self._rows(bags), targets, np.random.default_rng(self.seed))
        return self

    def predict(self, bags: Bags) -> Any:
        """Return the number or the class of each bag."""
        with torch.no_grad():
            outputs = self.network(*_batch(self._rows(bags), np.arange(len(bags))))
        if self.classes:
            return self.names[outputs.argmax(dim=1).numpy()]
        return outputs[:, 0].double().numpy() * self.deviation + self.mean

    def _rows(self, bags: Bags) -> list[Tensor]:
        return [torch.tensor((bag - self.centre) / self.scale, dtype=torch.float32) for bag in bags]

    def _train(self, rows: list[Tensor], targets: Tensor, generator: np.random.Generator) -> None:
        aside, picked = np.split(generator.permutation(len(rows)), [max(1, round(_ASIDE * len(rows)))])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.network = _DeepSets(rows[0].shape[1], len(self.names) if self.classes else 1)
        optimizer = torch.optim.Adam(self.network.parameters(), lr=_RATE, weight_decay=_DECAY)
        places = np.tile(aside, _JUDGED_COPIES if self.noise else 1)
        judged, sizes = self._noisy(*_batch(rows, places), generator)
        least, kept, last = np.inf, deepcopy(self.network.state_dict()), 0
        for epoch in range(_EPOCHS):
            for part in np.array_split(generator.permutation(picked), -(-len(picked) // _BATCH)):
                batch = self._noisy(*_batch(rows, part), generator)
                optimizer.zero_grad()
                self._loss(self.network(*batch), targets[part]).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            with torch.no_grad():
                loss = float(self._loss(self.network(judged, sizes), targets[places]))
            if loss < least:
                least, kept, last = loss, deepcopy(self.network.state_dict()), epoch
            elif epoch - last >= _PATIENCE:
                break
        self.network.load_state_dict(kept)

    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self.classes:
            return functional.cross_entropy(outputs, targets)
        return functional.mse_loss(outputs[:, 0], targets)

    def _noisy(self, rows: Tensor, sizes: Tensor, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Return rows with noise, of a size of its own in each bag."""
        if not self.noise:
            return rows, sizes
        noise: Floats = generator.standard_normal(tuple(rows.shape))
        bounds = np.log(NOISE_BOUNDS)
        bands = generator.integers(len(bounds) - 1, size=len(sizes))
        each = np.exp(generator.uniform(bounds[bands], bounds[bands + 1]))
        each[generator.random(len(sizes)) < _CLEAN_SHARE] = 0
        noise *= np.repeat(each, sizes.numpy())[:, None]
        return rows + torch.tensor(noise, dtype=rows.dtype), sizes


def _batch(rows: list[Tensor], places: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Return the rows of some bags one after the other, and the number of rows of each."""
    chosen = [rows[place] for place in places]
    return torch.cat(chosen), torch.tensor([len(bag) for bag in chosen])
