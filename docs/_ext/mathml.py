"""Equations as MathML, which browsers draw themselves: no script, no font and no server is needed to read a page."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline_equation(self: Any, node: nodes.math) -> None:
    """Write an equation within a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed_equation(self: Any, node: nodes.math_block) -> None:
    """Write an equation on a line of its own, which scrolls where it is wider than the page."""
    self.body.append(f'<div class="equation">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer, which conf.py chooses by its name."""
    app.add_html_math_renderer("mathml", (inline_equation, None), (displayed_equation, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
