"""What a monitor says after a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from uptonoise._util.docs import described
from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted

_LARGEST_LOG = 700.0  # exp of it is a finite number
_LONG = 1e6  # from which on nobody counts digits


@described()
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MonitorState(Result):
    """What is known after a batch; :meth:`Monitor.update` returns it.

    Attributes
    ----------
    batch : int
        The number of batches so far.
    name : str
        The name of the batch, such as its file; empty where it has none.
    time : str
        The time of the batch; empty where it has none.
    alarm : bool
        Whether the alarm was raised, by this batch or an earlier one.
    alarm_batch : int or None
        The batch that raised it.
    since : int or None
        An estimate of the first batch that differs, once there is an alarm.
    log_wealth : float
        The logarithm of the wealth: the e-value, or the statistic of Shiryaev and Roberts.
    threshold : float
        The wealth that raises the alarm: 1/alpha, or the run length.
    pvalue : float or None
        The anytime-valid p-value: 1 over the highest wealth so far. None with the guarantee "run length".
    rows : int
        The rows of this batch.
    rows_used : int
        All rows so far that were compared.
    units : int
        The units of evidence so far: rows, clusters, or groups of rows that share an offset.
    rows_left : int or None
        The rows (or clusters) of the reference that were not used yet; None with two streams.
    columns : tuple of str
        The names of the columns.
    differing : tuple of str
        The columns that differ, each judged alone; the probability that one of them is named by mistake is at most
        alpha, ever.
    differences, standard_errors : arrays of shape (d,)
        The recent difference of each column in standard deviations of the reference, whatever the noise, and the
        standard error that it would have without a difference. NaN before there are 32 rows.
    notes : tuple of str
        What was left out, in words.

    {examples}
    >>> monitor = un.Monitor(rng.exponential(size=(2_000, 2)), random_state=0)
    >>> state = monitor.update(rng.exponential(size=(200, 2)) + rng.normal(size=(200, 2)))
    >>> state.alarm, state.rows_left
    (False, 1800)
    """

    batch: int
    name: str
    time: str
    alarm: bool
    alarm_batch: int | None
    since: int | None
    log_wealth: float
    threshold: float
    pvalue: float | None
    rows: int
    rows_used: int
    units: int
    rows_left: int | None
    columns: tuple[str, ...]
    differing: tuple[str, ...]
    differences: Floats
    standard_errors: Floats
    notes: tuple[str, ...]

    derived = ("wealth", "difference", "sentence")

    @property
    def wealth(self) -> float:
        """The wealth: the e-value, or the statistic of Shiryaev and Roberts; infinite where no number holds it."""
        return math.exp(self.log_wealth) if self.log_wealth < _LARGEST_LOG else math.inf

    @property
    def difference(self) -> float:
        """The largest difference of a column, in standard deviations; NaN before there are 32 rows."""
        return max([value for value in self.differences.tolist() if not math.isnan(value)], default=math.nan)

    @property
    def sentence(self) -> str:
        """The state in a sentence."""
        if not self.alarm:
            return f"No difference beyond noise after {counted(self.rows_used, 'row')}."
        where = f" in {', '.join(self.differing[:8])}" if self.differing else ""
        size = "" if math.isnan(self.difference) else f", recently by {self.difference:.2g} SD"
        begin = "" if self.since is None else f", probably since batch {self.since}"
        return f"The signal differs beyond noise{where}{size}{begin} (alarm at batch {self.alarm_batch})."

    @property
    def line(self) -> str:
        """The state in a line, for logs."""
        label = self.name or f"batch {self.batch}"
        evidence = f"wealth {format_wealth(self.log_wealth)} of {self.threshold:,.6g}"
        left = "" if self.rows_left is None else f", {self.rows_left:,} left in the reference"
        answer = "ALARM" if self.alarm else "ok"
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return f"{label}: {answer}, {counted(self.rows, 'row')}, {evidence}{left}{notes}"

    def table(self) -> dict[str, Any]:
        """Return one row per column: its difference, standard error, and whether it differs."""
        return {
            "column": list(self.columns),
            "difference_sd": self.differences,
            "standard_error": self.standard_errors,
            "differs": [column in self.differing for column in self.columns],
        }

    def __repr__(self) -> str:
        lines = [f"MonitorState: {self.sentence}", f"  {self.line}"]
        if self.pvalue is not None:
            lines.append(f"  anytime-valid p = {self.pvalue:.3g}")
        return "\n".join(lines)


def format_wealth(log_wealth: float) -> str:
    """Return a wealth as people read it, from its logarithm.

    Examples
    --------
    >>> from uptonoise.monitor.state import format_wealth
    >>> format_wealth(0.0), format_wealth(30.0), format_wealth(1000.0), format_wealth(-20.0)
    ('1', '1.1e13', '1e434', '2.1e-09')
    """
    if log_wealth > _LARGEST_LOG:
        return f"1e{log_wealth / math.log(10):.0f}"
    wealth = math.exp(log_wealth)
    if wealth >= _LONG:
        return f"{wealth:.1e}".replace("e+", "e")
    return f"{wealth:,.0f}" if wealth >= 100 else f"{wealth:.2g}"
