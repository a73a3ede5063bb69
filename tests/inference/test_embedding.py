import importlib.util

import numpy as np
import pytest

from uptonoise.inference import (
    padded,
    pyabc_sumstat,
    sbi_embedding,
)

from .helpers import quick


def test_padding_does_not_count():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(n, 2)) for n in (3, 7, 5)]
    batch = padded(bags, 9)
    assert batch.shape == (3, 9, 3)
    assert batch[..., 2].sum() == 15
    for kind in ("phase", "fourier"):
        embedding = sbi_embedding(2, 6, kind=kind, random_state=0)
        alone = torch.cat([embedding(torch.tensor(bag[None], dtype=torch.float32)) for bag in bags])
        assert torch.allclose(embedding(batch), alone, atol=1e-6)
    assert embedding(batch).shape == (3, 12)
    with pytest.raises(ValueError, match="n_rows must be at least"):
        padded(bags, 4)
    with pytest.raises(ValueError, match="kind must be one of phase, fourier"):
        sbi_embedding(2, 6, kind="mean")
    with pytest.raises(ValueError, match="x must be of shape"):
        embedding(batch[0])


@pytest.mark.skipif(importlib.util.find_spec("pyabc") is not None, reason="pyABC is installed")
def test_pyabc_is_named_where_it_is_missing(fitted):
    with pytest.raises(ValueError, match=r"after train\(\) or fit\(\)"):
        pyabc_sumstat(quick())
    with pytest.raises(ImportError, match="pip install pyabc"):
        pyabc_sumstat(fitted)
