"""The compiled kernel; all else of the build is in pyproject.toml.

The kernel is optional: where it cannot be compiled the install goes on without it, and numpy does the work. It keeps to
Python's stable ABI, so that one wheel for each platform serves Python 3.11 and all later versions.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "uptonoise.fourier._kernel",
            sources=["src/uptonoise/fourier/_kernel.c"],
            depends=["src/uptonoise/fourier/_lanes.h"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
