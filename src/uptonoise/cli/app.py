"""The command line: ``uptonoise compare``, ``monitor``, ``sketch``, ``fit``, ``predict``, ``serve`` and others.

A command prints its answer and ends with 0. If it cannot do its work, it prints one line on stderr and ends with 2.
Files are read in pieces, with a progress bar on a terminal.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import sys
from collections.abc import Iterable
from typing import Annotated, Any

try:
    import typer

    from uptonoise.cli.options import recorded
except ImportError as error:
    if error.name not in ("typer", "rich"):
        raise
    sys.exit('uptonoise: the command line needs typer and rich: pip install "uptonoise[cli]"')

import uptonoise as un

_NEW_OBJECTS = 50_000  # after which Python looks for garbage; its default of 700 costs a short command a twentieth

# Each command with its module and what that calls the examples, in the order of --help.
_COMMANDS = {
    "compare": ("comparing", "COMPARE_EXAMPLES"),
    "monitor": ("watching", "EXAMPLES"),
    "sketch": ("comparing", "SKETCH_EXAMPLES"),
    "fit": ("models", "EXAMPLES"),
    "predict": ("models", "EXAMPLES"),
    "demo": ("comparing", None),
    "serve": ("serving", "EXAMPLES"),
    "reproduce": ("reproducing", "EXAMPLES"),
}


def application(names: Iterable[str] = tuple(_COMMANDS)) -> typer.Typer:
    """Return the command line with these commands; to declare the options of all takes longer than to run some."""
    made = typer.Typer(
        name="uptonoise",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(invoke_without_command=True)(_uptonoise)
    for name in names:
        module, examples = _COMMANDS[name]
        declared = importlib.import_module(f"uptonoise.cli.{module}")
        made.command(epilog=None if examples is None else getattr(declared, examples))(getattr(declared, name))
    return made


def _uptonoise(
    version: Annotated[bool, typer.Option("--version", help="Print the version and the kernel in use.")] = False,
) -> None:
    """Tell whether two samples really differ, or only by noise: additive, symmetric, of unknown size and kind."""
    if version:
        from uptonoise.fourier import kernel_name  # here, as it brings numpy

        print(f"uptonoise {un.__version__}\nkernel: {kernel_name()}")
        raise typer.Exit


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()["app"] = application()
    return made


def main() -> None:
    """Run the command line."""
    # What is imported stays until the end, and Python would look for garbage among it again and again.
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # nor look through all of it once more before it ends
    asked = [name for name in sys.argv[1:2] if name in _COMMANDS]
    with recorded(sys.argv[1:]):
        application(asked or _COMMANDS)()
