"""What runs here: the versions, the kernel and the threads in use, for a bug report or the notes of a study."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from uptonoise import __version__
from uptonoise._util.threads import n_threads
from uptonoise.fourier.compiled import kernel_name

_PACKAGES = ("numpy", "scipy", "scikit-learn", "narwhals", "pyarrow", "matplotlib", "typer", "torch", "dask")


def versions() -> dict[str, str]:
    """Return the version of uptonoise, its kernel, the threads, and the versions of the packages that it can use.

    Examples
    --------
    >>> from uptonoise.fourier.versions import versions
    >>> list(versions())[:4]
    ['uptonoise', 'kernel', 'threads', 'python']
    """
    own = {"uptonoise": __version__, "kernel": kernel_name(), "threads": str(n_threads())}
    system = {"python": platform.python_version(), "platform": platform.platform()}
    packages = {}
    for package in _PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = "not installed"
    return {**own, **system, **packages}


def show_versions() -> None:
    """Print the versions, the kernel (compiled or numpy) and the threads in use.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.show_versions()
    uptonoise     0...
    kernel        ...
    threads       ...
    """
    for name, what in versions().items():
        print(f"{name:<13} {what}")
