# SPDX-License-Identifier: Apache-2.0
"""The rooms of the package and their direction, read from the tree: `python ros2_dyn/test/support/rooms.py`.

A room is a folder of the package. What it may import follows from the imports themselves: they must have one direction.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

PACKAGE = Path(__file__).parents[2] / "ros2_dyn"
DESCRIPTION = PACKAGE.parent / "package.xml"
ROS_PREFIXES = ("python3-",)
LIBRARIES = {"urdfdom_py", "xacro"}
"""Dependencies that come with ROS 2 and work without it."""


def rooms(package: Path = PACKAGE) -> list[str]:
    """Return the folders of a package that hold modules."""
    return sorted(folder.parent.name for folder in package.glob("*/__init__.py"))


def room_of(file: Path, package: Path = PACKAGE) -> str:
    """Return the room of a file; the file's own name for one that is in none."""
    return file.relative_to(package).parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[str]:
    """Yield every module that a file imports, wherever it does, but for its type hints alone."""
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


def arrows(package: Path = PACKAGE) -> Counter[tuple[str, str]]:
    """Return how often each room imports from each other one."""
    known = set(rooms(package))
    found: Counter[tuple[str, str]] = Counter()
    for file in package.rglob("*.py"):
        room = room_of(file, package)
        for module in imports(file):
            parts = module.split(".")
            if parts[0] == package.name and len(parts) > 1 and parts[1] in known and room in known - {parts[1]}:
                found[room, parts[1]] += 1
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


def ros_packages(description: Path = DESCRIPTION) -> set[str]:
    """Return the Python packages of ROS 2 that the package depends on, as its package.xml says."""
    names = {element.text or "" for element in ElementTree.parse(description).getroot().iter("exec_depend")}
    return {name for name in names if not name.startswith(ROS_PREFIXES)} - LIBRARIES


def main() -> int:
    """Print files, lines and arrows of each room; return 1 where there is a circle."""
    found = arrows()
    try:
        ordered = order(found)
    except CycleError as error:
        print(f"rooms import each other in a circle: {' -> '.join(error.args[1])}")
        return 1
    print(f"{'room':12}{'files':>6}{'lines':>7}  {'longest file':38}imports from (times)")
    for room in ordered:
        files = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in (PACKAGE / room).rglob("*.py")}
        longest = max(files, key=lambda file: files[file])
        targets = ", ".join(f"{target} {found[room, target]}" for target in ordered if found[room, target])
        print(f"{room:12}{len(files):6}{sum(files.values()):7}  {f'{longest.name} {files[longest]}':38}{targets}")
    print("no circles")
    return 0


if __name__ == "__main__":
    sys.exit(main())
