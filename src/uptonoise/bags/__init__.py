"""Bags: many samples of different sizes in one container."""

from uptonoise.bags.container import Bags
from uptonoise.bags.given import checked_weights, offsets_of
from uptonoise.bags.long_table import LabelsOfBags
from uptonoise.bags.rows import BagRows
