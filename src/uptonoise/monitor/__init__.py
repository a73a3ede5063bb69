"""The same question over time: a stream is compared with a reference, batch after batch."""

from uptonoise.monitor.history import History
from uptonoise.monitor.nightly import Job
from uptonoise.monitor.state import MonitorState, format_wealth
from uptonoise.monitor.watch import Monitor

__all__ = ["History", "Job", "Monitor", "MonitorState", "format_wealth"]
