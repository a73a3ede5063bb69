"""All that changes in a monitor, in one place."""

from __future__ import annotations

import math
from typing import NamedTuple

from uptonoise._util.typing import Floats
from uptonoise.monitor.history import History
from uptonoise.monitor.process import Process
from uptonoise.monitor.reference import Reference
from uptonoise.monitor.seen import Seen
from uptonoise.monitor.state import MonitorState


class Now(NamedTuple):
    """All that changes, so that an update takes effect at once or not at all."""

    columns: tuple[str, ...] = ()
    named: bool = False
    reference: Reference | None = None
    process: Process | None = None
    spreads: Floats | None = None
    history: History = History()
    state: MonitorState | None = None
    seen: Seen = Seen()
    last_time: float = -math.inf
    rows_used: int = 0
