"""Permutation nulls: labels, p-values, and means of cosines and sines by label."""

import numpy as np
from scipy import stats

from uptonoise.fourier import cosine_sine
from uptonoise.twosample.permutation import feature_means_by_label, label_blocks, permutation_pvalue
from uptonoise.twosample.samples import Samples


class TestPermutations:
    def test_labels_are_uniform_over_all_assignments(self):
        rng = np.random.default_rng(0)
        drawn = np.concatenate(list(label_blocks((2, 3), [2, 2, 1], 20_000, rng)), axis=1)
        assert drawn[0].tolist() == [1, 1, 0, 0, 0]
        assert (drawn.sum(axis=1) == 2).all()
        _, counts = np.unique(drawn[1:], axis=0, return_counts=True)
        assert len(counts) == 10
        assert stats.chisquare(counts).pvalue > 1e-3

    def test_pvalue_has_the_plus_one(self):
        assert permutation_pvalue(np.array([5.0, 1.0, 2.0, 3.0])) == 0.25
        assert permutation_pvalue(np.array([5.0, 5.0 - 1e-9, 2.0, 3.0])) == 0.5

    def test_feature_means_are_those_of_the_labels(self, rng, plain_ecf, monkeypatch):
        monkeypatch.setattr(cosine_sine, "BLOCK_ELEMENTS", 40)
        X, Y, W = rng.normal(size=(30, 2)), rng.normal(size=(21, 2)), rng.normal(size=(5, 2))
        left, right = feature_means_by_label(Samples(X, Y, ("a", "b")), W, 7, np.random.default_rng(1))
        sizes = [8] * 6 + [3]
        labels = np.concatenate(list(label_blocks((30, 21), sizes, 7, np.random.default_rng(1))), axis=1)
        pooled = np.concatenate([X, Y])
        pooled = pooled - np.median(pooled, axis=0)
        for row, (one, other) in enumerate(zip(left, right, strict=True)):
            called = labels[row] == 1
            for found, rows in ((one, pooled[called]), (other, pooled[~called])):
                np.testing.assert_allclose(found[:5] + 1j * found[5:], plain_ecf(rows, W), atol=1e-6)
