# SPDX-License-Identifier: Apache-2.0
"""The rooms of the packages and their direction, read from the tree.

A room is a folder of a package, `ros2_dyn.model` for example. What it may import follows from the imports themselves:
they must have one direction.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).parents[3]
CORE, TOOLS = TOP / "ros2_dyn" / "ros2_dyn", TOP / "ros2_dyn_tools" / "ros2_dyn_tools"
"""What runs beside an arm and what a program imports; what one uses at the desk."""
PACKAGES = (CORE, TOOLS)
ROS_PREFIXES = ("python3-",)
LIBRARIES = {"urdfdom_py", "xacro", "ros2_dyn", "ros2_dyn_tools"}
"""Dependencies that come with ROS 2 and work without it."""


def room_folders() -> dict[str, Path]:
    """Return the folders of the packages that hold modules, by the name of the room."""
    return {
        f"{package.name}.{init.parent.name}": init.parent
        for package in PACKAGES
        for init in sorted(package.glob("*/__init__.py"))
    }


def rooms() -> list[str]:
    """Return the names of all rooms."""
    return list(room_folders())


def files_of(package: Path) -> list[Path]:
    """Return the modules of a package."""
    return sorted(package.rglob("*.py"))


def package_of(file: Path) -> Path:
    """Return the package that a file belongs to."""
    return next(package for package in PACKAGES if package in file.parents)


def room_of(file: Path) -> str:
    """Return the room of a file; the module's own name for one that is in none."""
    package = package_of(file)
    return f"{package.name}.{file.relative_to(package).parts[0].removesuffix('.py')}"


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Return every module that a file imports, wherever it does, but for its type hints alone."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing_only = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def arrows() -> Counter[tuple[str, str]]:
    """Return how often each room imports from each other one."""
    known = set(rooms())
    found: Counter[tuple[str, str]] = Counter()
    for package in PACKAGES:
        for file in files_of(package):
            room = room_of(file)
            for module in imports(file):
                target = ".".join(module.split(".")[:2])
                if target in known and room in known - {target}:
                    found[room, target] += 1
    return found


def order(found: Counter[tuple[str, str]]) -> list[str]:
    """Return the rooms, those that are imported first.

    Raises:
        CycleError: rooms import each other in a circle.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for room in rooms():
        sorter.add(room, *sorted(target for source, target in found if source == room))
    return list(sorter.static_order())


def ros_packages() -> set[str]:
    """Return the Python packages of ROS 2 that the packages depend on, as each package.xml says."""
    names = {
        element.text or ""
        for package in PACKAGES
        for element in ElementTree.parse(package.parent / "package.xml").getroot().iter("exec_depend")
    }
    return {name for name in names if not name.startswith(ROS_PREFIXES)} - LIBRARIES
