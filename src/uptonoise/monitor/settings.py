"""The settings of a monitor, checked once, and the times of its batches."""

from __future__ import annotations

import datetime
import math
import numbers
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from uptonoise._util.validation import checked_number
from uptonoise.monitor.evidence import Guarantee
from uptonoise.monitor.reading import Missing

Invariance = Literal["noise", "noise+shift"]
WhenUsedUp = Literal["stop", "reuse"]
_CHOICES = {"invariant_to": Invariance, "guarantee": Guarantee, "when_used_up": WhenUsedUp, "missing": Missing}
_RUN_LENGTH = 1_000.0


@dataclass(frozen=True)
class Settings:
    """What a monitor was made with; see :class:`~uptonoise.Monitor`."""

    alpha: float
    invariant_to: Invariance
    guarantee: Guarantee
    run_length: float | None
    when_used_up: WhenUsedUp
    missing: Missing
    seed: int

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            value, choices = getattr(self, name), get_args(kind)
            if not isinstance(value, str) or value not in choices:
                wanted = " or ".join(f'"{choice}"' for choice in choices)
                raise ValueError(f"{name} must be {wanted}; got {value!r}")
        alpha, run_length = checked_number(self.alpha, "alpha", above=True, most=1), self.run_length
        if self.guarantee == "run length":
            run_length = checked_number(run_length or _RUN_LENGTH, "run_length", least=1, above=True)
        elif run_length is not None:
            raise ValueError(f'run_length is for guarantee="run length"; got {run_length!r} for {self.guarantee!r}')
        self.__dict__.update(alpha=alpha, run_length=run_length)

    @property
    def threshold(self) -> float:
        """The wealth that raises the alarm."""
        return 1 / self.alpha if self.run_length is None else self.run_length

    def check_same(self, other: dict[str, Any], where: str) -> None:
        """Raise where other arguments of a monitor, by name, are not these; None is any."""
        mine = asdict(self)
        mine["random_state"] = mine["seed"]
        for name, value in other.items():
            if value is not None and mine[name] != value:
                raise ValueError(f"{name} is {mine[name]!r} in {where}; got {value!r}. Use the same, or another state")


def as_time(time: Any) -> tuple[float, str]:
    """Return the time of a batch as a number that can be compared, and as text.

    Examples
    --------
    >>> from uptonoise.monitor.settings import as_time
    >>> as_time(3), as_time("1970-01-02")
    ((3.0, '3'), (86400.0, '1970-01-02T00:00:00'))
    """
    if isinstance(time, numbers.Real) and not isinstance(time, bool) and math.isfinite(time):
        return float(time), f"{float(time):g}"
    try:
        if not isinstance(time, str | datetime.date | np.datetime64):
            raise TypeError
        if isinstance(time, datetime.datetime) and time.tzinfo is not None:
            time = time.astimezone(datetime.UTC).replace(tzinfo=None)
        moment = np.datetime64(time, "us")
        if np.isnat(moment):
            raise ValueError
    except (ValueError, TypeError):
        raise ValueError(f"time must be a number, a date, or a text such as '2026-01-31'; got {time!r}") from None
    return moment.astype(np.int64).item() / 1e6, str(moment).removesuffix(".000000")
