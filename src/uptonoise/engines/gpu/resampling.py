"""What the tests that resample compute from rows, for torch tensors: on their device, with the same draws as on a CPU.

Labels are sampled in this machine's memory, so that a seed gives the same p-value everywhere, and go to the
device block by block. The products are float64.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.engines.gpu.features import Projection, as_vector, cosine_and_sine
from uptonoise.fourier import CosineSine, column_variances, labelled_feature_sums


@column_variances.register(Tensor)
def _column_variances(X: Tensor, Y: Tensor) -> Floats:
    return np.asarray(torch.cat([X, Y]).var(dim=0).cpu().numpy(), dtype=np.float64)


@labelled_feature_sums.register(Tensor)
def _labelled_feature_sums(
    X: Tensor, Y: Tensor, frequencies: Floats, labels: Iterable[NDArray[np.float32]]
) -> tuple[Floats, Floats]:
    pooled = torch.cat([X, Y])
    # The median as numpy has it: the mean of the two in the middle where there are two.
    middle = slice((len(pooled) - 1) // 2, len(pooled) // 2 + 1)
    pooled -= as_vector(pooled.sort(dim=0).values[middle].mean(dim=0).cpu().numpy(), pooled.device)
    features = CosineSine(frequencies, "fast")
    extremes = torch.stack(torch.aminmax(pooled, dim=0)).cpu().numpy()
    features.check_size(extremes)
    projection = Projection.of(features, pooled, float(np.abs(extremes).max()))
    sums = torch.zeros((), dtype=torch.float64, device=pooled.device)
    total = torch.zeros(2 * len(frequencies), dtype=torch.float64, device=pooled.device)
    start = 0
    for labelled in labels:
        stop = start + labelled.shape[1]
        block = torch.cat(cosine_and_sine(pooled[start:stop], projection), dim=1).double()
        sums = sums + torch.from_numpy(labelled).to(pooled.device).double() @ block
        total += block.sum(dim=0)
        start = stop
    return sums.cpu().numpy(), total.cpu().numpy()
