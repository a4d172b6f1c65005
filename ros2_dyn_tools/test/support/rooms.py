# SPDX-License-Identifier: Apache-2.0
"""The rooms of the packages and their direction, read from the tree: `python ros2_dyn_tools/test/support/rooms.py`.

A room is a folder of a package, `ros2_dyn.model` for example. What it may import follows from the imports themselves:
they must have one direction.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).parents[3]
CORE, TOOLS = TOP / "ros2_dyn" / "ros2_dyn", TOP / "ros2_dyn_tools" / "ros2_dyn_tools"
"""What runs beside an arm and what a program imports; what one uses at the desk."""
PACKAGES = (CORE, TOOLS)
BESIDE_AN_ARM = ("ros2_dyn.control", "ros2_dyn.runtime", "ros2_dyn.simulation", "ros2_dyn.ros")
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


def lines_of(files: Iterable[Path]) -> int:
    """Return how many lines files have together."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def constants_of(files: Iterable[Path]) -> int:
    """Return how many upper-case names the modules assign at their top."""
    pattern = re.compile(r"^[A-Z][A-Z0-9_]+(?:, [A-Z][A-Z0-9_]+)*(?::[^=]+)? = ", re.MULTILINE)
    found = (match[0] for file in files for match in pattern.finditer(file.read_text(encoding="utf-8")))
    return sum(match.split("=")[0].split(":")[0].count(",") + 1 for match in found)


def parameters() -> int:
    """Return how many parameters the node has, by its generated page."""
    page = (TOP / "docs" / "parameters.md").read_text(encoding="utf-8")
    return len(re.findall(r"^\| `[\w.]+` \|", page, re.MULTILINE))


def print_totals() -> None:
    """Print what the project has grown to."""
    tests = [file for package in PACKAGES for file in (package.parent / "test").rglob("*.py")]
    outside = [file for file in TOP.rglob("*.py") if ".ros2" not in file.parts and file not in set(tests)]
    beside = [file for room in BESIDE_AN_ARM for file in files_of(room_folders()[room])]
    longest = max((file for package in PACKAGES for file in files_of(package)), key=lambda file: lines_of([file]))
    groups = {
        "ros2_dyn, beside an arm": files_of(CORE),
        "of it control, runtime, simulation, ros": beside,
        "ros2_dyn_tools, at the desk": files_of(TOOLS),
        "both packages": [*files_of(CORE), *files_of(TOOLS)],
        "all Python outside tests": outside,
        "tests": tests,
    }
    for name, files in groups.items():
        print(f"{name:42}{len(files):5} files{lines_of(files):7} lines")
    print(f"longest file: {longest.name}, {lines_of([longest])} lines")
    print(f"upper-case constants in control, runtime, simulation, ros: {constants_of(beside)}")
    print(f"parameters of the node: {parameters()}")


def main() -> int:
    """Print files, lines and arrows of each room; return 1 where there is a circle."""
    found = arrows()
    try:
        ordered = order(found)
    except CycleError as error:
        print(f"rooms import each other in a circle: {' -> '.join(error.args[1])}")
        return 1
    folders = room_folders()
    print(f"{'room':30}{'files':>6}{'lines':>7}  {'longest file':38}imports from (times)")
    for room in ordered:
        files = {file: lines_of([file]) for file in files_of(folders[room])}
        longest = max(files, key=lambda file: files[file])
        targets = ", ".join(f"{each.split('.')[1]} {found[room, each]}" for each in ordered if found[room, each])
        print(f"{room:30}{len(files):6}{sum(files.values()):7}  {f'{longest.name} {files[longest]}':38}{targets}")
    print("no circles\n")
    print_totals()
    return 0


if __name__ == "__main__":
    sys.exit(main())
