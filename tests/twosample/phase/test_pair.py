"""What two sketches know of their columns."""

import numpy as np

import uptonoise as un
from uptonoise.rows import ArrayRows
from uptonoise.twosample import categories_of_sketch

NAMED = ["dose=5", "sex=m"]


def test_a_number_whose_name_looks_like_a_category_may_have_an_offset():
    """Sketches know columns by name only: what holds other values than 0 and 1 is no category."""
    generator = np.random.default_rng(0)
    samples = [
        ArrayRows(np.column_stack([generator.gamma(2, size=800) + shift, generator.integers(0, 2, 800)]), "X", NAMED)
        for shift in (0.0, 1.0)
    ]
    empty = un.Sketch.for_samples(*samples)
    left, right = (un.Sketch.like(empty).update(sample) for sample in samples)
    assert categories_of_sketch(left) == {"sex": ("m",)}
    assert un.phase_test(left, right, invariant_to="noise+shift").pvalue > 0.01
    assert [offset.column for offset in un.compare(left, right).offsets()] == ["dose=5"]
