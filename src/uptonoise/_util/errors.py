"""Errors with a hint: the option that helps, as Python writes it and as the command line writes it.

The text of the exception has Python's form. The command line asks :func:`command_line_text` for its own, so that no
message has to be rewritten.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, TypeVar

AnyError = TypeVar("AnyError", bound=Exception)

_COMMAND_LINE_NAMES = {"n_frequencies": "frequencies", "clusters": "cluster"}


def hinted(kind: type[AnyError], problem: str, hint: str, **options: Any) -> AnyError:
    """Return an exception that says what is wrong and which option helps.

    `problem` is what is wrong and where, without a full stop, and `hint` what to do: in it, ``{name}`` stands for the
    option `name`. `options` has the values to give, None where only the user knows it. An underscore at the end of a
    name is passed over, so that an option can be named twice.

    Examples
    --------
    >>> from uptonoise._util.errors import command_line_text, hinted
    >>> error = hinted(ValueError, "row 3 of a.csv has no energy", "{missing} leaves such rows out", missing="drop")
    >>> print(error)
    row 3 of a.csv has no energy; missing="drop" leaves such rows out
    >>> print(command_line_text(error))
    row 3 of a.csv has no energy; --missing drop leaves such rows out
    """
    in_python = {name: _as_argument(name, value) for name, value in options.items()}
    error = kind(f"{problem}; {hint.format_map(in_python)}")
    error.problem, error.hint, error.options = problem, hint, options  # type: ignore[attr-defined]
    return error


def command_line_text(error: BaseException) -> str:
    """Return the message of any exception, with options as the command line spells them."""
    hint, options = getattr(error, "hint", None), getattr(error, "options", None)
    if hint is None or not isinstance(options, Mapping):
        return str(error)
    on_command_line = {name: _as_option(name, value) for name, value in options.items()}
    return f"{error.problem}; {hint.format_map(on_command_line)}"  # type: ignore[attr-defined]


def _as_argument(name: str, value: Any) -> str:
    shown = "" if value is None else f'"{value}"' if isinstance(value, str) else repr(value)
    return f"{name.rstrip('_')}={shown}"


def _as_option(name: str, value: Any) -> str:
    name = name.rstrip("_")
    option = ("--no-" if value is False else "--") + _COMMAND_LINE_NAMES.get(name, name).replace("_", "-")
    if value is None or isinstance(value, bool):
        return option
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{option} {shlex.quote(text)}"
