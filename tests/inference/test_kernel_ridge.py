import numpy as np
import pytest

import uptonoise as un
from uptonoise.inference import (
    KernelBagRidge,
)


def test_kernel_ridge_leaves_one_out_exactly(rng):
    shapes = rng.uniform(1, 6, size=25)
    bags = un.Bags(list(rng.gamma(shapes[:, None, None], size=(25, 15, 1))))
    model = KernelBagRidge(scale_factors=[1.0], alphas=[0.1]).fit(bags, shapes)
    kernel = un.embedding_kernel(bags, scale=model.scale_, second="gaussian", second_scale=model.second_scale_)
    centred, errors = shapes - shapes.mean(), []
    for left_out in range(25):
        rest = np.delete(np.arange(25), left_out)
        inner = kernel[np.ix_(rest, rest)] + 0.1 * np.eye(24)
        errors.append(centred[left_out] - kernel[left_out, rest] @ np.linalg.solve(inner, centred[rest]))
    assert -model.best_score_ == pytest.approx(np.mean(np.square(errors)), rel=1e-6)
    weights = np.linalg.solve(kernel + 0.1 * np.eye(25), centred)
    assert np.allclose(model.predict(bags), kernel @ weights + shapes.mean(), atol=1e-6)
    both = KernelBagRidge().fit(bags, np.column_stack([shapes, -shapes])).predict(bags)
    assert np.allclose(both[:, 0] - shapes.mean(), -(both[:, 1] + shapes.mean()))
    with pytest.raises(ValueError, match="y must have one target for each of 25 bags"):
        model.fit(bags, shapes[:3])
