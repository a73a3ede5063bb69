"""Warnings that point at the line of the caller, however deep in the package they arise."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and name the nearest line that is not in this package.

    Examples
    --------
    >>> import warnings
    >>> from uptonoise._util.warning import warn
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("look here", UserWarning)
    >>> str(caught[0].message), caught[0].filename.startswith("<doctest")
    ('look here', True)
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
