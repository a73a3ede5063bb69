"""``python -m uptonoise.serve.preview``: what columns files have, as JSON, in a process of its own.

It takes the files and the options of ``uptonoise compare`` that say how text is read.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np

from uptonoise._util.errors import command_line_text
from uptonoise.engines import OpenFiles, chosen_columns

_SHOWN_VALUES = 3


def preview(paths: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of one file or two, which of them are compared by default, and why others are not."""
    inputs = [OpenFiles(path, **options) for path in paths]
    firsts = [given.files[0] for given in inputs]
    problem = ""
    try:
        choice = chosen_columns(inputs)
        used, left_out = choice.columns, choice.left_out
    except ValueError as error:  # a column of groups or clusters may still help
        used, left_out, problem = [], {}, command_line_text(error)
    names = list(dict.fromkeys(name for file in firsts for name in file.data_names))
    default = names if used is None else used
    groups = [name for name in names if all(name in f.data_names and name not in f.not_groups for f in firsts)]
    examples = [_examples(file, [name for name in names if name in file.data_names]) for file in firsts]
    columns = [
        {
            "name": name,
            "used": name in default,
            "why": left_out.get(name, ""),
            "groups": name in groups,
            "values": [shown.get(name, "") for shown in examples],
        }
        for name in names
    ]
    notes = list(dict.fromkeys(note for given in inputs for file in given.files for note in file.notes))
    return {"columns": columns, "notes": notes, "problem": problem}


def _examples(file: Any, names: list[str]) -> dict[str, str]:
    """Return the first values of each column as a text."""
    texts = {name: file.not_numbers[name] for name in names if name in file.not_numbers}
    values = file.first_values([name for name in names if name not in texts])
    for name, column in values.items():
        first = np.asarray(column[:_SHOWN_VALUES]).tolist()
        shown = ["missing" if math.isnan(value) else f"{value:.4g}" for value in first]
        texts[name] = ", ".join(shown) + (", …" if len(column) > _SHOWN_VALUES else "")
    return texts


def main(arguments: list[str]) -> dict[str, Any]:
    """Return the preview, or the line that says what is wrong."""
    paths, options, rest = [], dict[str, Any](), list(arguments)  # as the engines call them
    named = {"tab": "\t", "blank": " "}
    while rest:
        part = rest.pop(0)
        if part in ("--header", "--no-header"):
            options["header"] = part == "--header"
        elif part in ("--delimiter", "--decimal", "--encoding"):
            value = rest.pop(0)
            options[part[2:]] = named.get(value, value) if part == "--delimiter" else value
        else:
            paths.append(part)
    try:
        return preview(paths, options)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return {"error": " ".join(command_line_text(error).split()) or type(error).__name__}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
