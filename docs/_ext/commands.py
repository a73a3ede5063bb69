"""The reference of the command line, made of the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from uptonoise.cli.app import app


class Commands(SphinxDirective):
    """One section per command: what it does, its arguments and its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        sections = []
        for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
            section = nodes.section(ids=[f"uptonoise-{name}"])
            section += nodes.title(text=f"uptonoise {name}")
            self.state.nested_parse(StringList(list(_lines(command))), self.content_offset, section)
            sections.append(section)
        return sections


def _lines(command: Any) -> Iterator[str]:
    yield from (command.help or "").splitlines()
    yield ""
    yield "| | |"
    yield "|---|---|"
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            yield f"| {_spelling(parameter)} | {_description(parameter)} |"


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return ", ".join(f"`{spelling}`" for spelling in [*parameter.opts, *parameter.secondary_opts])


def _description(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split()).replace("|", "\\|")
    text = re.sub(r"--[a-z][a-z-]*", r"`\g<0>`", text)
    default = parameter.default
    known = isinstance(default, str | int | float) and not isinstance(default, bool)
    return text + (f" Default: `{default}`." if known and default != "" else "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
