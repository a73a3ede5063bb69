"""The command line: ``uptonoise compare``, ``monitor``, ``sketch``, ``fit``, ``predict``, ``serve`` and others.

A command prints its answer and ends with 0. If it cannot do its work, it prints one line on stderr and ends with 2.
Files are read in pieces, with a progress bar on a terminal.
"""

from __future__ import annotations

import sys
from typing import Annotated

try:
    import typer

    from uptonoise.cli import comparing, models, reproducing, serving, watching
    from uptonoise.cli.options import recorded
except ImportError as error:
    if error.name not in ("typer", "rich"):
        raise
    sys.exit('uptonoise: the command line needs typer and rich: pip install "uptonoise[cli]"')

import uptonoise as un

app = typer.Typer(
    name="uptonoise",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=comparing.COMPARE_EXAMPLES)(comparing.compare)
app.command(epilog=watching.EXAMPLES)(watching.monitor)
app.command(epilog=comparing.SKETCH_EXAMPLES)(comparing.sketch)
app.command(epilog=models.EXAMPLES)(models.fit)
app.command(epilog=models.EXAMPLES)(models.predict)
app.command()(comparing.demo)
app.command(epilog=serving.EXAMPLES)(serving.serve)
app.command(epilog=reproducing.EXAMPLES)(reproducing.reproduce)


@app.callback(invoke_without_command=True)
def _uptonoise(
    version: Annotated[bool, typer.Option("--version", help="Print the version and the kernel in use.")] = False,
) -> None:
    """Tell whether two samples really differ, or only by noise: additive, symmetric, of unknown size and kind."""
    if version:
        from uptonoise.fourier import kernel_name  # here, as it brings numpy

        print(f"uptonoise {un.__version__}\nkernel: {kernel_name()}")
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    with recorded(sys.argv[1:]):
        app()
