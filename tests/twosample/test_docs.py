import pytest

import uptonoise as un

TESTS = (
    "phase_test",
    "flip_test",
    "pairwise_phase_test",
    "phase_test_power",
    "extra_noise",
    "me_test",
    "sme_test",
    "paired_difference_test",
    "phd_test",
    "mmd_test",
)


@pytest.mark.parametrize("name", TESTS)
def test_every_test_has_notes_and_sources_before_its_examples(name):
    text = getattr(un, name).__doc__
    places = [
        text.index(f"    {section}\n    {'-' * len(section)}\n") for section in ("See Also", "Notes", "References")
    ]
    assert places == sorted(places)
    assert places[-1] < text.index("    Examples\n")
    assert ".. [1] " in text
    assert "[1]_" in text
