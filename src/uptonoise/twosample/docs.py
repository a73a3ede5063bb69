"""What the reference says of each test beside its parameters: related functions, notes and sources."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import indent
from typing import Any, NamedTuple, TypeVar

Documented = TypeVar("Documented")


class _Page(NamedTuple):
    see_also: str
    notes: str
    references: tuple[str, ...]


_REFERENCES = {
    "law": "Law, H. C. L., Yau, C., Sejdinovic, D. (2017). Testing and learning on distributions with symmetric noise "
    "invariance. Advances in Neural Information Processing Systems 30.",
    "chen": "Chen, L. S., Paul, D., Prentice, R. L., Wang, P. (2011). A regularized Hotelling's T2 test for pathway "
    "analysis in proteomic studies. Journal of the American Statistical Association 106.",
    "liu": "Liu, Y., Xie, J. (2020). Cauchy combination test. Journal of the American Statistical Association 115.",
    "satterthwaite": "Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. "
    "Biometrics Bulletin 2.",
    "jitkrittum": "Jitkrittum, W., Szabo, Z., Chwialkowski, K., Gretton, A. (2016). Interpretable distribution "
    "features with maximum testing power. Advances in Neural Information Processing Systems 29.",
    "gretton": "Gretton, A., Borgwardt, K., Rasch, M., Schoelkopf, B., Smola, A. (2012). A kernel two-sample test. "
    "Journal of Machine Learning Research 13.",
    "holm": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6.",
    "romano": "Romano, J. P. (1990). On the behavior of randomization tests without a group invariance assumption. "
    "Journal of the American Statistical Association 85.",
}

_PAGES = {
    "phase_test": _Page(
        """
        flip_test : Exact at every sample size, with less power.
        pairwise_phase_test : All pairs of many samples.
        phase_test_power : How many rows are needed.
        extra_noise : How much noisier one sample is.
        mmd_test : Whether the samples differ at all.
        uptonoise.compare : One answer in words.
        """,
        """
        The null distribution is an approximation: that of a regularised Hotelling statistic [1]_ with
        Satterthwaite's degrees of freedom [2]_; blocks of frequencies are merged by a Cauchy combination [3]_. Its
        false-positive rate was measured in 98 settings (:doc:`/results/phase-test`). :doc:`/method` derives it and
        names where it fails. The idea is that of [4]_.
        """,
        ("chen", "satterthwaite", "liu", "law"),
    ),
    "flip_test": _Page(
        """
        phase_test : More power, and approximate.
        sme_test : The paper's test of the same null hypothesis.
        uptonoise.Monitor : The same symmetry, over time.
        """,
        """
        Under the null hypothesis the signs of paired differences can be flipped at will, so the test is exact for
        any symmetric noise and at every size, as randomisation tests are [1]_. :doc:`/method` has the proof, and
        why p-values of several pairings may be merged while their statistics may not be averaged. The symmetry is
        that of [2]_.
        """,
        ("romano", "law"),
    ),
    "pairwise_phase_test": _Page(
        """
        phase_test : Two samples.
        uptonoise.compare_groups : The same with verdicts and effects, from rows.
        """,
        """
        Every pair is a :func:`phase_test`. By default p-values are adjusted by Holm's method [1]_, which is valid
        however the pairs depend. :doc:`/method` derives the test [2]_.
        """,
        ("holm", "chen"),
    ),
    "phase_test_power": _Page(
        """
        phase_test : The test that is planned.
        uptonoise.compare : Says where samples are too noisy to tell.
        """,
        """
        Samples of the planned sizes are taken from the pilot's rows, with replacement, and tested. So the planned
        power is that of the pilot's own difference, which is known only as well as its interval says. How well it
        agrees with simulation is in :doc:`/results/answers`; :doc:`/method` derives the test [1]_.
        """,
        ("chen",),
    ),
    "extra_noise": _Page(
        """
        phase_test : Whether the signals agree, which this assumes.
        uptonoise.compare : Tells the noise beside the verdict.
        """,
        """
        At frequencies on one column, the difference of log-amplitudes is a line in the squared frequency, whose
        slope is the difference of the noise variances; it is fitted by generalised least squares with a ridge.
        :doc:`/method` has the formulas, :doc:`/results/answers` the coverage of the intervals. That noise changes
        amplitudes only is from [1]_.
        """,
        ("law",),
    ),
    "me_test": _Page(
        """
        mmd_test : Whether they differ at all, by permutation.
        sme_test : The same test on paired differences, up to noise.
        uptonoise.compare : Names places where the samples differ, with adjusted p-values.
        """,
        """
        It sees every difference, noise included. Given the bumps, which are learnt on other rows, it is a Hotelling
        test [1]_ whose null distribution is corrected for rows of high leverage; :doc:`/results/two-sample-tests`
        has its rates.
        """,
        ("jitkrittum",),
    ),
    "paired_difference_test": _Page(
        """
        sme_test : With the ME test, as in the paper.
        flip_test : Uses each pair once, and is exact.
        """,
        """
        Where X and Y agree up to symmetric noise, X - Y and Y - X have the same distribution [1]_. So any
        two-sample test of the one against the other is a test up to noise, and valid wherever that test is.
        """,
        ("law",),
    ),
    "sme_test": _Page(
        """
        flip_test : The same null hypothesis, exactly, and with more power.
        phase_test : With all pairs of rows.
        paired_difference_test : The same with another test than ME.
        """,
        """
        Valid for any symmetric noise in each sample. Half of the pairs are mirrored and a fifth of the rows is
        spent on learning, so it needs many rows: :doc:`/results/phase-test` compares it with the tests above. It is
        the test of [1]_ with the bumps of [2]_.
        """,
        ("law", "jitkrittum"),
    ),
    "phd_test": _Page(
        """
        phase_test : The same null hypothesis, also where the noises differ.
        uptonoise.phd : The distance alone.
        """,
        """
        Permutations mix the two noises, so the null distribution is wrong where they differ: with noise of twice
        the signal's variance in one sample it rejected in about 90 % of the runs with equal signals
        (:doc:`/results/two-sample-tests`). The authors of [1]_ found that themselves.
        """,
        ("law",),
    ),
    "mmd_test": _Page(
        """
        me_test : Says where samples differ.
        phase_test : Whether they differ beyond noise.
        uptonoise.mmd : The distance alone.
        """,
        """
        It sees every difference, noise included, and is exact by permutation [1]_. :doc:`/other-tests` has its
        rates beside those of tests up to noise.
        """,
        ("gretton",),
    ),
}

_EXAMPLES = "    Examples\n    --------\n"


def explained(test: Documented) -> Documented:
    """Put the sections See Also, Notes and References of a test in front of its examples.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.flip_test.__doc__.count("See Also"), un.flip_test.__doc__.count("References")
    (1, 1)
    """
    documented: Any = test
    page = _PAGES[documented.__name__]
    sources = enumerate((_REFERENCES[name] for name in page.references), 1)
    cited = [f".. [{place}] {source}" for place, source in sources]
    sections = {"See Also": cleandoc(page.see_also), "Notes": cleandoc(page.notes), "References": "\n".join(cited)}
    text = "\n".join(f"{name}\n{'-' * len(name)}\n{part}\n" for name, part in sections.items())
    before, _, after = documented.__doc__.partition(_EXAMPLES)
    documented.__doc__ = before + indent(text, "    ") + "\n" + _EXAMPLES + after
    return test
