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
    """Read both samples into arrays; each must have as many rows as a test needs."""
    left, right = _local_sources(X, Y)
    return _with_enough_rows(read_rows(left), read_rows(right), left, right, needed, why)


def resident_samples(X: Any, Y: Any, needed: int, why: str) -> Samples:
    """Return both samples where they are, checked as above.

    Two samples of this machine are arrays. Two on the same other device are what its engine has for arrays, and stay
    there. If only one is on another device, both are read into memory.
    """
    left, right = _local_sources(X, Y)
    rows_X, rows_Y = left.resident(), right.resident()
    if type(rows_X) is not type(rows_Y):
        rows_X, rows_Y = read_rows(left), read_rows(right)
    if rows_X.device != rows_Y.device:
        raise ValueError(
            f"X and Y must be on the same device for {why}; got X on {rows_X.device} and Y on {rows_Y.device}. Move one"
        )
    return _with_enough_rows(rows_X, rows_Y, left, right, needed, why)


def _local_sources(X: Any, Y: Any) -> tuple[RowSource, RowSource]:
    sources = two_samples(X, Y)
    for source in sources:
        if source.is_remote:
            raise ValueError(
                f"{source.name} is on a cluster, and this test needs all rows in memory; call its .compute() where "
                "they fit, or use phase_test or compare, which need no more than sums"
            )
    return sources


def _with_enough_rows(X: Floats, Y: Floats, left: RowSource, right: RowSource, needed: int, why: str) -> Samples:
    for name, rows in (("X", X), ("Y", Y)):
        if len(rows) < needed:
            raise ValueError(f"{name} must have at least {needed} rows for {why}; got {len(rows)}")
    return Samples(X, Y, left.columns if left.named else right.columns)
