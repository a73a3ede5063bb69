"""The same question over time: a stream is compared with a reference, batch after batch."""

from uptonoise.monitor.history import History
from uptonoise.monitor.state import MonitorState
from uptonoise.monitor.watch import Monitor

__all__ = ["History", "Monitor", "MonitorState"]
