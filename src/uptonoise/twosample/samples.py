"""Two samples in memory, checked, as the tests that permute or optimise take them."""

from __future__ import annotations

from typing import Any, NamedTuple

from uptonoise._util.typing import Floats
from uptonoise.rows import RowSource, read_rows, two_samples


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
    >>> from uptonoise.twosample.samples import read_samples
    >>> read_samples([1.0, 2.0], [3.0], needed=1, why="anything").sizes
    (2, 1)
    """
    left, right = two_samples(X, Y)
    for source in (left, right):
        _refuse_remote(source)
    return _checked(read_rows(left), read_rows(right), left, right, needed, why)


def resident_samples(X: Any, Y: Any, needed: int, why: str) -> Samples:
    """Return both samples where they are, as :func:`uptonoise.fourier.row_sums` takes them, checked as above.

    Two samples of this machine are arrays. Two on the same other device are what its engine has for arrays, and stay
    there; one of each are read into memory.

    Examples
    --------
    >>> from uptonoise.twosample.samples import resident_samples
    >>> resident_samples([1.0, 2.0], [3.0], needed=1, why="anything").sizes
    (2, 1)
    """
    left, right = two_samples(X, Y)
    for source in (left, right):
        _refuse_remote(source)
    rows_X, rows_Y = left.resident(), right.resident()
    if type(rows_X) is not type(rows_Y):
        rows_X, rows_Y = read_rows(left), read_rows(right)
    if rows_X.device != rows_Y.device:
        raise ValueError(
            f"X and Y must be on the same device for {why}; got X on {rows_X.device} and Y on {rows_Y.device}. Move one"
        )
    return _checked(rows_X, rows_Y, left, right, needed, why)


def _refuse_remote(source: RowSource) -> None:
    if source.is_remote:
        raise ValueError(
            f"{source.name} is on a cluster, and this test needs all rows in memory; call its .compute() where "
            "they fit, or use phase_test or compare, which need no more than sums"
        )


def _checked(X: Floats, Y: Floats, left: RowSource, right: RowSource, needed: int, why: str) -> Samples:
    for name, rows in (("X", X), ("Y", Y)):
        if len(rows) < needed:
            raise ValueError(f"{name} must have at least {needed} rows for {why}; got {len(rows)}")
    return Samples(X, Y, left.columns if left.named else right.columns)
