"""Bags: many samples of different sizes in one container."""

from uptonoise.bags.container import BagRows, Bags, checked_weights

__all__ = [
    "BagRows",
    "Bags",
    "checked_weights",
]
