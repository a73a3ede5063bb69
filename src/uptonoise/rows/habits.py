"""Which columns of numbers are no measurements: indices, dates and times, by their names and their first values."""

from __future__ import annotations

import re

import numpy as np

from uptonoise._util.typing import Floats

_ENOUGH_STEPS = 10  # values in equal steps, so that this is no coincidence
_INDEX_NAME = re.compile(
    r"(id|ids|uid|no\.?|nr\.?|idx|row|row[ _.]?(id|no|nr|num|number|names?)|obs|observation|case|record|serial|"
    r"s[./ ]?no?\.?|#|unnamed: ?\d+)|.*[_ .\-](id|idx|no|nr)\.?",
    re.IGNORECASE,
)
_CAMEL_CASE_ID = re.compile(r".*[a-z](Id|ID)")
_STEPS_NAME = re.compile(r"(.*[_ .\-])?index", re.IGNORECASE)
_RANGES = {  # whole numbers in a range under such a name are parts of a date
    **dict.fromkeys(("year", "yr"), (1500, 2200)),
    **dict.fromkeys(("month",), (1, 12)),
    **dict.fromkeys(("week",), (0, 53)),
    **dict.fromkeys(("weekday", "dayofweek"), (0, 7)),
    **dict.fromkeys(("day", "dayofyear", "doy"), (0, 366)),
    **dict.fromkeys(("hour",), (0, 24)),
    **dict.fromkeys(("minute", "second"), (0, 60)),
}
_MOMENT_NAMES = ("date", "time", "datetime", "timestamp", "epoch", "unixtime", "unix")
_MOMENTS = ((19_000_101, 22_001_231), (3e8, 4e9), (3e11, 4e12), (3e17, 4e18))  # 20240131; seconds; milli; nano
DATE_TEXT = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|"
    r"\d{1,2}[- .]{1,2}[a-z]{3,9}\.?[- ]\d{2,4}|[a-z]{3,9}\.? \d{1,2},? \d{4})"
    r"([T ,]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?",
    re.IGNORECASE | re.ASCII,
)
"""A date or a time as text: 2024-01-31, 31.1.2024 12:30, or 12:30."""


def no_measurement(name: str, values: Floats) -> str | None:
    """Return why a column is probably no measurement, from its name and its first values; None where it may be one.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import no_measurement
    >>> no_measurement("patient_id", np.array([17.0, 4.0])), no_measurement("x", np.arange(20.0))
    ('looks like an index', 'looks like an index')
    >>> no_measurement("year", np.array([2023.0, 2024.0])), no_measurement("time", np.array([0.1, 2.0]))
    ('looks like a date or time', None)
    """
    values = values[~np.isnan(values)]
    if not len(values) or not np.array_equal(values, np.floor(values)):
        return None
    name = name.strip()
    words = [word for word in re.split(r"[_ .\-]+", name.lower()) if word]
    whole = "".join(words)
    ranges: list[tuple[float, float]] = [_RANGES[word] for word in (whole, *words[-1:]) if word in _RANGES]
    if whole in _MOMENT_NAMES or words[-1:] in (["date"], ["timestamp"]):
        ranges += _MOMENTS
    if any(low <= values.min() and values.max() <= high for low, high in ranges):
        return "looks like a date or time"
    enough = 2 if _STEPS_NAME.fullmatch(name) else _ENOUGH_STEPS
    steps = np.diff(values)
    is_counted = len(values) >= enough and steps[0] != 0 and (steps == steps[0]).all()
    is_index = is_counted or _INDEX_NAME.fullmatch(name) or _CAMEL_CASE_ID.fullmatch(name)
    return "looks like an index" if is_index else None
