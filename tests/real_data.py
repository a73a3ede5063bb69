"""Where the real data are; tests that need them are skipped, with a message, where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("UPTONOISE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def needs(pattern: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test where no file in the folder of the data has this pattern."""
    reason = f"no {pattern}: name its folder in the environment variable UPTONOISE_DATA"
    return pytest.mark.skipif(not list(DATA.glob(pattern)), reason=reason)


needs_higgs = needs("HIGGS*")
needs_nhanes = needs("nhanes-blood-pressure.csv")
needs_beijing = needs("beijing-*.csv.gz")
