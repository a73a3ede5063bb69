"""The folders are the architecture: a module imports only what stands above it, and other packages by their doors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import uptonoise

SOURCE = Path(uptonoise.__file__).parent
# Data flow down this list.
ORDER = [
    "_util",
    "rows",
    "bags",
    "fourier",
    "engines",
    "twosample",
    "comparison",
    "monitor",
    "datasets",
    "learning",
    "nets",
    "inference",
    "plots",
    "report",
    "experiments",
    "serve",
    "cli",
]
# Packages whose modules others import directly: tools without a door, and modules that import torch at once.
WITHOUT_DOOR = ("uptonoise._util.", "uptonoise.engines.gpu.", "uptonoise.nets.")


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def nodes_of(name: str) -> list[ast.AST]:
    """Return the imports and functions of a module."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(ast.parse(MODULES[name].read_text())) if isinstance(node, kinds)]


def imports_of(name: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the module of every import of our own, also inside functions and for type checkers."""
    for node in nodes_of(name):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "uptonoise")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}, line {node.lineno}: a relative import"
            if node.module is not None and node.module.split(".")[0] == "uptonoise":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield node.lineno, inner if inner in MODULES else node.module


def package_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_every_package_has_its_place_in_the_order():
    packages = {package_of(name) for name in MODULES} - {"", "__main__"}
    assert packages <= set(ORDER)


def test_imports_point_up_only():
    down = [
        f"{name}, line {line}, imports {imported}"
        for name in MODULES
        if package_of(name) not in ("", "__main__")
        for line, imported in imports_of(name)
        if package_of(imported) not in ORDER[: ORDER.index(package_of(name)) + 1] and imported != "uptonoise"
    ]
    assert not down


def test_other_packages_are_entered_by_their_doors():
    doors = {module for module, path in MODULES.items() if path.name == "__init__.py"}
    around = [
        f"{name}, line {line}, imports {imported}"
        for name in MODULES
        for line, imported in imports_of(name)
        if imported not in doors
        and not imported.startswith(WITHOUT_DOOR)
        and not f"{name}.".startswith(imported.rpartition(".")[0] + ".")
    ]
    assert not around


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {name: {imported for _, imported in imports_of(name)} - {name, "uptonoise"} for name in MODULES}
    # A door imports its modules, and they never import their own door: then a circle can only be between modules.
    for name, imported in graph.items():
        assert name.rpartition(".")[0] not in imported - {"uptonoise"}, f"{name} imports its own door"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_files_and_functions_stay_short():
    assert [name for name, path in MODULES.items() if path.read_text().count("\n") > 400] == []
    long = [
        f"{node.name} of {name} has {node.end_lineno - node.lineno + 1} lines"
        for name in MODULES
        for node in nodes_of(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= 60
    ]
    assert not long


def test_no_module_has_the_name_of_a_public_function():
    leaves = {name.rpartition(".")[2] for name in MODULES if package_of(name) != "experiments"}
    functions = {name for name in uptonoise.__all__ if name.islower() and name not in ORDER}
    assert leaves & functions <= {"phase"}  # the folder of the phase test, inside twosample


def test_dir_shows_public_names_only():
    assert all(hasattr(uptonoise, name) for name in uptonoise.__all__)
    assert set(dir(uptonoise)) == {*uptonoise.__all__, "__version__"}
