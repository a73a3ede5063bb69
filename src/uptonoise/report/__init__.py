"""A comparison, or a timeline, as one self-contained page: HTML and SVG in one file, no scripts, that loads nothing.

:meth:`uptonoise.Comparison.report`, :meth:`uptonoise.GroupComparison.report` and :meth:`uptonoise.Monitor.report` are
the ways to it.
"""

try:
    import jinja2
except ImportError:
    raise ImportError('a report needs jinja2: pip install "uptonoise[cli]"') from None

from uptonoise.report.page import write_report, write_timeline
