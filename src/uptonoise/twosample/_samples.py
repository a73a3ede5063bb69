"""Two samples in memory, checked, as the tests that permute or optimise take them."""

from __future__ import annotations

from typing import Any, NamedTuple

from uptonoise.rows import Floats, read_rows, two_samples


class Samples(NamedTuple):
    """The rows of both samples and the names of their columns."""

    X: Floats
    Y: Floats
    columns: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of rows."""
        return len(self.X), len(self.Y)


def read_samples(X: Any, Y: Any, needed: int, why: str) -> Samples:
    """Read both samples and refuse them where one has fewer rows than a test needs.

    Examples
    --------
    >>> from uptonoise.twosample._samples import read_samples
    >>> read_samples([1.0, 2.0], [3.0], needed=1, why="anything").sizes
    (2, 1)
    """
    left, right = two_samples(X, Y)
    for source in (left, right):
        if source.is_remote:
            raise ValueError(
                f"{source.name} is on a cluster, and this test needs all rows in memory; call its .compute() where "
                "they fit, or use phase_test or compare, which need no more than sums"
            )
    samples = Samples(read_rows(left), read_rows(right), left.columns if left.named else right.columns)
    for name, rows in (("X", samples.X), ("Y", samples.Y)):
        if len(rows) < needed:
            raise ValueError(f"{name} must have at least {needed} rows for {why}; got {len(rows)}")
    return samples
