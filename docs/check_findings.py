"""The findings of the paper, as assertions over the tables of full runs in docs/results.

A table that is not there yet, or lacks a column, skips its findings; a table of a shorter run says so in its rows.
"""

import csv
import importlib
import importlib.util
import re
from operator import attrgetter
from pathlib import Path

import pytest

from uptonoise.experiments._figures import wald_band

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.05
NOT_HELD = {
    "chi2-power: the power of PhD is comparable with that of ME",
    "aerosol-noise: ridge is ahead of networks without noise",
    "aerosol-noise: the phase network is more robust than PLRR",
    "aerosol-noise: the Fourier network performs like the phase network under noise",
    "dark-matter-noise: PLRR is more robust to noise than GLRR",
    "dark-matter-noise: PGRR is more robust to noise than GGRR",
    "abc: phases make better summaries for ABC under noise (expected, no numbers)",
}


def table(name, *columns):
    """Return the rows of a full run; skip where it is missing."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no full run of {name} yet: uptonoise reproduce {name} --out docs/results")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    missing = [column for column in columns if column not in rows[0]]
    if missing:
        pytest.skip(f"the full run of {name} is older than its columns {', '.join(missing)}; run it again")
    return rows


def where(rows, **settings):
    return [row for row in rows if all(row[key] == value for key, value in settings.items())]


def keeps_the_level(row, test):
    """Tell whether a rate is in its band, or was when the cell was run again."""
    low, high = wald_band(LEVEL, int(row["repetitions"]))
    again = [one for one in row["again"].split("; ") if one.startswith(f"{test} at {LEVEL:g}: ")]
    return low <= float(row[test]) <= high or any(one.endswith("in the band") for one in again)


def never_above_the_level(row, test):
    _, high = wald_band(LEVEL, int(row["repetitions"]))
    again = [one for one in row["again"].split("; ") if one.startswith(f"{test} at {LEVEL:g}: ")]
    return float(row[test]) <= high or any(not one.endswith("ABOVE it") for one in again)


def noise_differs(row):
    return row["n1"] != row["n2"]


def test_sme_is_in_the_band_at_all_noise_levels():
    rows = table("chi2-level", "sme")
    assert len(rows) == 49
    assert all(keeps_the_level(row, "sme") for row in rows)


def test_all_tests_keep_the_level_without_noise():
    rows = where(table("chi2-level"), n1="0.0", n2="0.0")
    assert len(rows) == 4
    assert all(keeps_the_level(row, test) for row in rows for test in ("sme", "me", "phd", "mmd"))


def test_me_rejects_once_noise_differs():
    rows = [row for row in table("chi2-level") if noise_differs(row) and row["me"]]
    assert len(rows) == 12
    assert all(float(row["me"]) > 5 * LEVEL for row in rows)
    assert all(float(row["me"]) > 0.9 for row in rows if int(row["N"]) >= 500)


def above_the_band(row, test):
    return float(row[test]) > wald_band(LEVEL, int(row["repetitions"]))[1]


def test_sme_phase_and_flip_tests_keep_the_level_at_small_noises():
    rows = table("chi2-small-noise", "sme", "phase", "flip")
    assert len(rows) == 30
    assert all(keeps_the_level(row, test) for row in rows for test in ("sme", "flip"))
    assert all(never_above_the_level(row, "phase") for row in rows)


def test_me_rejects_at_small_noise_differences():
    """At 0.1 and 0 from 100 rows on; at 0.05 and 0 only from 200 on."""
    rows = table("chi2-small-noise", "me")
    assert all(above_the_band(row, "me") for row in where(rows, n1="0.1", n2="0.0"))
    assert all(above_the_band(row, "me") for row in where(rows, n1="0.05", n2="0.0") if int(row["N"]) >= 200)


@pytest.mark.parametrize("noise", ["0.05", "0.1"])
def test_phd_keeps_the_level_at_small_noise_differences(noise):
    rows = where(table("chi2-small-noise", "phd"), n1=noise, n2="0.0")
    assert len(rows) == 5
    assert all(never_above_the_level(row, "phd") for row in rows)


def test_phd_loses_the_level_at_larger_noise_differences():
    rows = table("chi2-small-noise", "phd")
    half, one = (where(rows, n1=noise, n2="0.0") for noise in ("0.5", "1.0"))
    assert all(above_the_band(row, "phd") for row in half)
    assert all(float(a["phd"]) < float(b["phd"]) for a, b in zip(half, one, strict=True))


def test_phd_inflates_with_noise():
    for n in ("100", "200", "500", "1000"):
        rows = where(table("chi2-level", "phd"), N=n, d="5", kind="gaussian", n2="0.0")
        rates = [float(row["phd"]) for row in sorted(rows, key=lambda row: float(row["n1"]))]
        assert rates == sorted(rates)
        assert rates[-1] > 0.8


def test_phase_and_flip_tests_keep_the_level_at_all_noise_levels():
    rows = table("chi2-level", "phase", "flip")
    assert all(never_above_the_level(row, "phase") for row in rows)
    assert all(keeps_the_level(row, "flip") for row in rows)


def test_me_rejects_everywhere_in_figure_1_right():
    assert all(float(row["me"]) > 0.95 for row in table("chi2-power"))


@pytest.mark.parametrize(("noise", "most"), [("0.0", 500), ("0.5", 1_000)])
def test_phd_beats_sme_at_small_noise(noise, most):
    """PhD is ahead of SME as in the paper up to some size; beyond it both have much power, and SME is ahead."""
    rows = where(table("chi2-power", "phd"), n1=noise, n2=noise)
    assert len(rows) == 5
    assert all((float(row["phd"]) > float(row["sme"])) == (int(row["N"]) <= most) for row in rows)


def test_phd_is_comparable_with_me_from_500_rows_on():
    """The paper calls its power comparable with that of ME: here within 0.1 from 500 rows on, and not below."""
    rows = where(table("chi2-power", "phd"), n1="0.0", n2="0.0")
    assert all((float(row["me"]) - float(row["phd"]) < 0.1) == (int(row["N"]) >= 500) for row in rows)


def test_phase_test_has_more_power_than_sme():
    rows = table("chi2-power", "phase")
    assert all(float(row["phase"]) >= float(row["sme"]) - 0.01 for row in rows)


def test_sme_power_grows_with_rows_and_falls_with_noise():
    rows = table("chi2-power")
    for noise in (("0.0", "0.0"), ("0.5", "0.5")):
        rates = [float(row["sme"]) for row in where(rows, n1=noise[0], n2=noise[1])]
        assert rates == sorted(rates)
    without, with_noise = (where(rows, n1=noise, n2=noise) for noise in ("0.0", "0.5"))
    assert all(float(a["sme"]) >= float(b["sme"]) for a, b in zip(without, with_noise, strict=True))


def test_higgs_high_level_features_differ_beyond_noise():
    rows = where(table("higgs-high-level", "phd", "phase", "flip"), X="background")
    assert len(rows) == 6
    assert all(float(row[test]) > 0.9 for row in rows for test in ("sme", "phd"))
    assert all(float(row[test]) > 0.99 for row in rows for test in ("me", "phase", "flip"))


@pytest.mark.parametrize("name", ["higgs-high-level", "higgs-jet-phi"])
def test_higgs_type_one_error_is_controlled(name):
    rows = where(table(name, "phd", "phase", "flip"), X="signal")
    assert len(rows) >= 3
    assert all(keeps_the_level(row, test) for row in rows for test in ("sme", "me", "phd", "flip"))
    assert all(never_above_the_level(row, "phase") for row in rows)


def test_sme_stays_flat_on_jet_phi():
    """Up to 4,000 rows a sample; beyond that repetitions share much of the 46,240-row file, and its luck."""
    rows = where(table("higgs-jet-phi"), X="background")
    assert len(rows) == 6
    assert all(keeps_the_level(row, "sme") for row in rows if int(row["N"]) <= 4_000)
    assert all(never_above_the_level(row, "sme") for row in rows)


def test_phase_and_flip_tests_find_nothing_on_jet_phi_where_phd_does():
    rows = where(table("higgs-jet-phi", "phd", "phase", "flip"), X="background")
    assert all(never_above_the_level(row, test) for row in rows for test in ("phase", "flip"))
    assert all(above_the_band(row, "phd") for row in rows if int(row["N"]) >= 4_000)


def test_me_finds_a_difference_on_jet_phi_as_rows_grow():
    rows = where(table("higgs-jet-phi"), X="background")
    rates = [float(row["me"]) for row in rows]
    assert rates[2:] == sorted(rates[2:])
    assert all(
        rate > wald_band(LEVEL, int(row["repetitions"]))[1] for rate, row in list(zip(rates, rows, strict=True))[2:]
    )


def test_paired_differences_move_with_noise_and_phases_do_not():
    rows = {row["distance"]: row for row in table("paired-differences")}
    ratios = {name: float(row["median"]) / float(row["noiseless"]) for name, row in rows.items()}
    assert ratios["MMD of paired differences"] < 0.8
    assert abs(ratios["phase distance"] - 1) < 0.2


def test_the_same_phase_pair_changes_sign_at_the_same_place():
    rows = where(table("same-phase"), function="characteristic function")
    for law in ("X", "Y"):
        signs = {float(row["at"]): float(row["value"]) > 0 for row in where(rows, law=law)}
        assert all(sign == (abs(at) < 1) for at, sign in signs.items() if abs(abs(at) - 1) > 1e-3)
    assert all(abs(float(row["value"]) - float(row["sample"])) < 0.03 for row in rows)


def test_phase_functions_of_noisy_bags_are_the_true_ones_where_amplitudes_are_large():
    rows = where(table("phase-functions"), function="phase function")
    near = [row for row in rows if abs(float(row["w"])) < 1 and row["law"] != "X - Y"]
    assert len(near) > 100
    for part in ("real", "imaginary"):
        assert all(abs(float(row[f"true, {part}"]) - float(row[f"noisy bag, {part}"])) < 0.1 for row in near)


def paper_page():
    spec = importlib.util.spec_from_file_location("make_paper_page", RESULTS.parent / "make_paper_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_verdicts_on_the_papers_claims_are_those_that_the_page_explains():
    found = {claim for claim, verdict in paper_page().verdicts().items() if verdict == "not held"}
    assert found == NOT_HELD


def test_the_page_of_the_papers_claims_is_up_to_date():
    assert (RESULTS / "paper.md").read_text(encoding="utf-8") == paper_page().page()


def test_method_page_has_the_constants_of_the_code():
    lines = (RESULTS.parent / "method.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if re.match(r"\| `[a-z_.]+` \| `[\w.]+` \| ", line)]
    assert len(rows) > 30
    for module, name, value, *_ in rows:
        constant = attrgetter(name.strip("`"))(importlib.import_module("uptonoise." + module.strip("| `")))
        constants = constant if isinstance(constant, tuple) else (constant,)
        assert value == ", ".join(f"{number:g}" for number in constants), (module, name)
