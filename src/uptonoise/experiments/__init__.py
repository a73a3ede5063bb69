"""The paper's experiments, one file for each figure or table: ``python -m uptonoise.experiments NAME``."""
