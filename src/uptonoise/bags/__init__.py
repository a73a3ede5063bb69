"""Bags: many samples of different sizes in one container."""

from uptonoise.bags.checks import checked_weights
from uptonoise.bags.container import Bags
from uptonoise.bags.gather import offsets_of
from uptonoise.bags.long_table import LabelsOfBags
from uptonoise.bags.rows import BagRows
