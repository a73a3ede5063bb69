"""The question that people ask: do two samples differ, and is it only noise."""

from uptonoise.comparison.ladder import (
    MARGIN,
    ColumnComparison,
    Comparison,
    GroupComparison,
    Verdict,
    compare,
    compare_groups,
)

__all__ = [
    "MARGIN",
    "ColumnComparison",
    "Comparison",
    "GroupComparison",
    "Verdict",
    "compare",
    "compare_groups",
]
