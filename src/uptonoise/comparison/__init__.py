"""The question that people ask: do two samples differ, and is it only noise."""

from uptonoise.comparison.evidence import MARGIN, ColumnComparison, NoiseAdded, Offset, Summary, Verdict
from uptonoise.comparison.group_result import GroupComparison
from uptonoise.comparison.groups import compare_groups
from uptonoise.comparison.ladder import compare
from uptonoise.comparison.places import Place, differing_places
from uptonoise.comparison.result import Comparison
