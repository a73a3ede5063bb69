"""What a person chose on the page, as the arguments of ``uptonoise compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

REPORT = "report.html"
_TEXT_DEFAULTS = {"delimiter": "", "decimal": ".", "encoding": "utf-8"}
_LONGEST = 10_000  # letters of a setting


@dataclass(frozen=True)
class Columns:
    """The columns of the files: all, those that are used by default, and those that were ticked."""

    names: Sequence[str]
    default: Sequence[str]
    ticked: Sequence[str]

    def options(self, apart: Sequence[str]) -> list[str]:
        """Return ``--columns`` or ``--exclude``, or nothing where the ticks are those that were there at first."""
        usual = [name for name in self.default if name not in apart]
        ticked = [name for name in self.names if name in set(self.ticked) and name not in apart]
        if not ticked:
            raise ValueError("tick at least one column to compare")
        if ticked == usual:
            return []
        unticked = [name for name in usual if name not in ticked]
        only_fewer = set(ticked) <= set(usual)
        choices = [("--columns", ticked)] + ([("--exclude", unticked)] if only_fewer else [])
        choices.sort(key=lambda choice: len(choice[1]))
        for option, names in choices:
            if all("," not in name and name == name.strip() and name for name in names):
                return [option, ",".join(names)]
        raise ValueError(
            "a column whose name has a comma or blanks at its ends cannot be chosen; rename it in the file"
        )


def compare_arguments(files: Sequence[str], given: Mapping[str, Any], columns: Columns | None) -> list[str]:
    """Return the arguments of the command line, from the files and what the page sent.

    Examples
    --------
    >>> from uptonoise.serve.settings import Columns, compare_arguments
    >>> columns = Columns(["id", "a", "b"], ["a", "b"], ["a"])
    >>> compare_arguments(["old.csv", "new.csv"], {"margin": "0.1", "missing": "drop"}, columns)
    ['compare', 'old.csv', 'new.csv', '--columns', 'a', '--missing', 'drop', '--margin', '0.1', '--report', ...]
    """
    by, cluster = _text(given, "by"), _text(given, "cluster")
    if not files:
        raise ValueError("choose a file first")
    if len(files) == 1 and not by:
        raise ValueError("choose a second file, or the column that names the groups of this one")
    arguments = ["compare", *files]
    arguments += ["--by", by] if by and len(files) == 1 else []
    if columns is not None:
        arguments += columns.options([name for name in (by, cluster) if name])
    arguments += ["--cluster", cluster] if cluster else []
    arguments += ["--paired"] if given.get("paired") is True and len(files) == 2 else []
    if _text(given, "missing") == "drop":
        arguments += ["--missing", "drop"]
    most = _number(given, "max_dropped")
    arguments += ["--max-dropped", most] if most else []
    margin = _number(given, "margin")
    arguments += ["--margin", margin] if margin and float(margin) != 0.2 else []
    return [*arguments, *reading_arguments(given), "--report", REPORT]


def reading_arguments(given: Mapping[str, Any]) -> list[str]:
    """Return how files are to be read."""
    arguments = []
    for name, default in _TEXT_DEFAULTS.items():
        value = _text(given, name)
        arguments += [f"--{name}", value] if value and value != default else []
    return arguments + {"yes": ["--header"], "no": ["--no-header"]}.get(_text(given, "header"), [])


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name, "")
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST or "\x00" in value:
        raise ValueError(f"{name} must be a short text; got {str(value)[:40]!r}")
    if value.startswith("-"):
        raise ValueError(f"{name} must not start with a dash; got {value[:40]!r}")
    return value


def _number(given: Mapping[str, Any], name: str) -> str:
    text = _text(given, name).strip()
    try:
        return f"{float(text):g}" if text else ""
    except ValueError:
        raise ValueError(f"{name.replace('_', ' ')} must be a number; got {text[:40]!r}") from None
