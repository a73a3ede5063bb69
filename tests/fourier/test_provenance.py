import copy
import pickle

import numpy as np
import pytest

import uptonoise as un


@pytest.fixture
def W():
    return un.sample_frequencies(9, 3, random_state=0)


@pytest.mark.parametrize("provenance", ["hello", [1], {"a": np.int64(3)}])
def test_provenance_must_fit_json(W, provenance):
    with pytest.raises(ValueError, match="provenance must be a dict"):
        un.Sketch(W, provenance=provenance)


def test_provenance_is_not_shared(W):
    s = un.Sketch(W, provenance={"law": ("a", 1)})
    t = un.Sketch.like(s)
    t.provenance["law"] = "other"
    assert s.provenance == {"law": ["a", 1]}


@pytest.mark.parametrize(
    "blocks", [{}, ["a"], {"a": [0, 9]}, {"a": [1, 1]}, {"a": [-2, 1]}, {"a": [0.0, 1.0]}, {"a": "all"}, {"a": [0]}]
)
def test_blocks_that_are_none(blocks):
    with pytest.raises(ValueError, match=r"provenance\['blocks'\] must"):
        un.Sketch(np.ones((3, 2)), provenance={"blocks": blocks})


def test_seed_makes_the_same_frequencies_and_is_remembered():
    W = un.sample_frequencies(7, 3, scale=[1.0, 2.0, 3.0], random_state=5)
    np.testing.assert_array_equal(W, un.sample_frequencies(7, 3, scale=[1.0, 2.0, 3.0], random_state=5))
    assert W.provenance == {"law": "gaussian", "scale": [1.0, 2.0, 3.0], "method": "iid", "seed": 5}
    sampled = un.sample_frequencies(7, 3)
    np.testing.assert_array_equal(sampled, un.sample_frequencies(7, 3, random_state=sampled.provenance["seed"]))
    assert un.sample_frequencies(7, 3, random_state=np.random.default_rng(0)).provenance["seed"] is None


def test_frequencies_remember_through_pickle_and_forget_through_arithmetic():
    W = un.sample_frequencies(7, 3, random_state=5)
    again = pickle.loads(pickle.dumps(W))
    assert again.provenance == W.provenance
    np.testing.assert_array_equal(again, W)
    assert copy.deepcopy(W).provenance == W.provenance
    assert type(W * 2) is np.ndarray
    assert isinstance(W.mean(), float)
    assert W[:3].provenance is None
    W[0] = 0
    assert W.provenance is None


def test_frequencies_remember_how_they_were_sampled_until_some_are_chosen():
    W = un.sample_frequencies(3, 2, random_state=0)
    assert W.provenance == {"law": "gaussian", "scale": 1.0, "method": "iid", "seed": 0}
    assert W[:2].provenance is None
