"""Training of networks on bags against a straightforward padded torch implementation, as a ratio in one run.

python benchmarks/networks.py [cpu | cuda]

Bags with log-uniform sizes from 10 to 1,000 rows, both ways in mini-batches of the same number of bags, and with the
same layers, optimiser and penalties; on the GPU where torch sees one, unless "cpu" is asked for.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from _measure import interleaved, row
from torch import nn

import uptonoise as un
from uptonoise.datasets import make_gamma_bags
from uptonoise.nets import PhaseNetRegressor

N_BAGS, N_COLUMNS, N_FREQUENCIES, BATCH = 2_000, 3, 64, 32
SETTINGS: dict[str, Any] = {"learning_rate": 0.01, "frequency_penalty": 1e-2, "output_penalty": 1e-3}


class PaddedPhaseNetwork(nn.Module):
    """Phase features of padded bags with a mask, batch normalisation and a linear output, as one would write it."""

    def __init__(self, d: int, m: int) -> None:
        super().__init__()
        self.frequencies = nn.Parameter(torch.randn(m, d))
        self.norm = nn.BatchNorm1d(2 * m)
        self.output = nn.Linear(2 * m, 1)

    def forward(self, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return one output a bag."""
        angles = values @ self.frequencies.T
        counts = mask.sum(dim=1, keepdim=True)
        cos = (angles.cos() * mask[..., None]).sum(dim=1) / counts
        sin = (angles.sin() * mask[..., None]).sum(dim=1) / counts
        amplitude = (cos.square() + sin.square() + 1e-8).sqrt()
        features = torch.cat([cos / amplitude, sin / amplitude], dim=1)
        outputs: torch.Tensor = self.output(self.norm(features))
        return outputs[:, 0]


def padded_batch(bags: un.Bags, picked: np.ndarray, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return some bags as one block, padded with zeros to the largest of them, and where they have rows."""
    rows = [torch.tensor(bags[int(number)], dtype=torch.float32) for number in picked]
    values = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    sizes = torch.tensor([len(bag) for bag in rows])
    mask = torch.arange(values.shape[1])[None] < sizes[:, None]
    return values.to(device), mask.float().to(device)


def train_padded(bags: un.Bags, y: np.ndarray, n_epochs: int, device: torch.device) -> None:
    network = PaddedPhaseNetwork(bags.n_columns, N_FREQUENCIES).to(device)
    groups = [
        {"params": [network.frequencies], "weight_decay": SETTINGS["frequency_penalty"]},
        {"params": [network.output.weight], "weight_decay": SETTINGS["output_penalty"]},
        {"params": [network.output.bias, *network.norm.parameters()]},
    ]
    optimizer = torch.optim.Adam(groups, lr=SETTINGS["learning_rate"])
    targets = torch.from_numpy((y - y.mean()) / y.std()).float().to(device)
    generator = np.random.default_rng(0)
    for _ in range(n_epochs):
        for picked in np.array_split(generator.permutation(len(bags)), -(-len(bags) // BATCH)):
            values, mask = padded_batch(bags, picked, device)
            loss = (network(values, mask) - targets[torch.from_numpy(picked).to(device)]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if device.type == "cuda":
        torch.cuda.synchronize()


def train_ours(bags: un.Bags, y: np.ndarray, n_epochs: int, device: torch.device) -> None:
    model = PhaseNetRegressor(
        N_FREQUENCIES,
        n_epochs=n_epochs,
        batch_size=BATCH,
        validation_fraction=0.0,
        solve_output=False,
        hidden=(),
        noise_augmentation=None,
        steady=False,
        device=str(device),
        progress=False,
        random_state=0,
        **SETTINGS,
    )
    model.fit(bags, y)


def main() -> None:
    asked = sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(asked)
    n_epochs = 1 if device.type == "cpu" else 10
    bags, y = make_gamma_bags(N_BAGS, (10, 1_000), N_COLUMNS, random_state=0)
    for train in (train_ours, train_padded):
        train(bags[:100], y[:100], 1, device)  # what is loaded once
    ours, padded = interleaved(
        lambda: train_ours(bags, y, n_epochs, device), lambda: train_padded(bags, y, n_epochs, device), 5
    )
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    row("", "measured", "bar")
    row(f"phase network, {N_BAGS:,} bags of 10 to 1,000 rows: times faster than padded", f"{padded / ours:.1f}", ">= 2")
    row(
        f"  bags per second, padded and ours ({name})",
        f"{n_epochs * N_BAGS / padded:,.0f} {n_epochs * N_BAGS / ours:,.0f}",
    )


if __name__ == "__main__":
    main()
