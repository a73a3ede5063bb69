"""Simulators, and loaders of public data that users download themselves."""

from uptonoise.datasets.aerosol import load_misr1, make_aerosol_like
from uptonoise.datasets.air_quality import AirQuality, load_air_quality
from uptonoise.datasets.dark_matter import load_dark_matter, make_dark_matter_like
from uptonoise.datasets.demo import DEMO_COLUMNS, DemoPair, make_demo_pairs
from uptonoise.datasets.files import csv_rows, data_file
from uptonoise.datasets.gamma_bags import make_gamma_bags
from uptonoise.datasets.higgs import HIGGS_HIGH_LEVEL, HIGGS_JET_PHI, Higgs, load_higgs
from uptonoise.datasets.misr1_like import make_misr1_like
from uptonoise.datasets.nhanes import BloodPressure, load_blood_pressure
from uptonoise.datasets.simulated import NOISE_KINDS, make_chi2_samples, symmetric_noise

__all__ = [
    "DEMO_COLUMNS",
    "HIGGS_HIGH_LEVEL",
    "HIGGS_JET_PHI",
    "NOISE_KINDS",
    "AirQuality",
    "BloodPressure",
    "DemoPair",
    "Higgs",
    "csv_rows",
    "data_file",
    "load_air_quality",
    "load_blood_pressure",
    "load_dark_matter",
    "load_higgs",
    "load_misr1",
    "make_aerosol_like",
    "make_chi2_samples",
    "make_dark_matter_like",
    "make_demo_pairs",
    "make_gamma_bags",
    "make_misr1_like",
    "symmetric_noise",
]
